"""Export an output as tasks of inspect-ai: a folder for `inspect eval`.

https://inspect.aisi.org.uk; checked against version 0.3.285.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.output import FinishedOutput
from ..evaluation import lmms_eval_utils
from ..evaluation.metrics.answers import plain
from ..evaluation.tasks import KINDS, Task, prompts, score_commands, video_of
from .task_folder import CHOICE_METRICS, TEXT_METRICS, exported_by

HERE = Path(__file__).parent
HEAD = """

# The tasks

from inspect_ai import task
"""
TASK = """

@task
def {name}(frames: int = 16, size: int = 448, send: str = "frames") -> Task:
    return exported("{name}", frames, size, send)
"""


def samples(output: FinishedOutput, task: Task) -> Iterator[dict[str, Any]]:
    """Return the samples of a task as inspect-ai reads them from JSON lines.

    Yields:
        `id`, `input` (the text of the question), `target` (the correct letter, "yes", "no" or text; "" if unknown), and
            `metadata`, from which `inspect_ai_tasks.py` shows the video and judges an answer.

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
                "right": names.index(target if kind.options else plain(target)) if options and target else -1,
                "about": {"id": name, **({"setting": setting} if setting else {"config": task.table})},
                "column": kind.answers,
                "option_ids": list(doc.get("option_ids", ())),
                "metrics": TEXT_METRICS if task.writes else CHOICE_METRICS,
            },
        }


def task_files(output: FinishedOutput, tasks: Sequence[Task], group: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Make the files of tasks, and their part of `output.json`; see `task_folder.write_tasks`.

    Raises:
        InputError: A name is not a Python identifier, or rows of the output are missing.
    """
    names = [f"{group}_{task.name}" for task in tasks]
    if odd := [name for name in names if not name.isidentifier()]:
        raise InputError(
            f"{odd[0]!r} cannot be the name of an inspect-ai task, which is a Python function: only letters, digits "
            "and _, not starting with a digit. Give another --name."
        )
    written = (HERE / "inspect_ai_tasks.py").read_text(encoding="utf-8")
    files = {
        "tasks.py": (written + HEAD + "".join(TASK.format(name=name) for name in names)).encode(),
        "frames.py": (HERE / "frames.py").read_bytes(),
    }
    about: dict[str, Any] = {}
    for name, task in zip(names, tasks, strict=True):
        lines = [json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples(output, task)]
        files[f"{name}.jsonl"] = "".join(lines).encode()
        about[name] = {
            "config": {
                "temperature": prompts()["generation_kwargs"]["temperature"],
                "max_tokens": task.max_new_tokens,
            },
            "metadata": {**exported_by(output), **task.metadata},
        }
    return files, {"frames": prompts()["frames"], "tasks": about}


def commands(output: FinishedOutput, tasks: Sequence[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    place = os.path.relpath(folder / "tasks.py")  # inspect-ai 0.3.285 takes an absolute path only with @NAME
    return [
        f"inspect eval {shlex.quote(place)} --model MODEL --no-log-images --log-dir logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
