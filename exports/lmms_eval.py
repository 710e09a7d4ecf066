"""A finished output as tasks of lmms-eval: a folder for its `--include_path`.

https://github.com/EvolvingLMMs-Lab/lmms-eval, read and run at version 0.7.3.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..core.output import FinishedOutput
from ..evaluation import lmms_eval_utils
from ..evaluation.tasks import KINDS, Task, check_videos, prompts, score_commands
from .task_folder import about_export, exported_by, run_time_files, write_folder

CHOSEN = ("accuracy", "unreadable")
WRITTEN = ("exact", "empty")  # what the harness itself says of texts
HIGHER_IS_BETTER = {"accuracy": True, "unreadable": False, "exact": True, "empty": False}


@dataclass(frozen=True)
class Bound:
    """A function of the written `utils.py`: one of `lmms_eval_utils.py`, about a table.

    Attributes:
        name: What it is called.
        function: The one of `lmms_eval_utils.py`.
        arguments: Its first arguments, such as the table.
    """

    name: str
    function: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        """Return its name, as a task's YAML has it."""
        return self.name

    @property
    def definition(self) -> str:
        """The line of `utils.py` that defines it."""
        return f"{self.name} = partial({', '.join([self.function, *map(repr, self.arguments)])})"


class Function(str):
    """A name that YAML has after `!function`."""


class TaskDumper(yaml.SafeDumper):
    """Writes `Function` as lmms-eval reads it."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def functions_of(task: Task) -> dict[str, str | Bound]:
    """Name the functions of `utils.py` for a task, by what lmms-eval calls them."""
    visual: str | Bound = "caption_visual" if task.kind == "caption" else "item_visual"
    results: str | Bound = f"{task.kind}_results"
    left_out: dict[str, str | Bound] = {}
    if task.shown:
        table, key = task.shown.table, task.shown.key
        what = key.removesuffix("_id")
        visual = Bound(f"{what}_visual", "row_visual", (table, key))
        if task.left_out:
            left_out["process_docs"] = Bound(f"with_{what}", "with_video", (table, key))
    if not task.docs:
        results = Bound(
            f"{task.table}_{task.kind.removeprefix('open_')}_results", f"{task.kind}_results", (task.table,)
        )
    return {
        "doc_to_visual": visual,
        "doc_to_text": f"{KINDS[task.kind].text}_text",
        "doc_to_target": f"{KINDS[task.kind].target or task.kind}_target",
        "process_results": results,
        **left_out,
    }


def write_tasks(
    output: FinishedOutput,
    tasks: list[Task],
    folder: Path,
    group: str,
    earlier: frozenset[str] = frozenset(),
    videos: Mapping[str, Path] | None = None,
) -> None:
    """Write a folder of tasks.

    Args:
        output: The output.
        tasks: Its tasks.
        folder: The folder.
        group: Name of the group.
        earlier: Files of an earlier export in the folder; see `folder.earlier_files`.
        videos: The videos by their ids, of an output that holds none.

    Raises:
        InputError: The output holds no videos, or a file of somebody else is in the way.
        OutputError: The folder cannot be written.
    """
    if videos is None:
        check_videos(output, tasks)
    metadata = exported_by(output)
    names = [f"{group}_{task.name}" for task in tasks]
    files = {
        "utils.py": _utils(tasks).encode(),
        **run_time_files(),
        f"{group}.yaml": _dump({"group": group, "task": names, "metadata": metadata}),
    }
    for name, task in zip(names, tasks, strict=True):
        if task.docs:
            lines = [json.dumps(doc, ensure_ascii=False) + "\n" for doc in task.docs]
            files[f"{name}.jsonl"] = "".join(lines).encode()
        files[f"{name}.yaml"] = _dump(_task_config(output, task, name, metadata))
    write_folder(folder, about_export(output, tasks, videos), files, earlier)


def _utils(tasks: list[Task]) -> str:
    """Write `utils.py`: the functions of all tasks, and those that are about a table of these."""
    bound = {f.definition for task in tasks for f in functions_of(task).values() if isinstance(f, Bound)}
    written = Path(lmms_eval_utils.__file__).read_text(encoding="utf-8")
    if not bound:
        return written
    return "\n".join([written, "", "# About one table", "", "from functools import partial", "", *sorted(bound), ""])


def _task_config(output: FinishedOutput, task: Task, name: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return a task's YAML."""
    said = prompts()
    data: dict[str, Any] = {"dataset_path": str(output.path.resolve()), "dataset_name": task.table}
    if task.docs:  # a path that is relative is looked for beside the YAML
        data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {task.split: f"{name}.jsonl"}}}
    return {
        "task": name,
        **data,
        "test_split": task.split,
        "output_type": "generate_until",
        **{key: Function(f"utils.{function}") for key, function in functions_of(task).items()},
        "generation_kwargs": {
            "max_new_tokens": task.max_new_tokens,
            **said["generation_kwargs"],
        },
        "lmms_eval_specific_kwargs": {"default": said["prompts"][task.kind]},
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": HIGHER_IS_BETTER[metric]}
            for metric in (WRITTEN if task.writes else CHOSEN)
        ],
        "metadata": {**metadata, **task.metadata},
    }


def _dump(content: dict[str, Any]) -> bytes:
    return yaml.dump(content, Dumper=TaskDumper, sort_keys=False, allow_unicode=True, width=1000).encode()


def commands(output: FinishedOutput, tasks: list[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    return [
        f"lmms-eval --model MODEL --include_path {shlex.quote(str(folder))} --tasks {group} --batch_size 1 "
        "--log_samples --output_path logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
