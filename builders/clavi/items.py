"""Turn CLAVI's questions into items, into tasks, and into complement pairs."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.blind.blind_questions import BlindQuestion, blind_questions
from ...evaluation.metrics.answers import YES_NO
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...evaluation.models.distances import Complement
from ...evaluation.tasks import Task, VideoColumn, lost_rows, one_split, row_keys
from .tables import QUESTIONS, VARIANTS, VIDEOS

COLUMNS = ("question_id", "source_id", "video_id", "question", "answer")
LINKS = ("question_id", "type", "variant", "complement_question_id", "counterpart_question_id")


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Return the questions of a split as items."""
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


def choices(output: FinishedOutput, config: str, split: str) -> list[BlindQuestion]:
    """Return the questions of a split, grouped by wording."""
    kinds, _ = read_columns(output, config, ("template_id",), split)
    return blind_questions(items(output, config, split), kinds["template_id"])


def complements(output: FinishedOutput, split: str) -> list[Complement]:
    """Return the complement pairs of the before/after questions (§B.7).

    They consist of the same question about V and V′, or of Q and Q′ about the same video.
    """
    columns, _ = read_columns(output, QUESTIONS.name, LINKS, split)
    couples = []
    for name, kind, variant, opposite, counterpart in zip(*(columns[column] for column in LINKS), strict=True):
        if kind == "BA":
            if variant == VARIANTS[0]:
                couples.append(Complement("video", name, counterpart))
            if name < opposite:
                couples.append(Complement("text", name, opposite))
    return couples


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Return a task with all questions of a split.

    Raises:
        UsageError: The split does not exist.
        InputError: Rows of the questions or of their videos are missing.
    """
    split = one_split(output, QUESTIONS.name, split)
    shown_videos = row_keys(output, QUESTIONS.name, ("video_id",), split)
    if VIDEOS.name in output.info["counts"] and (lost := shown_videos - row_keys(output, VIDEOS.name, ("video_id",))):
        raise lost_rows(output, VIDEOS.name, lost)
    return [Task(QUESTIONS.name, QUESTIONS.name, split, "yes_no", VideoColumn(VIDEOS.name, "video_id"))]
