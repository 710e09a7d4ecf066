"""Turn answered questions with two possible answers into items, and question graphs into tasks for harnesses."""

from __future__ import annotations

from dataclasses import replace

from ...core.output import FinishedOutput
from ...evaluation.blind.blind_questions import BlindQuestion, blind_questions
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...evaluation.metrics.predictions import BANNED_CATEGORY, NO_OPTIONS
from ...evaluation.metrics.question_graphs import ANSWERED_YES_NO, BANNED
from ...evaluation.tasks import Doc, Task, one_split
from .tables import QUESTIONS, VIDEOS

COLUMNS = ("key", "video_id", "question", "answer", "options", "banned")
TASK_COLUMNS = ("key", "video_id", "question", "answer", "kind")


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


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Return tasks with all questions of a split, except those of excluded categories.

    Options are not listed, as a choice question names them in its text and answers are scored by their words.

    Raises:
        UsageError: The split does not exist.
        InputError: Rows are missing.
    """
    split = one_split(output, QUESTIONS.name, split)
    columns, _ = read_columns(output, QUESTIONS.name, TASK_COLUMNS, split)
    docs: dict[str, list[Doc]] = {"node_yes_no": [], "node": []}
    for key, video, question, answer, kind in zip(*(columns[name] for name in TASK_COLUMNS), strict=True):
        if kind not in BANNED:
            docs["node_yes_no" if kind in ANSWERED_YES_NO else "node"].append(
                {
                    "id": key,
                    "config": QUESTIONS.name,
                    "table": VIDEOS.name,
                    "key": VIDEOS.columns[0].name,
                    "video": video,
                    "question": question,
                    "answer": answer,
                }
            )
    names = {"node_yes_no": "yes_no", "node": "words"}
    return [Task(names[kind], QUESTIONS.name, split, kind, docs=found) for kind, found in docs.items() if found]
