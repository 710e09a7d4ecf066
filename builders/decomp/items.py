"""The items of an output of question graphs: its yes/no questions and its choices of two, where an answer is known."""

from __future__ import annotations

from dataclasses import replace

from ...core.output import FinishedOutput
from ...evaluation.blind.asked import Asked, asked_items
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.metrics.items import Items, items_of

COLUMNS = ("key", "video_id", "question", "answer", "options", "banned")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Read the questions of a split that can be chosen an answer to.

    Questions for an object or an action have no options; they are scored by `stressreel score` alone, and what is
    predicted for them is passed over here.
    """
    rows, _ = read_columns(output, config, COLUMNS, split)
    asked = [
        number
        for number, (answer, options) in enumerate(zip(rows["answer"], rows["options"], strict=True))
        if options and answer in options
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
        truth=[options.index(answer) for options, answer in zip(chosen["options"], chosen["answer"], strict=True)],
    )
    return replace(found, others=found.others | (set(rows["key"]) - set(chosen["key"])))


def choices(output: FinishedOutput, config: str, split: str) -> list[Asked]:
    """Return the questions of a split that can be chosen an answer to, each of the kind that its program is."""
    columns, _ = read_columns(output, config, ("key", "kind"), split)
    kind_of = dict(zip(columns["key"], columns["kind"], strict=True))
    found = items(output, config, split)
    return asked_items(found, [kind_of[name] for name in found.ids])
