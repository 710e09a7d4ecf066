"""Write a folder of tasks, with the parts common to all harnesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.export_folder import replace_folder
from ..core.output import FinishedOutput
from ..core.version import __version__
from ..evaluation import lmms_eval_utils
from ..evaluation.metrics import answers
from ..evaluation.tasks import KINDS, Task, check_videos, prompts, video_of

HERE = Path(__file__).parent
CHOICE_METRICS = ("accuracy", "unreadable")  # displayed by harnesses for a chosen option
TEXT_METRICS = ("exact", "empty")  # displayed for a generated text


def write_tasks(
    task_files: Callable[[FinishedOutput, Sequence[Task], str], tuple[dict[str, bytes], dict[str, Any]]],
    output: FinishedOutput,
    tasks: Sequence[Task],
    folder: Path,
    group: str,
    earlier: frozenset[str] = frozenset(),
    videos: Mapping[str, Path] | None = None,
) -> None:
    """Write a folder of tasks.

    Args:
        task_files: Function that returns the files for a harness, and its part of `output.json`, from the output, the
            tasks and `group`.
        output: The output.
        tasks: The tasks.
        folder: The folder.
        group: Prefix of task names.
        earlier: Files of an earlier export in the folder; see `export_folder.replaceable_files`.
        videos: The videos by id, for an output without videos.

    Raises:
        InputError, OutputError: As for `export_folder.replace_folder`; or the output contains no videos.
    """
    if videos is None:
        check_videos(output, tasks)
    files, more = task_files(output, tasks, group)
    left_out = {task.table: list(task.left_out) for task in tasks if task.left_out}
    about = {"path": str(output.path.resolve()), **exported_by(output), "left_out": left_out}
    if videos is not None:
        about["videos"] = {name: str(path.resolve()) for name, path in videos.items()}
    run_time = {path.name: path.read_bytes() for path in (HERE / "harness.py", Path(answers.__file__))}
    replace_folder(folder, about | more, files | run_time, earlier)


def samples(output: FinishedOutput, task: Task) -> Iterator[dict[str, Any]]:
    """Yield the samples of a task in the form that inspect-ai reads from JSON lines.

    Yields:
        `id`, `input` (the text of the question), `target` (the correct letter, "yes", "no" or text; "" if unknown), and
            `metadata`, which `inspect_ai_tasks.py` uses to show the video and judge an answer.

    Raises:
        InputError: Rows of the output are missing.
    """
    kind, prompt = KINDS[task.kind], prompts()["prompts"][task.kind]
    text = getattr(lmms_eval_utils, f"{kind.text}_text")
    right = getattr(lmms_eval_utils, f"{kind.target or task.kind}_target")
    left_out = frozenset(task.left_out)
    for doc in task.docs or output.whole(task.table, None, task.split):
        name, target = str(doc[kind.id_column]), right(doc)
        if name in left_out and not task.docs:
            continue
        setting = str(doc.get("setting", ""))
        options = list(doc[kind.options]) if kind.options else list(kind.fixed)
        names = [*map(lmms_eval_utils.letter, range(len(options)))] if kind.options else options
        yield {
            "id": f"{setting}/{name}" if setting else name,
            "input": text(doc, prompt),
            "target": target,
            "metadata": {
                "video": video_of(task, doc),
                "options": options,
                "right": names.index(target if kind.options else answers.plain(target)) if options and target else -1,
                "about": {"id": name, **({"setting": setting} if setting else {"config": task.table})},
                "column": kind.answers,
                "option_ids": list(doc.get("option_ids", ())),
                "metrics": TEXT_METRICS if task.writes else CHOICE_METRICS,
            },
        }


def exported_by(output: FinishedOutput) -> dict[str, Any]:
    """Return the metadata that identify an export, with a version that changes when the questions change."""
    info = output.info
    return {
        "version": f"{info['dataset_version']}+{info['fingerprint'][:16]}",
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "canary": info.get("canary"),
        "exported_by": f"stressreel {__version__}",
    }
