"""Turn answered questions with two possible answers into items."""

from __future__ import annotations

from dataclasses import replace

from ...core.output import FinishedOutput
from ...evaluation.blind.blind_questions import BlindQuestion, blind_questions
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.metrics.items import Items, items_of
from ...evaluation.metrics.predictions import BANNED_CATEGORY, NO_OPTIONS

COLUMNS = ("key", "video_id", "question", "answer", "options", "banned")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Return the questions of a split that have two possible answers.

    Predictions for open questions are ignored here. Only `stressreel score` scores them.
    """
    rows, _ = read_columns(output, config, COLUMNS, split)
    withheld = bool(output.withheld)
    asked = [
        number
        for number, (answer, options) in enumerate(zip(rows["answer"], rows["options"], strict=True))
        if options and (answer in options or withheld)
    ]
    chosen = {name: [rows[name][number] for number in asked] for name in COLUMNS}
    found = items_of(
        output,
        config,
        split,
        id_column="key",
        ids=chosen["key"],
        sources=chosen["video_id"],
        videos=chosen["video_id"],
        texts=chosen["question"],
        options=[tuple(options) for options in chosen["options"]],
        truth=[
            options.index(answer) if answer in options else None
            for options, answer in zip(chosen["options"], chosen["answer"], strict=True)
        ],
    )
    reasons = (BANNED_CATEGORY if banned else NO_OPTIONS for banned in rows["banned"])
    left_out = dict(zip(rows["key"], reasons, strict=True))
    for key in chosen["key"]:
        del left_out[key]
    return replace(found, others={**found.others, **left_out})


def choices(output: FinishedOutput, config: str, split: str) -> list[BlindQuestion]:
    """Return the questions of a split with two possible answers, each with its category."""
    columns, _ = read_columns(output, config, ("key", "kind"), split)
    kind_of = dict(zip(columns["key"], columns["kind"], strict=True))
    found = items(output, config, split)
    return blind_questions(found, [kind_of[name] for name in found.ids])
