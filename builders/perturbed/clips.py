"""Generate frames from the recipes of a suite that was built without videos."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...evaluation.models.clip_sources import Sampling, View, shrunk, timing_of
from ...evaluation.models.question_set import Clip, Question
from ...video.index import FrameIndex
from .load import PerturbedClips, load


class RecipeClips:
    """Generates the frames of clips from source videos, bit for bit as encoded in a build with videos."""

    def __init__(self, output: FinishedOutput, questions: Sequence[Question], folder: Path):
        """Find the source videos of all clips that the questions refer to.

        Raises:
            UsageError: The folder does not exist.
            InputError: The folder lacks some of the videos.
        """
        self._rows: dict[Clip, tuple[PerturbedClips, int]] = {}
        wanted = {question.clip for question in questions if question.clip}
        for table in sorted({clip.table for clip in wanted}):
            clips = load(output.path, table, videos=folder, allow_missing=True)
            for number, row in enumerate(clips.rows):
                clip = Clip(table, (("clip_id", row["clip_id"]), ("severity", row["severity"])))
                if clip in wanted:
                    self._rows[clip] = clips, number
        lost = sorted(map(str, wanted - set(self._rows)))
        if lost:
            raise InputError(
                f"the source videos of {len(lost)} of {len(wanted)} clips are not in {folder}; the first such clip is "
                f"{lost[0]}. Use --videos to specify the folder that contains them."
            )

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return the perturbed frames of a clip.

        Raises:
            UsageError: A video file is requested instead of frames.
            InputError: The clip does not exist.
            VideoError: The source cannot be decoded.
        """
        if whole:
            raise UsageError(
                "this suite contains recipes but no videos. Replace --send video with --send frames, or build the "
                "suite with videos."
            )
        if clip not in self._rows:
            raise InputError(f"table {clip.table} has no clip {clip}.")

        timings = []

        def choose(index: FrameIndex, frames: range, row: Row) -> NDArray[np.int64]:
            chosen = sampling.chosen(index, frames, index.seconds(frames.start))
            timings.append(timing_of(index, frames, chosen))
            return np.array(chosen, np.int64) - frames.start

        clips, number = self._rows[clip]
        pictures = tuple(shrunk(frame, sampling.size) for frame in clips.made(number, choose).frames)
        return View(pictures, sampling.quality, timing=timings[-1])
