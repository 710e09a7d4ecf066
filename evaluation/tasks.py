"""What an output asks a model, in tasks: a table or its parts, a prompt, and where the videos are.

Harnesses and `stressreel ask` read the same tasks, so they ask the same with the same prompts (`prompts.yaml`).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError, UsageError
from ..core.output import FinishedOutput
from ..core.shards import measure, read_footer
from .metrics.inputs import ALL, choose_split, read_columns

SHOWN = 5
Doc = dict[str, Any]


@dataclass(frozen=True)
class QuestionKind:
    """What a kind of question has in its documents.

    Attributes:
        id_column: The column with its id.
        text: The function of `lmms_eval_utils.py` that writes it, without "_text".
        options: The column with its options; "" if it has none.
        answers: The column of predictions with its answers.
        fixed: Options that all questions of the kind have.
        target: The function that returns what is right, without "_target"; "" if it is called as the kind is.
    """

    id_column: str
    text: str = "question"
    options: str = ""
    answers: str = "answer"
    fixed: tuple[str, ...] = ()
    target: str = ""


YES_NO = ("no", "yes")
KINDS = {
    "yes_no": QuestionKind("question_id", fixed=YES_NO),
    "answer": QuestionKind("qid", "answer", "options"),
    "explanation": QuestionKind("qid", "explanation", "explanation_options", "explanation"),
    "item": QuestionKind("id", "item", "options", target="answer"),
    "caption": QuestionKind("clip_id", "caption", "options", target="answer"),
    "node_yes_no": QuestionKind("id", fixed=YES_NO),
    "node": QuestionKind("id"),
    "open_answer": QuestionKind("qid"),
    "open_explanation": QuestionKind("qid", answers="explanation"),
}
"""The kinds of questions, which are those of the prompts."""


@dataclass(frozen=True)
class Shown:
    """Where the videos are of questions that are rows of a table.

    Attributes:
        table: The table with the videos.
        key: The column that names a video in both tables.
    """

    table: str
    key: str


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes:
        name: Its name, without that of the group.
        table: The table of the output, or the settings, that it asks about.
        split: The split it asks.
        kind: One of `KINDS`: the prompt it has.
        shown: Where its videos are; None if every document says it.
        docs: The documents, if they are not the rows of a table.
        left_out: Ids of what the split has and the task does not ask.
        why: Why they are left out.
        notes: What its metadata say besides.
    """

    name: str
    table: str
    split: str
    kind: str
    shown: Shown | None = None
    docs: list[Doc] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    why: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether a text is asked for, not a choice."""
        return self.kind.startswith("open_")

    @property
    def max_new_tokens(self) -> int:
        """How long an answer may be, in tokens."""
        return max_new_tokens(self.kind)

    @property
    def metadata(self) -> dict[str, Any]:
        """What it says of itself besides where it is from."""
        left_out = {"left_out": {"count": len(self.left_out), "why": self.why}} if self.left_out else {}
        return {**left_out, **self.notes}

    @property
    def video_tables(self) -> tuple[str, ...]:
        """The tables with its videos."""
        return (self.shown.table,) if self.shown else tuple({doc["table"]: None for doc in self.docs})


@cache
def prompts() -> Mapping[str, Any]:
    """Return what a model is told: `prompts.yaml`."""
    content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("prompts.yaml").read_text(encoding="utf-8"))
    return content


def video_of(task: Task, doc: Doc) -> dict[str, Any]:
    """Return where the video of a document is: a table, and what names the video there."""
    if task.shown:
        return {"table": task.shown.table, "key": {task.shown.key: doc[task.shown.key]}}
    key = (
        {name: doc[name] for name in ("clip_id", "severity")} if task.kind == "caption" else {doc["key"]: doc["video"]}
    )
    return {"table": doc["table"], "key": key}


def max_new_tokens(kind: str) -> int:
    """Return how long an answer to a kind of question may be, in tokens."""
    return int(prompts()["max_new_tokens"]["text" if kind.startswith("open_") else "choice"])


def row_keys(output: FinishedOutput, table: str, names: tuple[str, ...], split: str = ALL) -> set[tuple[Any, ...]]:
    """Read what names the rows of a table, all splits of which have to be there: a harness loads a table as a whole."""
    columns, splits = read_columns(output, table, names, ALL)
    rows = zip(splits, *(columns[name] for name in names), strict=True)
    return {tuple(key) for found, *key in rows if split in (ALL, found)}


def one_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Choose a split: a task has exactly one.

    Raises:
        UsageError: There is no such split, or several and none was named.
    """
    chosen = choose_split(output, config, split)
    splits = output.splits(config)
    if chosen == ALL and len(splits) == 1:
        return splits[0]
    if chosen == ALL:
        raise UsageError(f"one split is asked at a time. Say --split {' or '.join(splits)}.")
    return chosen


def lost_rows(output: FinishedOutput, table: str, keys: set[tuple[Any, ...]]) -> InputError:
    """Make the error of rows that a table names and another one has not."""
    names = sorted(" ".join(map(str, key)) for key in keys)
    return InputError(
        f"{output.path}, table {table}: no row for {', '.join(names[:SHOWN])}{', …' * (len(names) > SHOWN)}, which "
        "another table names. `stressreel verify` says more."
    )


def check_videos(output: FinishedOutput, tasks: Sequence[Task]) -> None:
    """Refuse an output without the videos of its tasks: a harness has to show some, and reads tables without limits.

    Raises:
        InputError: It has none, rows of a table with videos are missing, or a table unpacks to more than tables have.
    """
    for path in [path for table in {task.table for task in tasks if not task.docs} for path in output.shards(table)]:
        measure(path)
    for table in {table: None for task in tasks for table in task.video_tables}:
        if table in output.info["counts"]:
            read_columns(output, table, ("sha256",), ALL)
            if "video" in read_footer(output.shards(table)[0]).schema.to_arrow_schema().names:
                continue
        hint = ", or name their folder with --videos" * (output.info["settings"].get("embed") == "no")
        raise InputError(
            f"{output.path} holds no videos (built {without_videos(output)}), and a harness has to show some. Build it "
            f"with them{hint}."
        )


def without_videos(output: FinishedOutput) -> str:
    """Describe how an output without videos was built, by the option that its own command has."""
    settings = output.info["settings"]
    if settings.get("embed") == "no":
        return "with --embed no"
    return "with --no-render" if settings.get("render") is False else "of text alone"


def remarks(tasks: Sequence[Task]) -> list[str]:
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


def score_commands(output: FinishedOutput, tasks: Sequence[Task], *, by_table: bool) -> list[str]:
    """Return the commands that score the logs of tasks, a table at a time if `by_table`."""
    out = shlex.quote(str(output.path))
    found = []
    for table, task in {task.table if by_table else "": task for task in tasks}.items():
        kind, chosen = ("score open-ended", "") if task.writes else ("score", f" --config {table}" * by_table)
        partial = " --partial" * bool(task.left_out)
        to = f" --out logs.scores/{table}" * by_table
        found.append(f"stressreel {kind} {out} --predictions logs{chosen} --split {task.split}{partial}{to}")
    return found
