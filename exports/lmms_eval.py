"""Export an output as a folder of tasks for lmms-eval, which loads it with `--include_path`.

See https://github.com/EvolvingLMMs-Lab/lmms-eval; checked against version 0.7.3.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ..core.output import FinishedOutput
from ..evaluation.tasks import Task, prompts, score_commands
from .task_folder import CHOICE_METRICS, TEXT_METRICS, exported_by, json_lines, samples

HERE = Path(__file__).parent
FUNCTIONS = {
    "doc_to_visual": "visual",
    "doc_to_text": "text",
    "doc_to_target": "target",
    "process_results": "results",
}
"""Keys of a task's YAML, with the functions of `lmms_eval_tasks.py` that they name."""
HIGHER_IS_BETTER = {"accuracy": True, "unreadable": False, "exact": True, "empty": False}


class Function(str):
    """Name of a function, written after `!function` in YAML."""


class TaskDumper(yaml.SafeDumper):
    """YAML dumper that can write lmms-eval's `!function` tag."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def task_files(
    output: FinishedOutput, tasks: Sequence[Task], group: str, *, by_table: bool
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the task folder, and the additional entries of `output.json`."""
    metadata, wording = exported_by(output), prompts()
    names = [f"{group}_{task.name}" for task in tasks]
    files = {
        "utils.py": (HERE / "lmms_eval_tasks.py").read_bytes(),
        f"{group}.yaml": _dump({"group": group, "task": names, "metadata": metadata}),
    }
    for name, task in zip(names, tasks, strict=True):
        files[f"{name}.jsonl"] = json_lines(samples(output, task, {}))  # lmms-eval adds the prompt
        files[f"{name}.yaml"] = _dump(
            {
                "task": name,
                "dataset_path": "json",
                # lmms-eval resolves a relative path from the folder of the YAML
                "dataset_kwargs": {"data_files": {task.split: f"{name}.jsonl"}},
                "test_split": task.split,
                "output_type": "generate_until",
                **{key: Function(f"utils.{function}") for key, function in FUNCTIONS.items()},
                "generation_kwargs": {"max_new_tokens": task.max_new_tokens, **wording["generation_kwargs"]},
                "lmms_eval_specific_kwargs": {"default": wording["prompts"][task.kind]},
                "metric_list": [
                    {"metric": metric, "aggregation": "mean", "higher_is_better": HIGHER_IS_BETTER[metric]}
                    for metric in (TEXT_METRICS if task.writes else CHOICE_METRICS)
                ],
                "metadata": {**metadata, **task.metadata},
            }
        )
    return files, {}


def _dump(content: dict[str, Any]) -> bytes:
    return yaml.dump(content, Dumper=TaskDumper, sort_keys=False, allow_unicode=True, width=1000).encode()


def commands(output: FinishedOutput, tasks: Sequence[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    return [
        f"lmms-eval --model MODEL --include_path {shlex.quote(str(folder))} --tasks {group} --batch_size 1 "
        "--log_samples --output_path logs",
        *score_commands(output, tasks, by_table=by_table),
    ]
