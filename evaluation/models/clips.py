"""The frames that are shown with a question: at equal distances in time, as large as was asked for."""

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

from ...core.errors import InputError, UsageError, VideoError
from ...core.files import regular
from ...core.output import FinishedOutput, fitting
from ...core.schema import Config
from ...core.shards import group_rows, open_shard, read_footer
from ...video.decode import decode_at, with_index
from ...video.index import FrameIndex, index_frames, remembered_index
from ...video.pyav import to_rgb
from ...video.source_files import VIDEO_SUFFIXES, find_videos
from .questions import Clip, Question

Picture = NDArray[np.uint8]
PATCH = 28  # pixels of a side that Qwen2-VL and others make one token of


@dataclass(frozen=True)
class Sampling:
    """Which frames are shown, and how large.

    Attributes:
        frames: How many.
        size: Pixels of the longer side at most; 0: as they are.
        quality: Of the JPEGs that are sent, 1 to 100.
    """

    frames: int = 16
    size: int = 448
    quality: int = 90


@dataclass(frozen=True)
class View:
    """What is shown of a clip.

    Attributes:
        pictures: uint8 RGB, (height, width, 3) each, in order.
        quality: Of the JPEGs.
        video: The file; None where only frames are wanted.
    """

    pictures: tuple[Picture, ...]
    quality: int
    video: bytes | None = None

    @cached_property
    def jpegs(self) -> tuple[bytes, ...]:
        """The pictures as JPEG files."""
        found = []
        for picture in self.pictures:
            file = io.BytesIO()
            Image.fromarray(picture).save(file, "JPEG", quality=self.quality)
            found.append(file.getvalue())
        return tuple(found)

    @property
    def tokens(self) -> int:
        """About how many tokens the pictures are: one for 28 x 28 pixels, as Qwen2-VL counts."""
        return sum(math.ceil(p.shape[0] / PATCH) * math.ceil(p.shape[1] / PATCH) for p in self.pictures)


class ClipSource(Protocol):
    """Where the frames of clips come from."""

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return what is shown of a clip; `whole`: the file itself, not frames.

        Raises:
            InputError: There is no such clip.
            VideoError: It cannot be decoded.
        """


def uniform(index: FrameIndex, frames: range, count: int) -> list[int]:
    """Choose frames at equal distances in time: those on show in the middle of `count` equal parts of a stretch.

    Args:
        index: The video.
        frames: The stretch.
        count: How many; a short stretch has frames more than once.

    Returns:
        Frame indices, not decreasing.
    """
    start, end = index.boundary(frames.start), index.boundary(frames.stop)
    middles = [start + Fraction((2 * number + 1) * (end - start), 2 * count) for number in range(count)]
    places = np.searchsorted(index.pts, [math.floor(middle) for middle in middles], side="right") - 1
    return [int(place) for place in np.clip(places, frames.start, frames.stop - 1)]


def shrunk(picture: Picture, size: int) -> Picture:
    """Scale a picture down so that its longer side has `size` pixels at most; 0: not at all."""
    height, width = picture.shape[:2]
    longer = max(height, width)
    if not size or longer <= size:
        return picture
    small = (max(1, round(width * size / longer)), max(1, round(height * size / longer)))
    return np.asarray(Image.fromarray(picture).resize(small, Image.Resampling.BICUBIC))


def view_of_file(path: Path, clip: Clip, sampling: Sampling, index: Callable[..., FrameIndex]) -> View:
    """Decode the frames of a video file that are shown.

    Raises:
        VideoError: It cannot be decoded, or the part that is asked for has no frames (`too_short`).
    """

    def shown(index: FrameIndex) -> View:
        # Fraction(str): 0.4 is four tenths, not the float a little above them
        first = 0 if clip.start_s is None else index.first_at(Fraction(str(clip.start_s)))
        last = index.num_frames if clip.end_s is None else index.first_at(Fraction(str(clip.end_s)))
        if first >= last:
            raise VideoError("too_short", f"{path.name} shows nothing from {clip.start_s} to {clip.end_s} s.")
        chosen = uniform(index, range(first, last), sampling.frames)
        places = sorted(set(chosen))
        decoded = {
            place: shrunk(to_rgb(frame), sampling.size)
            for place, frame in zip(places, decode_at(index, places), strict=True)
        }
        return View(tuple(decoded[place] for place in chosen), sampling.quality)

    return with_index(path, shown, index)


@dataclass
class StoredClips:
    """The videos that an output holds.

    Attributes:
        output: The output.
    """

    output: FinishedOutput
    _places: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], tuple[Path, int, int]]] = field(
        default_factory=dict
    )
    _groups: OrderedDict[tuple[Path, int], list[dict[str, Any]]] = field(default_factory=OrderedDict)

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return what is shown of a stored video, which is held against its hash."""
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
        if (clip.table, names) not in self._places:
            self._places[clip.table, names] = self._index(clip.table, names)
        place = self._places[clip.table, names].get(values)
        if place is None:
            raise InputError(f"{self.output.path}, table {clip.table}, has no video {clip}.")
        path, group, number = place
        row = self._group(path, group)[number]
        content = (row["video"] or {}).get("bytes") or b""
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise InputError(f"video {clip} in {path} is not the one that was built; `stressreel verify` says more.")
        return content

    def _index(self, table: str, names: tuple[str, ...]) -> dict[tuple[Any, ...], tuple[Path, int, int]]:
        found = {}
        for path in self.output.shards(table):
            with open_shard(path) as file:
                for group in range(file.num_row_groups):
                    for number, row in enumerate(group_rows(file, group, names)):
                        found[tuple(row[name] for name in names)] = (path, group, number)
        return found

    def _group(self, path: Path, group: int) -> list[dict[str, Any]]:
        """Read the videos of a row group; the last two stay in memory, since questions come clip by clip."""
        if (path, group) not in self._groups:
            with open_shard(path) as file:
                self._groups[path, group] = list(group_rows(file, group, ["sha256", "video"]))
            while len(self._groups) > 2:
                self._groups.popitem(last=False)
        return self._groups[path, group]


@dataclass(frozen=True)
class FolderClips:
    """Videos in a folder, known by their names.

    Attributes:
        paths: Files by id.
    """

    paths: Mapping[str, Path]

    def view(self, clip: Clip, sampling: Sampling, *, whole: bool) -> View:
        """Return what is shown of a video; a part of a file cannot be had as a file."""
        path = self.paths.get(str(clip.key[0][1]))
        if path is None:
            raise InputError(f"there is no video {clip}.")
        if whole:
            if (clip.start_s, clip.end_s) != (None, None):
                raise InputError(f"of {path.name} a part is asked about; ask with frames, not --send video.")
            return View((), sampling.quality, regular(path).read_bytes())
        return view_of_file(path, clip, sampling, remembered_index)


def clips_in_folder(questions: Sequence[Question], folder: Path, subfolders: Sequence[str] = (".",)) -> FolderClips:
    """Find the videos of questions in a folder.

    Raises:
        UsageError: There is no such folder.
        InputError: Some videos are not in it, or a question names none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. Give the folder of the videos with --videos.")
    silent = next((question for question in questions if question.clip is None), None)
    if silent is not None:
        raise InputError(
            f"{silent.about['id']!r} names no video (a column video_id). Ask blind or text, or add it to every row."
        )
    names = {str(question.clip.key[0][1]) for question in questions if question.clip}
    found = find_videos([folder], names, subfolders)
    ended = {name for name in names - set(found) if Path(name).suffix.lower() in VIDEO_SUFFIXES}
    stems = find_videos([folder], {Path(name).stem for name in ended}, subfolders)
    found |= {name: stems[Path(name).stem] for name in ended if Path(name).stem in stems}
    missing = sorted(names - set(found))
    if missing:
        raise InputError(
            f"{len(missing)} of {len(names)} videos are not in {folder}, the first of them {missing[0]}. Name the "
            "folder that has them with --videos."
        )
    return FolderClips(found)


def holds_videos(output: FinishedOutput, configs: Iterable[Config], tables: Iterable[str]) -> bool:
    """Return whether tables of an output hold videos, and not only what they would be."""
    named = {config.name for config in configs if any(column.kind == "video" for column in config.columns)}
    return all(
        table in named
        and bool(output.shards(table))
        and "video" in read_footer(output.shards(table)[0]).schema.to_arrow_schema().names
        for table in tables
    )
