"""Frames of a suite on the fly, from recipes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...corruptions.registry import check_severity
from ...errors import InputError, UsageError
from ...records.output import open_output
from ...records.schema import Row
from ...sources.files import find_videos
from ...video.decode import with_index
from ...video.index import FrameIndex
from ...video.pyav import to_rgb
from ...video.store import FrameStore
from .render import clip_frames, perturbed_frames, recipe_for
from .settings import PerturbedSettings, settings_of
from .tables import COLUMNS, visual_tables


@dataclass(frozen=True)
class PerturbedClip:
    """One row of a suite with the frames that its recipe gives.

    Attributes:
        row: The row of the table, without its video.
        frames: uint8 RGB of shape (num_frames, height, width, 3): what a render encodes.
    """

    row: Row
    frames: NDArray[np.uint8]


class PerturbedClips(Sequence[PerturbedClip]):
    """The rows of one table of a suite; frames are made from the source videos when a row is taken."""

    def __init__(self, rows: Sequence[Row], name: str, settings: PerturbedSettings, videos: Mapping[str, Path]):
        """See `load`, which makes these."""
        self.rows, self._name, self._settings, self._videos = rows, name, settings, videos

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
            return PerturbedClips(self.rows[number], self._name, self._settings, self._videos)
        row = self.rows[number]
        if row["source_id"] not in self._videos:
            raise InputError(f"source video {row['source_id']} is not in the folder given as videos=.")
        return PerturbedClip(row, with_index(self._videos[row["source_id"]], lambda index: self._frames(row, index)))

    def _frames(self, row: Row, index: FrameIndex) -> NDArray[np.uint8]:
        first = self._settings.clip_first
        key = row["clip_id"] if first else row["source_id"]
        recipe = recipe_for(self._name, row["severity"], self._settings.seed, key)
        clip = clip_frames(index, row)
        pixels = recipe is None or recipe.corruption.scope in ("frame", "clip")
        # Frames perturbed on their own need no others; their numbers stay those of the whole stretch.
        stretch = clip if first else range(index.num_frames)
        with (
            tempfile.TemporaryDirectory(prefix="stressreel-") as folder,
            FrameStore(index, clip if pixels else stretch, Path(folder)) as store,
        ):
            store.origin = stretch.start
            pictures = perturbed_frames(store, recipe, clip)
            return np.stack([p if isinstance(p, np.ndarray) else to_rgb(p) for p in pictures])


def load(
    out: str | Path, name: str, *, videos: str | Path, severity: int | None = None, split: str | None = None
) -> PerturbedClips:
    """Open one table of a suite and make its frames on the fly, bit for bit those that a render encodes.

    Args:
        out: The output of `build-perturbed`, with or without videos.
        name: A perturbation, or "clean".
        videos: Folder of the source videos.
        severity: Only rows of this severity.
        split: Only rows of this split.

    Raises:
        InputError: No such output, table, severity, split or folder.
    """
    output = open_output(Path(out))
    known = visual_tables(output.info) if output.info["builder"] == "perturbed" else []
    if name not in known:
        tables = ", ".join(known) or "none"
        raise InputError(f"{out} has no perturbation {name!r}. It has: {tables}.")
    if severity is not None:
        check_severity(severity, name)
    if split is not None and split not in output.splits(name):
        raise InputError(f"{out} has no split {split!r} of {name}. It has: {', '.join(output.splits(name))}.")
    if not Path(videos).is_dir():
        raise UsageError(f"there is no folder {videos}. Give the folder of the source videos as videos=.")
    settings = settings_of(output.info)
    rows = [
        row
        for row in output.rows(name, [column.name for column in COLUMNS], split)
        if severity is None or row["severity"] == severity
    ]
    if not rows:
        raise InputError(f"{out} has no {name} of severity {severity}. Its rows have others, or none were built.")
    found = find_videos([Path(videos)], {row["source_id"] for row in rows}, output.info["video_folders"])
    return PerturbedClips(rows, name, settings, found)
