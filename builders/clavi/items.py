"""The items of a CLAVI output: its yes/no questions."""

from __future__ import annotations

from ...metrics.answers import YES_NO
from ...metrics.inputs import read_columns
from ...metrics.items import Items, items_of
from ...records.output import FinishedOutput

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
