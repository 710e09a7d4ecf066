"""Select frames of a video, by count, rate, number or interval, and decode them into an array."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, UsageError, VideoError
from ..core.files import regular
from ..core.rows import is_path
from .decode import decode_at, upright, with_index
from .index import FrameIndex
from .pyav import to_rgb

MOST_FRAMES = 10_000  # maximum per call


def frames(
    video: Mapping[str, Any] | bytes | Path | str,
    *,
    count: int | None = None,
    fps: float | None = None,
    indices: Sequence[int] | None = None,
) -> NDArray[np.uint8]:
    """Decode frames of a video with PyAV, which needs neither torchcodec nor an FFmpeg installation.

    Only the requested frames and those they depend on are decoded. `count` selects the same frames as `stressreel ask`.

    Args:
        video: A row of a table of videos, the value of its column `video` (a dictionary with `bytes` and `path`, or
            the decoder that `datasets` makes of it), the bytes of a video file, or its path.
        count: Number of frames. The video is divided into this many equal parts and the middle frame of each is
            returned. Short videos repeat some frames.
        fps: Frames per second. Returns the frames displayed at 0, 1/fps, 2/fps, ... seconds.
        indices: Frame numbers, counted from 0, in any order.

    Returns:
        RGB frames, uint8 of shape (frames, height, width, 3).

    Raises:
        UsageError: Not exactly one of count, fps and indices is given, its value is not allowed, or the file does not
            exist.
        InputError: `video` contains no video.
        VideoError: The video cannot be decoded.
    """
    if sum(choice is not None for choice in (count, fps, indices)) != 1:
        raise UsageError("pass exactly one of count, fps and indices, for example frames(row, count=16).")
    if (count is not None and not 0 < count <= MOST_FRAMES) or (fps is not None and not 0 < fps <= MOST_FRAMES):
        raise UsageError(f"count={count}, fps={fps}: the value must be above 0 and at most {MOST_FRAMES:,}.")

    def choose(index: FrameIndex) -> list[int]:
        if count is not None:
            return uniform(index, range(index.num_frames), count)
        if fps is not None:
            return at_rate(index, range(index.num_frames), fps)
        chosen = [int(frame) for frame in indices or ()]
        if not all(0 <= frame < index.num_frames for frame in chosen) or len(chosen) > MOST_FRAMES:
            raise UsageError(f"indices: the video has {index.num_frames:,} frames, counted from 0; got {chosen[:5]}.")
        return chosen

    def read(index: FrameIndex) -> NDArray[np.uint8]:
        chosen = choose(index)
        if not chosen:
            return np.zeros((0, 0, 0, 3), np.uint8)
        decoded, order = np.unique(chosen, return_inverse=True)
        return np.stack([to_rgb(upright(frame)) for frame in decode_at(index, decoded.tolist())])[order]

    with _file_of(video) as path:
        return with_index(path, read)


def uniform(index: FrameIndex, stretch: range, count: int) -> list[int]:
    """Divide a range of frames into `count` equal parts and return the middle frame of each, repeating if needed."""
    start, end = index.boundary(stretch.start), index.boundary(stretch.stop)
    middles = [start + Fraction((2 * part + 1) * (end - start), 2 * count) for part in range(count)]
    return _shown_at(index, stretch, middles)


def at_rate(
    index: FrameIndex, stretch: range, fps: float, start: Fraction = Fraction(0), most: int = MOST_FRAMES
) -> list[int]:
    """Return the frames displayed 0, 1/fps, 2/fps, ... seconds after `start`, which is in seconds from time 0.

    Raises:
        UsageError: The rate selects more than `most` frames.
    """
    rate = Fraction(fps)
    count = math.ceil((index.seconds(stretch.stop) - start) * rate)
    if count > most:
        raise UsageError(f"fps={fps} selects {count:,} frames; the limit is {most:,}.")
    return _shown_at(index, stretch, [(start + step / rate + index.zero) / index.time_base for step in range(count)])


def _shown_at(index: FrameIndex, stretch: range, timestamps: Sequence[Fraction]) -> list[int]:
    """Return the frames of a stretch that are displayed at timestamps, in units of the time base."""
    frames = np.searchsorted(index.pts, [math.floor(timestamp) for timestamp in timestamps], side="right") - 1
    return [int(frame) for frame in np.clip(frames, stretch.start, stretch.stop - 1)]


@contextmanager
def _file_of(video: Mapping[str, Any] | bytes | Path | str) -> Iterator[Path]:
    """Yield the path of a video. If only its bytes are known, write them to a temporary file.

    Raises:
        UsageError: The file does not exist, or is not a file.
        InputError: There is no video, or it is empty.
    """
    content: Any = video
    if isinstance(content, Mapping) and "video" in content:
        content = content["video"]
    content = getattr(content, "_hf_encoded", content)  # of a decoder that `datasets` made
    if isinstance(content, Mapping):
        content = content.get("bytes") or content.get("path")
    if isinstance(content, bytes | bytearray | memoryview):
        if not content:
            raise InputError("the video is empty (0 bytes). Pass the content of a video file.")
        with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
            file.write(content)
            file.flush()
            yield Path(file.name)
    elif is_path(content):
        yield _existing(os.fspath(content))
    else:
        raise InputError(
            f"{type(video).__name__} contains no video. Expected a row of a table of videos, or the bytes or path of a "
            "video file."
        )


def _existing(name: str) -> Path:
    """Return the path of a video file, or raise UsageError if there is no such file, or InputError if it is empty."""
    path = Path(name).expanduser()
    if not name.strip():
        raise UsageError("the path of the video is empty. Pass the path of a video file.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", name):
        raise UsageError(f"{name} is an address, which is not downloaded. Download the video, and pass its path.")
    if path.is_dir():
        raise UsageError(f"{name} is a folder. Pass the path of a video file in it.")
    if not path.exists():
        raise UsageError(
            f"{name} does not exist (looked in {path.absolute().parent}). Check the path of the video file."
        )
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{name} is empty (0 bytes). Copy or download the video again.")
    return regular(path)


# Intervals, with one tolerance for all builders: the picture may start or end half a second inside an interval, because
# recordings and annotations are inexact. If more is missing, at either side, the interval is refused, so that no clip
# shows only a part of what its annotation describes.

TOLERANCE_S = Fraction(1, 2)


def exact(seconds: float) -> Fraction:
    """Return an annotated time, in whole milliseconds, as a fraction: 0.4 is four tenths, unlike the float."""
    return Fraction(round(seconds * 1000), 1000)


def frames_between(index: FrameIndex, start: Fraction, end: Fraction, wanted: str) -> range:
    """Return the frames that start in `[start, end)` seconds.

    Raises:
        VideoError: There are none, or they start or end more than half a second apart from the interval, because the
            picture does or a frame is held (`too_short`). `wanted` names the interval, as in "the clip x spans 1 to 2
            s".
    """
    check_shown(index, start, end, wanted)
    frames = range(index.first_at(start), index.first_at(end))
    if not frames and (start >= index.seconds(index.num_frames) or end <= index.seconds(0)):
        raise not_shown(index, wanted)
    for edge, frame in ((start, frames.start), (end, frames.stop)):
        if not frames or index.seconds(frame) - edge > TOLERANCE_S:
            span = f"{float(index.seconds(frame - 1)):.2f} to {float(index.seconds(frame)):.2f} s"
            raise VideoError("too_short", f"{index.path.name} has a single frame from {span}, but {wanted}")
    return frames


def check_shown(index: FrameIndex, start: Fraction, end: Fraction, wanted: str) -> None:
    """Raise VideoError (`too_short`) if more than half a second at either side of an interval has no picture."""
    if start + TOLERANCE_S < index.seconds(0) or index.seconds(index.num_frames) < end - TOLERANCE_S:
        raise not_shown(index, wanted)


def shown_times(index: FrameIndex, start_s: float, end_s: float) -> tuple[float, float]:
    """Limit an interval to the picture, rounded outward to the millisecond so that it contains the same frames."""
    first, last = (index.seconds(frame) * 1000 for frame in (0, index.num_frames))
    return max(start_s, math.floor(first) / 1000), min(end_s, math.ceil(last) / 1000)


def not_shown(index: FrameIndex, wanted: str) -> VideoError:
    """Return the error that a video has no picture where `wanted` requires one. It states where the picture is."""
    first, last = (float(index.seconds(frame)) for frame in (0, index.num_frames))
    frames = f"{index.num_frames:,} frame{'s' * (index.num_frames != 1)}"
    picture = f"has a picture from {first:.2f} to {last:.2f} s ({frames})"
    return VideoError("too_short", f"{index.path.name} {picture}, but {wanted}")
