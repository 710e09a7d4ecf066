"""Select, decode and scale the frames that are shown with a question."""

from __future__ import annotations

import hashlib
import io
import math
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...core.errors import InputError, UsageError
from ...core.files import regular
from ...core.output import FinishedOutput, fitting
from ...core.schema import Config
from ...core.shards import group_rows, open_shard, read_footer
from ...video.decode import decode_at, upright, with_index
from ...video.frames import at_rate, frames_between, uniform
from ...video.index import FrameIndex, index_frames, remembered_index
from ...video.pyav import to_rgb
from ...video.source_files import find_videos
from .question_set import Clip, Question

Picture = NDArray[np.uint8]
MOST_FRAMES = 1024  # of one clip
PATCH = 28  # side length in pixels of the patches that Qwen2-VL and others convert to one token


@dataclass(frozen=True)
class Sampling:
    """How many frames of a clip are shown, and at which size.

    Attributes:
        size: Maximum length of the longer side in pixels; 0 keeps the original size.
        fps: Frames per second, instead of a fixed number of frames.
    """

    frames: int = 16
    size: int = 448
    quality: int = 90
    fps: float | None = None

    def chosen(self, index: FrameIndex, stretch: range, start: Fraction) -> list[int]:
        """Choose frames from a stretch that starts at `start` seconds, by `uniform` or `at_rate`."""
        if self.fps is None:
            return uniform(index, stretch, self.frames)
        return at_rate(index, stretch, self.fps, start, MOST_FRAMES)

    def as_json(self) -> dict[str, Any]:
        """Return the settings for the record of a run."""
        frames = {"frames": self.frames} if self.fps is None else {"fps": self.fps}
        return {**frames, "size": self.size, "quality": self.quality}


@dataclass(frozen=True)
class Timing:
    """Times of the selected frames, on the grid of constant rate that processors of transformers expect.

    Attributes:
        fps: Mean frame rate of the clip.
        num_frames: Number of frames in the clip.
        positions: Position of each selected frame. Dividing it by `fps` gives seconds from the start of the clip.
    """

    fps: float
    num_frames: int
    positions: tuple[int, ...]


def timing_of(index: FrameIndex, stretch: range, chosen: Sequence[int]) -> Timing:
    """Return the times of frames that were chosen from a stretch of a video."""
    start = index.seconds(stretch.start)
    fps = len(stretch) / (index.seconds(stretch.stop) - start)
    positions = [min(round((index.seconds(frame) - start) * fps), len(stretch) - 1) for frame in chosen]
    return Timing(float(fps), len(stretch), tuple(positions))


@dataclass(frozen=True)
class View:
    """The frames of a clip, or its file.

    Attributes:
        pictures: uint8 RGB arrays of shape (height, width, 3), in order.
        video: Content of the file, or None if only frames are shown.
        timing: Times of the pictures in the clip, or None if unknown.
    """

    pictures: tuple[Picture, ...]
    quality: int
    video: bytes | None = None
    timing: Timing | None = None

    @cached_property
    def jpegs(self) -> tuple[bytes, ...]:
        """The pictures, encoded as JPEG."""
        files = []
        for picture in self.pictures:
            file = io.BytesIO()
            Image.fromarray(picture).save(file, "JPEG", quality=self.quality)
            files.append(file.getvalue())
        return tuple(files)

    @property
    def tokens(self) -> int:
        """Approximate number of tokens: one per 28 x 28 pixels, as in Qwen2-VL."""
        return sum(math.ceil(p.shape[0] / PATCH) * math.ceil(p.shape[1] / PATCH) for p in self.pictures)


class ClipSource(Protocol):
    """Interface of objects that provide the clips of questions."""

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return the frames of a clip, or its file if `whole`.

        Raises:
            InputError: The clip does not exist.
            VideoError: The clip cannot be decoded.
        """


def shrunk(picture: Picture, size: int) -> Picture:
    """Scale a picture down to at most `size` pixels on its longer side, or return it unchanged if `size` is 0."""
    height, width = picture.shape[:2]
    longer = max(height, width)
    if not size or longer <= size:
        return picture
    small = (max(1, round(width * size / longer)), max(1, round(height * size / longer)))
    return np.asarray(Image.fromarray(picture).resize(small, Image.Resampling.BICUBIC))


def view_of_file(path: Path, clip: Clip, sampling: Sampling, index: Callable[..., FrameIndex]) -> View:
    """Decode the frames of a video file that `sampling` selects.

    Raises:
        VideoError: The file cannot be decoded, or does not show the clip (`too_short`).
    """

    def shown(index: FrameIndex) -> View:
        # Fraction(str) is exact: 0.4 is four tenths, unlike the float, which is slightly larger
        start = index.seconds(0) if clip.start_s is None else Fraction(str(clip.start_s))
        end = index.seconds(index.num_frames) if clip.end_s is None else Fraction(str(clip.end_s))
        until = "its end" if clip.end_s is None else f"{clip.end_s:g} s"
        stretch = frames_between(index, start, end, f"the question is about {clip.start_s or 0:g} s to {until}")
        chosen = sampling.chosen(index, stretch, Fraction(str(clip.start_s or 0)))
        needed = sorted(set(chosen))
        decoded = {
            position: shrunk(to_rgb(upright(frame)), sampling.size)
            for position, frame in zip(needed, decode_at(index, needed), strict=True)
        }
        pictures = tuple(decoded[position] for position in chosen)
        return View(pictures, sampling.quality, timing=timing_of(index, stretch, chosen))

    return with_index(path, shown, index)


@dataclass
class StoredClips:
    """Clips that are stored in the tables of an output."""

    output: FinishedOutput
    _locations: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], tuple[Path, int, int]]] = field(
        default_factory=dict
    )
    _groups: OrderedDict[tuple[Path, int], list[dict[str, Any]]] = field(default_factory=OrderedDict)

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return the frames or the file of a stored video, after checking its SHA-256."""
        with fitting(self.output.path):
            content = self._read(clip)
        if whole:
            return View((), sampling.quality, content)
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            path = Path(folder) / "clip.mp4"
            path.write_bytes(content)
            return view_of_file(path, clip, sampling, index_frames)

    def _read(self, clip: Clip) -> bytes:
        names, values = (tuple(part) for part in zip(*clip.key, strict=True))
        if (clip.table, names) not in self._locations:
            self._locations[clip.table, names] = self._index(clip.table, names)
        location = self._locations[clip.table, names].get(values)
        if location is None:
            raise InputError(f"{self.output.path}, table {clip.table}, has no video {clip}.")
        path, group, row_number = location
        row = self._group(path, group)[row_number]
        content = (row["video"] or {}).get("bytes") or b""
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise InputError(
                f"video {clip} in {path} has changed since the build. Run `stressreel verify` for details."
            )
        return content

    def _index(self, table: str, names: tuple[str, ...]) -> dict[tuple[Any, ...], tuple[Path, int, int]]:
        locations = {}
        for path in self.output.shards(table):
            with open_shard(path) as file:
                for group in range(file.num_row_groups):
                    for row_number, row in enumerate(group_rows(file, group, names)):
                        locations[tuple(row[name] for name in names)] = (path, group, row_number)
        return locations

    def _group(self, path: Path, group: int) -> list[dict[str, Any]]:
        """Return the videos of a row group, caching the last two groups, since questions are ordered by clip."""
        if (path, group) not in self._groups:
            with open_shard(path) as file:
                self._groups[path, group] = list(group_rows(file, group, ["sha256", "video"]))
            while len(self._groups) > 2:
                self._groups.popitem(last=False)
        return self._groups[path, group]


@dataclass(frozen=True)
class FolderClips:
    """Clips of videos in a folder, by video id."""

    paths: Mapping[str, Path]

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return the frames of a clip, or the file of a complete video."""
        path = self.paths.get(str(clip.key[0][1]))
        if path is None:
            raise InputError(f"there is no video {clip}.")
        if whole:
            if (clip.start_s, clip.end_s) != (None, None):
                raise InputError(
                    f"--send video cannot be used: a question is about only a part of {path.name}. Use --send frames "
                    "instead."
                )
            return View((), sampling.quality, regular(path).read_bytes())
        return view_of_file(path, clip, sampling, remembered_index)


def clips_in_folder(questions: Sequence[Question], folder: Path, subfolders: Sequence[str] = (".",)) -> FolderClips:
    """Locate the videos to which questions refer in a folder.

    Raises:
        UsageError: The folder does not exist.
        InputError: Videos are missing, or a question has none.
    """
    if not folder.is_dir():
        raise UsageError(f"folder {folder} does not exist. Use --videos to specify the folder with the videos.")
    silent = next((question for question in questions if question.clip is None), None)
    if silent is not None:
        raise InputError(
            f"question {silent.about['id']!r} has no video. Add a `video_id` column, or use --modalities blind or text."
        )
    names = {str(question.clip.key[0][1]) for question in questions if question.clip}
    paths = find_videos([folder], names, subfolders)
    missing = sorted(names - set(paths))
    if missing:
        raise InputError(
            f"{len(missing)} of {len(names)} videos are missing from {folder}, such as {missing[0]}. Use --videos to "
            "specify the folder with the videos."
        )
    return FolderClips(paths)


def holds_videos(output: FinishedOutput, configs: Iterable[Config], tables: Iterable[str]) -> bool:
    """Return whether all of these tables of an output contain videos."""
    named = {config.name for config in configs if any(column.kind == "video" for column in config.columns)}
    return all(
        table in named
        and bool(output.shards(table))
        and "video" in read_footer(output.shards(table)[0]).schema.to_arrow_schema().names
        for table in tables
    )
