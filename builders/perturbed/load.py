"""Frames of a suite on the fly, from recipes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from ...core.output import reading
from ...core.schema import Row
from ...corruptions.registry import check_severity
from ...video.decode import with_index
from ...video.index import FrameIndex, remembered_index
from ...video.pyav import to_rgb
from ...video.source_files import find_videos
from ...video.store import FrameStore
from .frame_choice import Frames, check_frames, positions_of
from .render import clip_frames, perturbed_frames, recipe_of, source_frames
from .settings import PerturbedSettings, settings_of
from .tables import COLUMNS, visual_tables


@dataclass(frozen=True)
class PerturbedClip:
    """One row of a suite with the frames that its recipe gives.

    Attributes:
        row: The row of the table, without its video.
        frames: uint8 RGB of shape (frames, height, width, 3): what a render encodes.
        positions: int64 of shape (frames,): where in the clip each of them is, from 0 on.
    """

    row: Row
    frames: NDArray[np.uint8]
    positions: NDArray[np.int64]


class PerturbedClips(Sequence[PerturbedClip]):
    """The rows of one table of a suite; frames are made from the source videos when a row is taken.

    Attributes:
        rows: The rows.
        missing: Source videos that are not in the folder, whose rows are left out.
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
        """See `load`, which makes these."""
        self.rows, self.missing = rows, tuple(missing)
        self._name, self._settings, self._videos, self._chosen = name, settings, videos, frames

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> PerturbedClip: ...
    @overload
    def __getitem__(self, number: slice) -> PerturbedClips: ...
    def __getitem__(self, number: int | slice) -> PerturbedClip | PerturbedClips:
        """Make one row's frames, or take a part of the rows."""
        if isinstance(number, slice):
            rows = self.rows[number]
            return PerturbedClips(rows, self._name, self._settings, self._videos, self._chosen, self.missing)
        return self.made(number, lambda index, clip, row: positions_of(self._chosen, len(clip), row["clip_id"]))

    def made(self, number: int, choose: Callable[[FrameIndex, range, Row], NDArray[np.int64]]) -> PerturbedClip:
        """Make frames of one row.

        Args:
            number: The row.
            choose: Which, as positions in the clip: gets the source, the clip's frames in it, and the row.
        """
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
        places, order = np.unique(positions, return_inverse=True)
        wanted = clip if len(places) == len(clip) else [clip.start + int(place) for place in places]
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
    """Open one table of a suite and make its frames on the fly, bit for bit those that a render encodes.

    With `frames`, only what these need is decoded and perturbed: from the nearest keyframe on, without frames that no
    other refers to; by mpeg1 and mpeg2 all from the beginning to the last one.

    Args:
        out: The output of `build-perturbed`, with or without videos.
        name: A perturbation, or "clean".
        videos: Folder of the source videos.
        severity: Only rows of this severity.
        split: Only rows of this split.
        frames: Which frames of each clip: all (None); a number n of frames at equal distances from the first to the
            last, floor(k (length - 1) / (n - 1)), some more than once if the clip has fewer; a slice; or positions in
            any order (a list, a range, an array of integers), negative ones from the end.
        allow_missing: Leave out rows whose source video is not in the folder; the result's `missing` names them.

    Raises:
        InputError: No such output, table, severity, split or folder; the folder lacks videos; no such choice of frames.
    """
    with reading(Path(out)) as output:
        known = visual_tables(output.info) if output.info["builder"] == "perturbed" else []
        if name not in known:
            tables = ", ".join(known) or "none"
            raise InputError(f"{out} has no perturbation {name!r}. It has: {tables}.")
        if severity is not None:
            check_severity(severity, name)
        if split is not None and split not in output.splits(name):
            raise InputError(f"{out} has no split {split!r} of {name}. It has: {', '.join(output.splits(name))}.")
        chosen = check_frames(frames)
        folder = Path(videos)
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}. Give the folder of the source videos as videos=.")
        settings = settings_of(output.info)
        rows = [
            row
            for row in output.rows(name, [column.name for column in COLUMNS], split)
            if severity is None or row["severity"] == severity
        ]
        if not rows:
            raise InputError(f"{out} has no {name} of severity {severity}. Its rows have others, or none were built.")
        sources = sorted({row["source_id"] for row in rows})
        found = find_videos([folder], sources, output.info["video_folders"])
        missing = [source for source in sources if source not in found]
        if missing and not (found and allow_missing):
            hint = ", or leave their rows out with allow_missing=True" if found else ""
            raise InputError(
                f"{len(missing)} of {len(sources)} source videos are not in {folder}, the first of them {missing[0]}. "
                f"Give the folder that has them as videos={hint}."
            )
        rows = [row for row in rows if row["source_id"] in found]
        for row in rows:
            if row["num_frames"] is not None:  # recipes alone do not know it yet
                positions_of(chosen, row["num_frames"], row["clip_id"])
        return PerturbedClips(rows, name, settings, found, chosen, missing)
