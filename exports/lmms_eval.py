"""A finished output as tasks of lmms-eval: a folder for its `--include_path`.

https://github.com/EvolvingLMMs-Lab/lmms-eval, read and run at version 0.7.3.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError, UsageError
from ..metrics.inputs import ALL, choose_split, read_columns
from ..records.output import FinishedOutput
from ..records.shards import read_footer
from ..version import __version__
from .folder import write_folder

HERE = Path(__file__).parent
CHOSEN = ("accuracy", "unreadable")
WRITTEN = ("exact", "empty")  # what the harness itself says of texts
HIGHER_IS_BETTER = {"accuracy": True, "unreadable": False, "exact": True, "empty": False}
SHOWN = 5
Doc = dict[str, Any]


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


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes:
        name: Its name, without that of the group.
        table: The table of the output, or the settings, that it asks about.
        split: The split it asks.
        kind: The prompt it has: "yes_no", "answer", "explanation", "caption", "open_answer" or "open_explanation".
        functions: The functions of `utils.py`, by what lmms-eval calls them.
        docs: The documents, if they are not the rows of a table.
        left_out: Ids of what the split has and the task does not ask.
        why: Why they are left out.
        notes: What its metadata say besides.
    """

    name: str
    table: str
    split: str
    kind: str
    functions: dict[str, str | Bound]
    docs: list[Doc] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    why: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether a text is asked for, not a choice."""
        return self.kind.startswith("open_")


class Function(str):
    """A name that YAML has after `!function`."""


class TaskDumper(yaml.SafeDumper):
    """Writes `Function` as lmms-eval reads it."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def check_videos(output: FinishedOutput, table: str) -> None:
    """Refuse an output without videos: a harness has to show some.

    Args:
        output: The output.
        table: Its table with the videos.

    Raises:
        InputError: It has none, or rows of the table are missing.
    """
    if table in output.info["counts"]:
        read_columns(output, table, ("sha256",), ALL)
        if "video" in read_footer(output.shards(table)[0]).schema.to_arrow_schema().names:
            return
    raise InputError(
        f"{output.path} holds no videos (built with --no-render, or text alone), and lmms-eval has to show some. "
        "Build it with them."
    )


def row_keys(output: FinishedOutput, table: str, names: tuple[str, ...], split: str = ALL) -> set[tuple[Any, ...]]:
    """Read what names the rows of a table, all splits of which have to be there: lmms-eval loads a table as a whole."""
    columns, splits = read_columns(output, table, names, ALL)
    rows = zip(splits, *(columns[name] for name in names), strict=True)
    return {tuple(key) for found, *key in rows if split in (ALL, found)}


def one_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Choose a split: a task of lmms-eval has exactly one."""
    chosen = choose_split(output, config, split)
    splits = output.splits(config)
    if chosen == ALL and len(splits) == 1:
        return splits[0]
    if chosen == ALL:
        raise UsageError(f"a task of lmms-eval asks one split. Say --split {' or '.join(splits)}.")
    return chosen


def functions_for(visual: str | Bound, asked: str, table: str = "") -> dict[str, str | Bound]:
    """Name the functions of `utils.py` for a task.

    Args:
        visual: What shows its videos: "caption_visual" or "item_visual", or a bound "row_visual".
        asked: What is asked: "yes_no", "answer", "explanation", "caption", "item" or one of the open ones.
        table: The table that is asked about, where the documents do not say it.
    """
    results: str | Bound = f"{asked}_results"
    if table:
        results = Bound(f"{table}_{asked.removeprefix('open_')}_results", f"{asked}_results", (table,))
    return {
        "doc_to_visual": visual,
        "doc_to_text": f"{'question' if asked in ('yes_no', 'open_answer', 'open_explanation') else asked}_text",
        "doc_to_target": f"{'answer' if asked in ('caption', 'item') else asked}_target",
        "process_results": results,
    }


def lost_rows(output: FinishedOutput, table: str, keys: set[tuple[Any, ...]]) -> InputError:
    """Make the error of rows that a table names and another one has not."""
    names = sorted(" ".join(map(str, key)) for key in keys)
    return InputError(
        f"{output.path}, table {table}: no row for {', '.join(names[:SHOWN])}{', …' * (len(names) > SHOWN)}, which "
        "another table names. `stressreel verify` says more."
    )


def write_tasks(
    output: FinishedOutput, tasks: list[Task], folder: Path, group: str, earlier: frozenset[str] = frozenset()
) -> None:
    """Write a folder of tasks.

    Args:
        output: The output.
        tasks: Its tasks.
        folder: The folder.
        group: Name of the group.
        earlier: Files of an earlier export in the folder; see `folder.earlier_files`.

    Raises:
        InputError: A file of somebody else is in the way.
        OutputError: The folder cannot be written.
    """
    said = yaml.safe_load((HERE / "lmms_eval.yaml").read_text(encoding="utf-8"))
    info = output.info
    made_by = {
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "exported_by": f"stressreel {__version__}",
    }
    metadata = {"version": f"{info['dataset_version']}+{info['fingerprint'][:16]}", **made_by}
    names = [f"{group}_{task.name}" for task in tasks]
    files = {
        "utils.py": _utils(tasks).encode(),
        "answers.py": (HERE.parent / "metrics" / "answers.py").read_bytes(),
        f"{group}.yaml": _dump({"group": group, "task": names, "metadata": metadata}),
    }
    for name, task in zip(names, tasks, strict=True):
        if task.docs:
            lines = [json.dumps(doc, ensure_ascii=False) + "\n" for doc in task.docs]
            files[f"{name}.jsonl"] = "".join(lines).encode()
        files[f"{name}.yaml"] = _dump(_task_config(output, task, name, said, metadata))
    left_out = {task.table: list(task.left_out) for task in tasks if task.left_out}
    about = {"path": str(output.path.resolve()), **made_by, "left_out": left_out}
    write_folder(folder, about, files, earlier)


def _utils(tasks: list[Task]) -> str:
    """Write `utils.py`: the functions of all tasks, and those that are about a table of these."""
    bound = {f.definition for task in tasks for f in task.functions.values() if isinstance(f, Bound)}
    written = (HERE / "lmms_eval_utils.py").read_text(encoding="utf-8")
    if not bound:
        return written
    return "\n".join([written, "", "# About one table", "", "from functools import partial", "", *sorted(bound), ""])


def _task_config(
    output: FinishedOutput, task: Task, name: str, said: dict[str, Any], metadata: dict[str, Any]
) -> dict[str, Any]:
    """Return a task's YAML."""
    data: dict[str, Any] = {"dataset_path": str(output.path.resolve()), "dataset_name": task.table}
    if task.docs:  # a path that is relative is looked for beside the YAML
        data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {task.split: f"{name}.jsonl"}}}
    notes = {"left_out": {"count": len(task.left_out), "why": task.why}} if task.left_out else {}
    return {
        "task": name,
        **data,
        "test_split": task.split,
        "output_type": "generate_until",
        **{key: Function(f"utils.{function}") for key, function in task.functions.items()},
        "generation_kwargs": {
            "max_new_tokens": said["max_new_tokens"]["text" if task.writes else "choice"],
            **said["generation_kwargs"],
        },
        "lmms_eval_specific_kwargs": {"default": said["prompts"][task.kind]},
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": HIGHER_IS_BETTER[metric]}
            for metric in (WRITTEN if task.writes else CHOSEN)
        ],
        "metadata": {**metadata, **notes, **task.notes},
    }


def _dump(content: dict[str, Any]) -> bytes:
    return yaml.dump(content, Dumper=TaskDumper, sort_keys=False, allow_unicode=True, width=1000).encode()


def remarks(tasks: list[Task]) -> list[str]:
    """Describe what the tasks do not ask, and what differs between settings."""
    found = []
    left_out = {(task.table if task.kind != "caption" else "", task.split): task for task in tasks if task.left_out}
    for (table, split), task in left_out.items():
        names = ", ".join(task.left_out[:SHOWN]) + ", …" * (len(task.left_out) > SHOWN)
        where = f"{table or 'every setting'}, split {split}"
        found.append(f"Left out of {where}: {len(task.left_out):,} ({names}); {task.why}.")
    other = {task.name: task.notes["other_captions_than_clean"] for task in tasks if task.notes}
    if other:
        named = ", ".join(f"{name} {count:,}" for name, count in other.items())
        found.append(f"Asked with other captions than in clean, because a perturbation makes those alike: {named}.")
    return found


def commands(output: FinishedOutput, tasks: list[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their logs."""
    out = shlex.quote(str(output.path))
    found = [
        f"lmms-eval --model MODEL --include_path {shlex.quote(str(folder))} --tasks {group} --batch_size 1 "
        "--log_samples --output_path logs"
    ]
    for table, task in {task.table if by_table else "": task for task in tasks}.items():
        kind, chosen = ("score open-ended", "") if task.writes else ("score", f" --config {table}" * by_table)
        partial = " --partial" * bool(task.left_out)
        to = f" --out logs.scores/{table}" * by_table
        found.append(f"stressreel {kind} {out} --predictions logs{chosen} --split {task.split}{partial}{to}")
    return found
