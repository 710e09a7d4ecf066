"""CLAVI as a task."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.tasks import Shown, Task, lost_rows, one_split, row_keys
from .tables import QUESTIONS, VIDEOS


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Ask every question of a split. Every table that is read is there in full, and so is every video.

    Raises:
        UsageError: There is no such split.
        InputError: Rows are missing.
    """
    split = one_split(output, QUESTIONS.name, split)
    asked = row_keys(output, QUESTIONS.name, ("video_id",), split)
    if VIDEOS.name in output.info["counts"] and (lost := asked - row_keys(output, VIDEOS.name, ("video_id",))):
        raise lost_rows(output, VIDEOS.name, lost)
    return [Task(QUESTIONS.name, QUESTIONS.name, split, "yes_no", Shown(VIDEOS.name, "video_id"))]
