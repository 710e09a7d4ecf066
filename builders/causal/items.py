"""The items of a CausalChaos output: questions with answers to choose from."""

from __future__ import annotations

from ...metrics.inputs import read_columns
from ...metrics.items import Items, items_of
from ...records.output import FinishedOutput

COLUMNS = ("qid", "episode", "clip_id", "question", "options", "answer_index")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Read the questions of a table and split, with their answers."""
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
