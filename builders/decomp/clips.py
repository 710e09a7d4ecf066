"""Find the videos of question graphs, which are not part of the dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...annotations.charades import CHARADES
from ...core.output import FinishedOutput
from ...evaluation.models.clip_sources import FolderClips, clips_in_folder
from ...evaluation.models.question_set import Question


def clips(output: FinishedOutput, questions: Sequence[Question], folder: Path) -> FolderClips:
    """Find the videos that the questions refer to in a folder of Charades videos."""
    return clips_in_folder(questions, folder, CHARADES.video_folders)
