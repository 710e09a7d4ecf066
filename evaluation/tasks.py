"""Tasks of an output: a table or part of it, a prompt, and the location of the videos.

Harnesses and `stressreel ask` use the same tasks and prompts (`prompts.yaml`).
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
class TaskKind:
    """Columns of a kind of question.

    Attributes:
        id_column: Column with the id.
        options: Column with the options, which are answered by letter; "" if there are none.
        right: Column with the correct answer: a text, or the index of an option.
        answers: Column of predictions with the answers.
        fixed: Options shared by all questions of the kind.
    """

    id_column: str
    options: str = ""
    right: str = "answer"
    answers: str = "answer"
    fixed: tuple[str, ...] = ()

    def options_of(self, doc: Doc) -> tuple[str, ...]:
        """Return the options of a document; empty for open-ended questions."""
        return tuple(doc[self.options]) if self.options else self.fixed

    def text(self, doc: Doc, prompt: Mapping[str, str]) -> str:
        """Return a question with its lettered options, enclosed in a prompt."""
        lines = [
            f"{letter(number)}. {option}" for number, option in enumerate(doc[self.options] if self.options else ())
        ]
        question = f"{prompt.get('pre_prompt', '')}{doc.get('question', '')}"
        return "\n".join([question, *lines]) + prompt.get("post_prompt", "")

    def target(self, doc: Doc) -> str:
        """Return the correct answer, or the letter of the correct option; "" if unknown."""
        right = doc[self.right]
        if self.options:
            return "" if right is None else letter(right)
        return self.fixed[right] if isinstance(right, int) else str(right or "")


YES_NO = ("no", "yes")
KINDS = {
    "yes_no": TaskKind("question_id", fixed=YES_NO),
    "answer": TaskKind("qid", "options", "answer_index"),
    "explanation": TaskKind("qid", "explanation_options", "explanation_index", "explanation"),
    "item": TaskKind("id", "options", "answer_index"),
    "caption": TaskKind("clip_id", "options", "answer_index"),
    "node_yes_no": TaskKind("id", fixed=YES_NO),
    "node": TaskKind("id"),
    "open_answer": TaskKind("qid"),
    "open_explanation": TaskKind("qid", right="explanation", answers="explanation"),
}
"""The kinds of questions, each with a prompt."""


@dataclass(frozen=True)
class VideoColumn:
    """Table of the videos, and the column that identifies a video in both tables."""

    table: str
    key: str


@dataclass(frozen=True)
class Task:
    """Questions of one kind, with a prompt.

    Attributes:
        name: Name without that of the group.
        table: The table of the output, or the settings, that the task covers.
        kind: One of `KINDS`, which determines the prompt.
        shown: Location of the videos; None if every document states it.
        docs: The documents, if they are not the rows of a table.
        left_out: Ids of the split that the task omits.
        why: Reason for omitting them.
    """

    name: str
    table: str
    split: str
    kind: str
    shown: VideoColumn | None = None
    docs: list[Doc] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    why: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether the answer is open-ended text."""
        return self.kind.startswith("open_")

    @property
    def max_new_tokens(self) -> int:
        """Maximum length of an answer in tokens."""
        return max_new_tokens(self.kind)

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the task."""
        left_out = {"left_out": {"count": len(self.left_out), "why": self.why}} if self.left_out else {}
        return {**left_out, **self.notes}

    @property
    def video_tables(self) -> tuple[str, ...]:
        """Tables that contain the videos."""
        return (self.shown.table,) if self.shown else tuple({doc["table"]: None for doc in self.docs})


def letter(number: int) -> str:
    """Return the letter of an option."""
    return chr(ord("A") + number)


@cache
def prompts() -> Mapping[str, Any]:
    """Return the content of `prompts.yaml`."""
    content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("prompts.yaml").read_text(encoding="utf-8"))
    return content


def video_of(task: Task, doc: Doc) -> dict[str, Any]:
    """Return the table and key of a document's video."""
    if task.shown:
        return {"table": task.shown.table, "key": {task.shown.key: doc[task.shown.key]}}
    key = (
        {name: doc[name] for name in ("clip_id", "severity")} if task.kind == "caption" else {doc["key"]: doc["video"]}
    )
    return {"table": doc["table"], "key": key}


def max_new_tokens(kind: str) -> int:
    """Return the maximum length of an answer to a kind of question, in tokens."""
    return int(prompts()["max_new_tokens"]["text" if kind.startswith("open_") else "choice"])


def row_keys(output: FinishedOutput, table: str, names: tuple[str, ...], split: str = ALL) -> set[tuple[Any, ...]]:
    """Return the keys of a table's rows. All splits must be present, because harnesses load a table as a whole."""
    columns, splits = read_columns(output, table, names, ALL)
    rows = zip(splits, *(columns[name] for name in names), strict=True)
    return {tuple(key) for found, *key in rows if split in (ALL, found)}


def one_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Return the split of a task; raise UsageError if it does not exist, or none was specified among several."""
    chosen = choose_split(output, config, split)
    splits = output.splits(config)
    if chosen == ALL and len(splits) == 1:
        return splits[0]
    if chosen == ALL:
        raise UsageError(f"only one split can be asked at a time. Give --split {' or '.join(splits)}.")
    return chosen


def lost_rows(output: FinishedOutput, table: str, keys: set[tuple[Any, ...]]) -> InputError:
    """Return the error for missing rows to which another table refers."""
    names = sorted(" ".join(map(str, key)) for key in keys)
    return InputError(
        f"{output.path}, table {table}: no row for {', '.join(names[:SHOWN])}{', …' * (len(names) > SHOWN)}, which "
        "another table refers to. Run `stressreel verify` for details."
    )


def check_videos(output: FinishedOutput, tasks: Sequence[Task]) -> None:
    """Raise InputError if videos or rows are missing, or a table is too large when unpacked."""
    for path in [path for table in {task.table for task in tasks if not task.docs} for path in output.shards(table)]:
        measure(path)
    for table in {table: None for task in tasks for table in task.video_tables}:
        if table in output.info["counts"]:
            read_columns(output, table, ("sha256",), ALL)
            if "video" in read_footer(output.shards(table)[0]).schema.to_arrow_schema().names:
                continue
        hint = ", or name their folder with --videos" * (output.info["settings"].get("embed") == "no")
        raise InputError(
            f"{output.path} contains no videos (built {without_videos(output)}), but harnesses need them. Build it "
            f"with videos{hint}."
        )


def without_videos(output: FinishedOutput) -> str:
    """Describe how an output without videos was built, by the command's option."""
    settings = output.info["settings"]
    if settings.get("embed") == "no":
        return "with --embed no"
    return "with --no-render" if settings.get("render") is False else "from text only"


def remarks(tasks: Sequence[Task]) -> list[str]:
    """Describe the questions that tasks omit, and the settings with different captions."""
    found = []
    left_out = {(task.table if task.kind != "caption" else "", task.split): task for task in tasks if task.left_out}
    for (table, split), task in left_out.items():
        names = ", ".join(task.left_out[:SHOWN]) + ", …" * (len(task.left_out) > SHOWN)
        where = f"{table or 'every setting'}, split {split}"
        found.append(f"Left out of {where}: {len(task.left_out):,} ({names}); {task.why}.")
    other = {task.name: task.notes["other_captions_than_clean"] for task in tasks if task.notes}
    if other:
        named = ", ".join(f"{name} {count:,}" for name, count in other.items())
        found.append(f"Captions that differ from clean, since a perturbation makes those identical: {named}.")
    return found


def score_commands(output: FinishedOutput, tasks: Sequence[Task], *, by_table: bool) -> list[str]:
    """Return the commands that score the logs of tasks, one per table if `by_table`."""
    out = shlex.quote(str(output.path))
    found = []
    for table, task in {task.table if by_table else "": task for task in tasks}.items():
        kind, chosen = ("score open-ended", "") if task.writes else ("score", f" --config {table}" * by_table)
        partial = " --partial" * bool(task.left_out)
        to = f" --out logs.scores/{table}" * by_table
        found.append(f"stressreel {kind} {out} --predictions logs{chosen} --split {task.split}{partial}{to}")
    return found
