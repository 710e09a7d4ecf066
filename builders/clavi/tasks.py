"""CLAVI as a task of evaluation harnesses."""

from __future__ import annotations

from ...exports.lmms_eval import Bound, Task, check_videos, functions_for, lost_rows, one_split, row_keys
from ...records.output import FinishedOutput
from .tables import VIDEOS

SHOWN = Bound("video_visual", "row_visual", (VIDEOS.name, "video_id"))


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Ask every question of a split. Every table that is read is there in full, and so is every video.

    Raises:
        InputError: There are no videos, there is no such split, or rows are missing.
    """
    check_videos(output, VIDEOS.name)
    split = one_split(output, "questions", split)
    asked = row_keys(output, "questions", ("video_id",), split)
    if lost := asked - row_keys(output, "videos", ("video_id",)):
        raise lost_rows(output, "videos", lost)
    return [Task("questions", "questions", split, "yes_no", functions_for(SHOWN, "yes_no", "questions"))]
