"""Write folders of tasks for evaluation harnesses, with the files that all harnesses share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.export_folder import open_folder
from ..core.files import resolved, write_atomic
from ..core.output import FinishedOutput
from ..core.version import __version__
from ..evaluation.metrics import answers
from ..evaluation.tasks import KINDS, Task, letter, video_of

HERE = Path(__file__).parent
CHOICE_METRICS = ("accuracy", "unreadable")  # shown by harnesses if the model chooses an option
TEXT_METRICS = ("exact", "empty")  # shown if the model generates a text


def write_tasks(
    output: FinishedOutput,
    tasks: Sequence[Task],
    folder: Path,
    files: dict[str, bytes],
    entries: Mapping[str, Any],
    videos: Mapping[str, Path] | None = None,
    *,
    force: bool = False,
) -> None:
    """Write the task folder of an evaluation harness.

    `files` are those of the harness by name, and `entries` additional ones of `output.json`. `videos` maps ids to paths
    if the output contains no videos.

    Raises:
        InputError: The folder contains other files.
        OutputError: The folder cannot be read or written.
    """
    left_out = {task.table: list(task.left_out) for task in tasks if task.left_out}
    description = {"format": "tasks", "path": str(resolved(output.path)), **exported_by(output), "left_out": left_out}
    if videos is not None:
        description["videos"] = {name: str(resolved(path)) for name, path in videos.items()}
    files = files | {path.name: path.read_bytes() for path in (HERE / "harness.py", Path(answers.__file__))}
    export = open_folder(folder, description | {**entries}, force=force)
    export.announce({name: {} for name in files})
    for name, content in files.items():
        write_atomic(export.place(name), content)
    export.finish()


def samples(output: FinishedOutput, task: Task, prompt: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the samples of a task, which are the same for all harnesses. Raise InputError if rows are missing.

    A sample has `id`, `input` (the question), `target` (the correct letter, "yes", "no" or text, or "" if unknown) and
    `metadata`, with which `harness.py` locates the video and judges a response. `prompt` contains the texts to add
    before and after the question. It is empty if the harness adds them itself.
    """
    kind, left_out = KINDS[task.kind], frozenset(task.left_out)
    for doc in task.docs or output.whole(task.table, None, task.split):
        name, target = str(doc[kind.id_column]), kind.target(doc)
        if name in left_out and not task.docs:
            continue
        setting = str(doc.get("setting", ""))
        options = list(kind.options_of(doc))
        names = [*map(letter, range(len(options)))] if kind.options else options
        yield {
            "id": f"{setting}/{name}" if setting else name,
            "input": kind.text(doc, prompt),
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


def json_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    """Serialize rows as JSON lines, encoded as UTF-8."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def exported_by(output: FinishedOutput) -> dict[str, Any]:
    """Return metadata that identify the exported output. `version` changes whenever the questions change."""
    info = output.info
    return {
        "version": f"{info['dataset_version']}+{info['fingerprint'][:16]}",
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "canary": info.get("canary"),
        "exported_by": f"stressreel {__version__}",
    }
