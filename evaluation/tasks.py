"""Describe the questions of an output as tasks, each with a prompt and the location of its videos.

Harnesses and `stressreel ask` use the same tasks and prompts (`prompts.yaml`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.documents import package_table
from ..core.errors import InputError, UsageError
from ..core.output import FinishedOutput
from ..core.schema import Config
from ..core.shards import measure, read_footer
from .metrics.items import ALL, Items, choose_split, read_columns

SHOWN = 5
Doc = dict[str, Any]


@dataclass(frozen=True)
class TaskKind:
    """A kind of question, with the columns that contain its parts.

    Attributes:
        options: Column with the options, which are answered by letter, or "" if there are none.
        right: Column with the correct answer, either as text or as the index of an option.
        answers: Column of predictions with the answers.
        fixed: Options that all questions of the kind have.
    """

    id_column: str
    options: str = ""
    right: str = "answer"
    answers: str = "answer"
    fixed: tuple[str, ...] = ()

    def options_of(self, doc: Doc) -> tuple[str, ...]:
        """Return the options of a question, or () if it is open-ended."""
        return tuple(doc[self.options]) if self.options else self.fixed

    def text(self, doc: Doc, prompt: Mapping[str, str]) -> str:
        """Return a question with its lettered options, enclosed in the prompt."""
        lines = [
            f"{letter(number)}. {option}" for number, option in enumerate(doc[self.options] if self.options else ())
        ]
        question = f"{prompt.get('pre_prompt', '')}{doc.get('question', '')}"
        return "\n".join([question, *lines]) + prompt.get("post_prompt", "")

    def target(self, doc: Doc) -> str:
        """Return the correct answer, the letter of the correct option, or "" if unknown."""
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
"""The kinds of questions by name. `prompts.yaml` has a prompt for each."""


@dataclass(frozen=True)
class VideoColumn:
    """The table with the videos, and the column that identifies a video in it and in the questions."""

    table: str
    key: str


@dataclass(frozen=True)
class Task:
    """Questions of one kind with a common prompt.

    Attributes:
        name: Name within the group of tasks.
        table: The table of the output, or the settings, that the task covers.
        kind: A key of `KINDS`, which determines the prompt.
        shown: Location of the videos, or None if every document states it.
        docs: The documents, if they are not the rows of a table.
        left_out: Ids of questions in the split that the task omits.
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
        """Whether answers are generated texts."""
        return self.kind.startswith("open_")

    @property
    def max_new_tokens(self) -> int:
        """Maximum number of tokens in an answer."""
        return max_new_tokens(self.kind)

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata for harnesses, such as the number of omitted questions."""
        left_out = {"left_out": {"count": len(self.left_out), "why": self.why}} if self.left_out else {}
        return {**left_out, **self.notes}

    @property
    def video_tables(self) -> tuple[str, ...]:
        """Names of the tables that contain the videos."""
        return (self.shown.table,) if self.shown else tuple({doc["table"]: None for doc in self.docs})


def letter(number: int) -> str:
    """Return the letter of the option with this index."""
    return chr(ord("A") + number)


def prompts() -> Mapping[str, Any]:
    """Return the prompts and other texts in `prompts.yaml`."""
    content: dict[str, Any] = package_table(Path(__file__).with_name("prompts.yaml"))
    return content


def video_of(task: Task, doc: Doc) -> dict[str, Any]:
    """Return the table and key of the video that belongs to a document."""
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
    """Return the keys of a table's rows. All splits must exist, because harnesses load a table as a whole."""
    columns, splits = read_columns(output, table, names, ALL)
    rows = zip(splits, *(columns[name] for name in names), strict=True)
    return {tuple(key) for found, *key in rows if split in (ALL, found)}


def one_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Return the only split that a task covers.

    Raises:
        UsageError: The split does not exist, or none is given although there are several.
    """
    chosen = choose_split(output, config, split)
    splits = output.splits(config)
    if chosen == ALL and len(splits) == 1:
        return splits[0]
    if chosen == ALL:
        raise UsageError(f"questions can be asked about only one split at a time. Pass --split {' or '.join(splits)}.")
    return chosen


def lost_rows(output: FinishedOutput, table: str, keys: set[tuple[Any, ...]]) -> InputError:
    """Return an error for rows to which another table refers, but which are missing."""
    names = sorted(" ".join(map(str, key)) for key in keys)
    return InputError(
        f"{output.path}, table {table}: no row for {', '.join(names[:SHOWN])}{', …' * (len(names) > SHOWN)}, which "
        "another table refers to. Run `stressreel verify` for details."
    )


def check_videos(output: FinishedOutput, tasks: Sequence[Task]) -> None:
    """Raise InputError if videos or rows are missing, or if a table is too large when unpacked."""
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
    """Return the option with which an output without videos was built, as in "with --no-render"."""
    settings = output.info["settings"]
    if settings.get("embed") == "no":
        return "with --embed no"
    return "with --no-render" if settings.get("render") is False else "from text only"


def remarks(tasks: Sequence[Task]) -> list[str]:
    """Return notes on the questions that tasks omit, and on settings whose captions differ."""
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
    """Return the commands that score the logs of tasks, one for each table if `by_table`."""
    out = shlex.quote(str(output.path))
    found = []
    for table, task in {task.table if by_table else "": task for task in tasks}.items():
        kind, chosen = ("score open-ended", "") if task.writes else ("score", f" --config {table}" * by_table)
        partial = " --partial" * bool(task.left_out)
        to = f" --out logs.scores/{table}" * by_table
        found.append(f"stressreel {kind} {out} --predictions logs{chosen} --split {task.split}{partial}{to}")
    return found


def item_tasks(
    output: FinishedOutput,
    read_items: Callable[[FinishedOutput, str, str], Items],
    tables: Sequence[str],
    configs: Sequence[Config],
    split: str | None,
) -> list[Task]:
    """Return a task for each table with questions, whose documents are the items.

    Videos are taken from the first of `configs` that has any, by its first column. The default split is test, if it
    exists.

    Raises:
        InputError: There are no videos, the split does not exist, or items have no options.
    """
    shown = next((config for config in configs if any(column.kind == "video" for column in config.columns)), None)
    if shown is None:
        raise InputError(f"{output.path} contains no videos, which evaluation harnesses need. Build it with videos.")
    found = []
    for table in tables:
        chosen = one_split(output, table, split)
        items = read_items(output, table, chosen)
        if (items.truth < 0).any() and not output.withheld:
            raise InputError(f"{output.path}, table {table}: some questions have no correct option.")
        docs = [
            {
                "id": name,
                "config": table,
                "table": shown.name,
                "key": shown.columns[0].name,
                "video": video,
                "question": text,
                "options": list(options),
                "answer_index": int(right),
            }
            for name, video, text, options, right in zip(
                items.ids, items.videos, items.texts, items.options, items.truth, strict=True
            )
        ]
        found.append(Task(table, table, chosen, "item", docs=docs))
    return found
