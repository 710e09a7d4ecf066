"""The videos of question graphs that are not in the dataset: those of the source, by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...asking.clips import FolderClips, clips_in_folder
from ...asking.questions import Question
from ...records.output import FinishedOutput
from ...sources.charades import CHARADES


def clips(output: FinishedOutput, questions: Sequence[Question], folder: Path) -> FolderClips:
    """Find the videos of questions in a folder of Charades."""
    return clips_in_folder(questions, folder, CHARADES.video_folders)
