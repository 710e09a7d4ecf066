"""Generate the frames of a suite on the fly from its recipes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput, reading
from ...core.schema import Row
from ...corruptions.registry import check_severity
from ...evaluation.models.clip_sources import Sampling, View, shrunk, timing_of
from ...evaluation.models.question_set import Clip, Question
from ...video.decode import with_index
from ...video.index import FrameIndex, remembered_index
from ...video.pyav import to_rgb
from ...video.source_files import find_videos
from ...video.store import FrameStore
from .render import clip_frames, perturbed_frames, recipe_of, source_frames
from .settings import PerturbedSettings, settings_of
from .tables import COLUMNS, visual_tables

Frames = int | slice | Sequence[int] | NDArray[np.integer[Any]] | None
"""Frames of a clip: all (None), a number of evenly spaced ones, a slice, or positions."""


@dataclass(frozen=True)
class PerturbedClip:
    """A row of a suite, with its frames.

    Attributes:
        row: The row of the table, without its video.
        frames: uint8 RGB of shape (frames, height, width, 3), as encoded in a build with videos.
        positions: int64 of shape (frames,), the position of each frame in the clip, from 0.
    """

    row: Row
    frames: NDArray[np.uint8]
    positions: NDArray[np.int64]


class PerturbedClips(Sequence[PerturbedClip]):
    """Sequence of the rows in a table of a suite. Frames are generated when a row is accessed.

    Attributes:
        rows: The rows.
        missing: Source videos that were not found, whose rows are omitted.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        name: str,
        settings: PerturbedSettings,
        videos: Mapping[str, Path],
        frames: Frames = None,
        missing: Sequence[str] = (),
    ):
        """Store the arguments. Use `load` to create an instance."""
        self.rows, self.missing = rows, tuple(missing)
        self._name, self._settings, self._videos, self._chosen = name, settings, videos, frames

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> PerturbedClip: ...
    @overload
    def __getitem__(self, number: slice) -> PerturbedClips: ...
    def __getitem__(self, number: int | slice) -> PerturbedClip | PerturbedClips:
        """Return one row with its frames or, for a slice, a selection of rows."""
        if isinstance(number, slice):
            rows = self.rows[number]
            return PerturbedClips(rows, self._name, self._settings, self._videos, self._chosen, self.missing)
        return self.made(number, lambda index, clip, row: positions_of(self._chosen, len(clip), row["clip_id"]))

    def made(self, number: int, choose: Callable[[FrameIndex, range, Row], NDArray[np.int64]]) -> PerturbedClip:
        """Return one row with its frames. `choose` maps source index, frames of the clip and row to positions."""
        row = self.rows[number]
        path = self._videos[row["source_id"]]
        return with_index(path, lambda index: self._made(row, index, choose), remembered_index)

    def _made(
        self, row: Row, index: FrameIndex, choose: Callable[[FrameIndex, range, Row], NDArray[np.int64]]
    ) -> PerturbedClip:
        recipe = recipe_of(self._name, row["severity"], row, self._settings)
        clip = clip_frames(index, row)
        stretch = clip if self._settings.clip_first else range(index.num_frames)
        positions = choose(index, clip, row)
        unique, order = np.unique(positions, return_inverse=True)
        wanted = clip if len(unique) == len(clip) else [clip.start + int(position) for position in unique]
        needed = source_frames(recipe, wanted, stretch)
        stored = needed if isinstance(needed, range) else sorted(set(needed))
        with FrameStore(index, stored, Path(tempfile.gettempdir())) as store:
            pictures = perturbed_frames(store, recipe, wanted, stretch)
            frames = np.stack([p if isinstance(p, np.ndarray) else to_rgb(p) for p in pictures])
        in_order = np.array_equal(order, np.arange(len(frames)))
        return PerturbedClip(row, frames if in_order else frames[order], positions)


def load(
    out: str | Path,
    name: str,
    *,
    videos: str | Path,
    severity: int | None = None,
    split: str | None = None,
    frames: Frames = None,
    allow_missing: bool = False,
) -> PerturbedClips:
    """Open a table of a suite and generate its frames on the fly, bit for bit as encoded in a build with videos.

    Args:
        out: Output of `build-perturbed`, with or without videos.
        name: Name of a perturbation, or "clean".
        videos: Folder with the source videos.
        severity: Severity to include; defaults to all.
        split: Split to include; defaults to all.
        frames: Frames of each clip: all (None); a number n of evenly spaced frames, floor(k (length - 1) / (n - 1)),
            with repetitions if the clip has fewer; a slice; or positions in any order (a list, a range, an array of
            integers), where negative ones count from the end. Only the required frames are decoded and perturbed;
            mpeg1 and mpeg2 need all frames up to the last one.
        allow_missing: Omit rows whose source video is not in the folder. The result lists these videos in `missing`.

    Raises:
        InputError: The output, table, severity, split, folder or frame does not exist, or the folder lacks videos.
    """
    with reading(Path(out)) as output:
        known = visual_tables(output.info) if output.info["builder"] == "perturbed" else []
        if name not in known:
            tables = ", ".join(known) or "none"
            raise InputError(f"{out} has no perturbation {name!r}. Available: {tables}.")
        if severity is not None:
            check_severity(severity, name)
        if split is not None and split not in output.splits(name):
            raise InputError(
                f"{out} has no split {split!r} of {name}. Available splits: {', '.join(output.splits(name))}."
            )
        chosen = check_frames(frames)
        folder = Path(videos)
        if not folder.is_dir():
            raise UsageError(
                f"there is no folder {folder}. Set `videos` to the folder that contains the source videos."
            )
        settings = settings_of(output.info)
        rows = [
            row
            for row in output.rows(name, [column.name for column in COLUMNS], split)
            if severity is None or row["severity"] == severity
        ]
        if not rows:
            raise InputError(
                f"{out} has no {name} at severity {severity}. It was built with other "
                "severities, or without this perturbation."
            )
        sources = sorted({row["source_id"] for row in rows})
        paths = find_videos([folder], sources, output.info["video_folders"])
        missing = [source for source in sources if source not in paths]
        if missing and not (paths and allow_missing):
            hint = ", or omit their rows with allow_missing=True" if paths else ""
            raise InputError(
                f"{len(missing)} of {len(sources)} source videos are not in {folder}; the first is {missing[0]}. Use "
                f"videos={hint} to specify the folder that contains them."
            )
        rows = [row for row in rows if row["source_id"] in paths]
        for row in rows:
            if row["num_frames"] is not None:  # unknown in outputs with recipes only
                positions_of(chosen, row["num_frames"], row["clip_id"])
        return PerturbedClips(rows, name, settings, paths, chosen, missing)


def positions_of(frames: Frames, count: int, clip_id: str) -> NDArray[np.int64]:
    """Return the positions of the chosen frames in a clip, as int64 from 0 to count - 1 in the given order.

    Raises:
        InputError: The clip lacks a frame, or a slice selects none.
    """
    every = np.arange(count, dtype=np.int64)
    if frames is None:
        return every
    if isinstance(frames, int):
        return np.arange(frames, dtype=np.int64) * (count - 1) // max(frames - 1, 1)
    if isinstance(frames, slice):
        if not len(every[frames]):
            raise InputError(f"frames={frames} selects no frames: clip {clip_id} has {count} frames.")
        return every[frames]
    positions = np.array(frames, np.int64)
    outside = positions[(positions < -count) | (positions >= count)]
    if len(outside):
        raise InputError(
            f"clip {clip_id} has no frame {outside[0]}: its {count} frames are numbered 0 to {count - 1} (or -{count} "
            "to -1 from the end). To sample frames evenly across the clip, pass their number, such as frames=8."
        )
    return positions % count


def check_frames(frames: Any) -> Frames:
    """Validate a choice of frames and convert NumPy integers. Raise InputError if it is invalid."""
    if frames is None:
        return None
    if isinstance(frames, slice):
        with suppress(TypeError, ValueError):
            frames.indices(1)
            return frames
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool) and frames > 0:
        return int(frames)
    if isinstance(frames, (Sequence, np.ndarray)) and not isinstance(frames, (str, bytes)):
        with suppress(ValueError):  # such as lists of different lengths
            positions = np.asarray(frames)
            if positions.ndim == 1 and len(positions) and np.issubdtype(positions.dtype, np.integer):
                return positions.astype(np.int64)
    raise InputError(
        f"frames must be a positive number of frames, a slice, or a non-empty list of positions; got {frames!r}"
    )


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
