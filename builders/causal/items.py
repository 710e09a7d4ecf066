"""Turn CausalChaos questions into items with answer options, and with explanation options for audits."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.metrics.items import Items, items_of
from .tables import NAMES

COLUMNS = ("qid", "episode", "clip_id", "question", "options", "answer_index")


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
