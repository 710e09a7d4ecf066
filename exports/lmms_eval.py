"""Export an output as tasks of lmms-eval: a folder for its `--include_path`.

https://github.com/EvolvingLMMs-Lab/lmms-eval; checked against version 0.7.3.
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
from .task_folder import CHOICE_METRICS, TEXT_METRICS, exported_by

HIGHER_IS_BETTER = {"accuracy": True, "unreadable": False, "exact": True, "empty": False}


class Function(str):
    """A name that follows `!function` in YAML."""


class TaskDumper(yaml.SafeDumper):
    """A YAML dumper that writes `Function` in lmms-eval's syntax."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def _functions_of(task: Task, defined: set[str]) -> dict[str, str]:
    """Return the names of a task's functions in `utils.py`, by the key of its YAML.

    The lines of `utils.py` that define functions for one table are added to `defined`.
    """

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
    return names


def task_files(output: FinishedOutput, tasks: Sequence[Task], group: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of tasks; see `task_folder.write_tasks`."""
    metadata, wording = exported_by(output), prompts()
    names = [f"{group}_{task.name}" for task in tasks]
    files = {f"{group}.yaml": _dump({"group": group, "task": names, "metadata": metadata})}
    defined: set[str] = set()
    for name, task in zip(names, tasks, strict=True):
        data: dict[str, Any] = {"dataset_path": str(output.path.resolve()), "dataset_name": task.table}
        if task.docs:
            lines = [json.dumps(doc, ensure_ascii=False) + "\n" for doc in task.docs]
            files[f"{name}.jsonl"] = "".join(lines).encode()
            # lmms-eval resolves a relative path from the folder of the YAML
            data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {task.split: f"{name}.jsonl"}}}
        functions = _functions_of(task, defined).items()
        files[f"{name}.yaml"] = _dump(
            {
                "task": name,
                **data,
                "test_split": task.split,
                "output_type": "generate_until",
                **{key: Function(f"utils.{function}") for key, function in functions},
                "generation_kwargs": {"max_new_tokens": task.max_new_tokens, **wording["generation_kwargs"]},
                "lmms_eval_specific_kwargs": {"default": wording["prompts"][task.kind]},
                "metric_list": [
                    {"metric": metric, "aggregation": "mean", "higher_is_better": HIGHER_IS_BETTER[metric]}
                    for metric in (TEXT_METRICS if task.writes else CHOICE_METRICS)
                ],
                "metadata": {**metadata, **task.metadata},
            }
        )
    utils = Path(lmms_eval_utils.__file__).read_text(encoding="utf-8")
    if defined:
        lines = [utils, "", "# About one table", "", "from functools import partial", "", *sorted(defined), ""]
        utils = "\n".join(lines)
    return {"utils.py": utils.encode(), **files}, {}


def _dump(content: dict[str, Any]) -> bytes:
    return yaml.dump(content, Dumper=TaskDumper, sort_keys=False, allow_unicode=True, width=1000).encode()


def commands(output: FinishedOutput, tasks: Sequence[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    return [
        f"lmms-eval --model MODEL --include_path {shlex.quote(str(folder))} --tasks {group} --batch_size 1 "
        "--log_samples --output_path logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
