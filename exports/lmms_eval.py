"""A finished output as tasks of lmms-eval: a folder for its `--include_path`.

https://github.com/EvolvingLMMs-Lab/lmms-eval, read and run at version 0.7.3.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ..core.output import FinishedOutput
from ..evaluation import lmms_eval_utils
from ..evaluation.tasks import KINDS, Task, prompts, score_commands
from .task_folder import CHOSEN, WRITTEN, exported_by

HIGHER_IS_BETTER = {"accuracy": True, "unreadable": False, "exact": True, "empty": False}


class Function(str):
    """A name that YAML has after `!function`."""


class TaskDumper(yaml.SafeDumper):
    """Writes `Function` as lmms-eval reads it."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def functions_of(task: Task) -> tuple[dict[str, str], set[str]]:
    """Name the functions of `utils.py` for a task, by what lmms-eval calls them.

    Returns:
        The names, and the lines of `utils.py` that define those that are about one table.
    """
    defined: set[str] = set()

    def bound(name: str, function: str, *arguments: str) -> str:
        defined.add(f"{name} = partial({', '.join([function, *map(repr, arguments)])})")
        return name

    kind = KINDS[task.kind]
    names = {
        "doc_to_visual": "caption_visual" if task.kind == "caption" else "item_visual",
        "doc_to_text": f"{kind.text}_text",
        "doc_to_target": f"{kind.target or task.kind}_target",
        "process_results": f"{task.kind}_results",
    }
    if not task.docs:
        results = f"{task.table}_{task.kind.removeprefix('open_')}_results"
        names["process_results"] = bound(results, f"{task.kind}_results", task.table)
    if task.shown:
        table, key = task.shown.table, task.shown.key
        what = key.removesuffix("_id")
        names["doc_to_visual"] = bound(f"{what}_visual", "row_visual", table, key)
        if task.left_out:
            names["process_docs"] = bound(f"with_{what}", "with_video", table, key)
    return names, defined


def task_files(output: FinishedOutput, tasks: Sequence[Task], group: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Make the files of tasks; see `task_folder.write_tasks`."""
    metadata = exported_by(output)
    names = [f"{group}_{task.name}" for task in tasks]
    files = {
        "utils.py": _utils(tasks).encode(),
        f"{group}.yaml": _dump({"group": group, "task": names, "metadata": metadata}),
    }
    for name, task in zip(names, tasks, strict=True):
        if task.docs:
            lines = [json.dumps(doc, ensure_ascii=False) + "\n" for doc in task.docs]
            files[f"{name}.jsonl"] = "".join(lines).encode()
        files[f"{name}.yaml"] = _dump(_task_config(output, task, name, metadata))
    return files, {}


def _utils(tasks: Sequence[Task]) -> str:
    """Write `utils.py`: the functions of all tasks, and those that are about a table of these."""
    defined = {line for task in tasks for line in functions_of(task)[1]}
    written = Path(lmms_eval_utils.__file__).read_text(encoding="utf-8")
    if not defined:
        return written
    return "\n".join([written, "", "# About one table", "", "from functools import partial", "", *sorted(defined), ""])


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
        **{key: Function(f"utils.{function}") for key, function in functions_of(task)[0].items()},
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


def commands(output: FinishedOutput, tasks: Sequence[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    return [
        f"lmms-eval --model MODEL --include_path {shlex.quote(str(folder))} --tasks {group} --batch_size 1 "
        "--log_samples --output_path logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
