"""The items of a CLAVI output: its yes/no questions."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.blind.asked import Asked, asked_items
from ...evaluation.metrics.answers import YES_NO
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.metrics.items import Items, items_of

COLUMNS = ("question_id", "source_id", "video_id", "question", "answer")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Read the questions of a split."""
    rows, _ = read_columns(output, config, COLUMNS, split)
    return items_of(
        output,
        config,
        split,
        id_column="question_id",
        ids=rows["question_id"],
        sources=rows["source_id"],
        videos=rows["video_id"],
        texts=rows["question"],
        options=[YES_NO] * len(rows["question_id"]),
        truth=rows["answer"],
    )


def choices(output: FinishedOutput, config: str, split: str) -> list[Asked]:
    """Return the questions of a split, each of the kind that its wording is."""
    kinds, _ = read_columns(output, config, ("template_id",), split)
    return asked_items(items(output, config, split), kinds["template_id"])
