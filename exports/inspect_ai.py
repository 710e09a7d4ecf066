"""Export an output as a folder of tasks for `inspect eval`, the command of inspect-ai.

See https://inspect.aisi.org.uk; checked against version 0.3.285.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.output import FinishedOutput
from ..evaluation.tasks import Task, prompts, score_commands
from .task_folder import exported_by, json_lines, samples

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


def task_files(
    output: FinishedOutput, tasks: Sequence[Task], group: str, *, by_table: bool
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the task folder, and the additional entries of `output.json`.

    Raises:
        InputError: A task name is not a Python identifier, or rows are missing.
    """
    names = [f"{group}_{task.name}" for task in tasks]
    if invalid := [name for name in names if not name.isidentifier()]:
        raise InputError(
            f"{invalid[0]!r} cannot be the name of an inspect-ai task, which must be a Python identifier: letters, "
            "digits and _, not starting with a digit. Choose another --name."
        )
    code = (HERE / "inspect_ai_tasks.py").read_text(encoding="utf-8")
    files = {
        "tasks.py": (code + HEAD + "".join(TASK.format(name=name) for name in names)).encode(),
        "frames.py": (HERE / "frames.py").read_bytes(),
    }
    about: dict[str, Any] = {}
    for name, task in zip(names, tasks, strict=True):
        files[f"{name}.jsonl"] = json_lines(samples(output, task, prompts()["prompts"][task.kind]))
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
    path = os.path.relpath(folder / "tasks.py")  # inspect-ai 0.3.285 accepts an absolute path only with @NAME
    return [
        f"inspect eval {shlex.quote(path)} --model MODEL --no-log-images --log-dir logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
