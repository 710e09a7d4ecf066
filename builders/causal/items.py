"""Turn CausalChaos questions into items, into choices for audits, and into tasks for evaluation harnesses."""

from __future__ import annotations

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...evaluation.tasks import Task, VideoColumn, one_split, row_keys
from .tables import CLIPS, NAMES, OPEN, choice_tables

COLUMNS = ("qid", "episode", "clip_id", "question", "options", "answer_index")
SHOWN = VideoColumn(CLIPS, "clip_id")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Return the questions of a table and split with their answer options."""
    rows, _ = read_columns(output, config, COLUMNS, split)
    return items_of(
        output,
        config,
        split,
        id_column="qid",
        ids=rows["qid"],
        sources=rows["episode"],
        videos=rows["clip_id"],
        texts=rows["question"],
        options=[tuple(texts) for texts in rows["options"]],
        truth=rows["answer_index"],
    )


def choices(output: FinishedOutput, config: str, split: str) -> list[BlindQuestion]:
    """Return the questions of a table and split twice, with answer options and with explanation options.

    A question is in the balanced subset if its `blind_guessable` is false.
    """
    return [
        BlindQuestion(
            id=row["qid"],
            question=row["question"],
            options=tuple(row[options]),
            right=row[index],
            source=row["episode"],
            part=target,
            balanced=None if row.get("blind_guessable") is None else not row["blind_guessable"],
        )
        for target, (options, index, _) in NAMES.items()
        for row in output.whole(config, None, split)
    ]


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Return the tasks of every division, of the confusions, and of the open-ended table."""
    tables = [name for name in (*choice_tables(), OPEN) if name in output.info["counts"]]
    if split is not None and not any(split in output.splits(name) for name in tables):
        one_split(output, tables[0], split)
    stored = CLIPS in output.info["counts"]
    clips = row_keys(output, CLIPS, ("clip_id",)) if stored else set()
    tasks_found = []
    for table in tables:
        if split is not None and split not in output.splits(table):
            continue
        chosen = one_split(output, table, split)
        questions = row_keys(output, table, ("qid", "clip_id"), chosen)
        gone = tuple(sorted(str(qid) for qid, clip in questions if stored and (clip,) not in clips))
        if len(gone) == len(questions):
            raise InputError(
                f"{output.path}: all clips for the questions in table {table}, split {chosen}, were skipped. Build "
                "again with their videos, or choose another --split."
            )
        kinds = ("open_answer", "open_explanation") if table == OPEN else ("answer", "explanation")
        for kind in kinds:
            why = "their clips were skipped in the build" if gone else ""
            tasks_found.append(
                Task(f"{table}_{kind.removeprefix('open_')}", table, chosen, kind, SHOWN, left_out=gone, why=why)
            )
    return tasks_found
