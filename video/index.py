"""Determine which frames a video file actually displays, and when, from its packets rather than its header.

All builders follow these rules:

* The video stream is the one that FFmpeg considers the best, as in players and decord.
* Time 0 is the earliest start of picture or sound. A file whose first timestamp is 10 s starts at 0, and a picture that
  starts one second after the sound starts at 1 s.
* A frame is displayed from its presentation timestamp to that of the next frame. Edit lists are applied, so discarded
  frames do not count. Files without timestamps (raw H.264, H.264 with B-frames in AVI) get timestamps at the nominal
  rate.
* `[start, end)` in seconds contains the frames whose timestamps lie within it, compared exactly as fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from pathlib import Path

import av
import av.container
import numpy as np
from av.error import FFmpegError
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..core.errors import VideoError
from .pyav import decoded, demuxed, open_input


@dataclass(frozen=True)
class FrameIndex:
    """The displayed frames of a video in presentation order.

    Attributes:
        pts: int64 of shape (num_frames,), strictly increasing, in units of `time_base`.
        end: End of the last frame, in units of `time_base`.
        time_base: Unit of timestamps, in seconds.
        zero: Time 0 of the file on the stream's clock, in seconds.
        keyframes: int64, increasing timestamps at which decoding can start; may be empty.
        timed: False if the file has no timestamps and `pts` counts frames at the nominal rate.
    """

    path: Path
    pts: NDArray[np.int64]
    end: int
    time_base: Fraction
    zero: Fraction
    keyframes: NDArray[np.int64]
    timed: bool = True

    @property
    def num_frames(self) -> int:
        """Return the number of displayed frames."""
        return len(self.pts)

    def boundary(self, index: int) -> int:
        """Return the timestamp at which frame `index` starts. For `num_frames`, return the end of the video."""
        return int(self.pts[index]) if index < len(self.pts) else self.end

    def seconds(self, index: int) -> Fraction:
        """Return the time at which frame `index` starts, in seconds from time 0. For `num_frames`, return the end."""
        return self.boundary(index) * self.time_base - self.zero

    def at(self, pts: int) -> float:
        """Convert a timestamp to seconds from time 0."""
        return float(pts * self.time_base - self.zero)

    def first_at(self, seconds: Fraction) -> int:
        """Return the first frame that starts at or after a time in seconds, or `num_frames` if there is none."""
        return int(np.searchsorted(self.pts, ceil((seconds + self.zero) / self.time_base)))


MOST_FRAMES = 4_000_000  # maximum per file: 37 hours at 30 frames per second
MOST_HOURS = 1000


class IndexMismatchError(Exception):
    """Raised if decoded frames differ from those that the packets announce, so that indexing requires decoding."""


@contextmanager
def open_video(path: Path) -> Iterator[tuple[av.container.InputContainer, VideoStream]]:
    """Open a file and select its video stream. Decoding uses one thread, as builds run several processes.

    Raises:
        VideoError: The file cannot be opened or has no picture (`unreadable_video`), or decoding fails inside the
            `with` block (`undecodable`).
    """
    try:
        container = open_input(path)
    except (FFmpegError, OSError, ValueError) as error:
        raise VideoError("unreadable_video", f"{path.name}: {words(error)}") from error
    with container:
        stream = container.streams.best("video")
        if not isinstance(stream, VideoStream) or stream.codec_context is None:
            raise VideoError("unreadable_video", f"{path.name}: it contains no decodable video stream")
        stream.codec_context.thread_count = 1
        try:
            yield container, stream
        except FFmpegError as error:
            raise VideoError("undecodable", f"{path.name}: {words(error)}") from error


def check_opens(path: Path) -> None:
    """Raise VideoError (`unreadable_video`) if a file cannot be opened or has no video stream."""
    with open_video(path):
        pass


def words(error: Exception) -> str:
    """Return the decoder's error message, with the last line of its log if there is one."""
    text = getattr(error, "strerror", None) or str(error)
    log = getattr(error, "log", None)
    return f"{text} ({log[1]}: {log[2].strip()})" if log else text


def index_frames(path: Path, *, decode: bool = False) -> FrameIndex:
    """Build the frame index of a video.

    By default, only packets are read, which takes milliseconds, and frames are checked when they are decoded later.
    With `decode`, the entire file is decoded instead.

    Raises:
        VideoError: The file cannot be read or contains no frames.
    """
    with open_video(path) as (container, stream):
        _check_count(path, stream.frames)
        zero = _zero(container)
        time_base = Fraction(stream.time_base or 0)
        rate = stream.guessed_rate or stream.average_rate or stream.base_rate
        timestamps: list[int | None] = []
        durations: dict[int, int] = {}
        keyframes: list[int] = []
        if decode:
            for frame in decoded(container, stream, released=True):
                timestamps.append(frame.pts)
                durations[frame.pts or 0] = frame.duration
                _check_count(path, len(timestamps))
        else:
            for packet in demuxed(container, stream):
                if packet.is_discard or (packet.pts is None and packet.size == 0):
                    continue
                timestamps.append(packet.pts)
                durations[packet.pts or 0] = packet.duration or 0
                _check_count(path, len(timestamps))
                if packet.is_keyframe and packet.pts is not None:
                    keyframes.append(packet.pts)
    if not timestamps:
        raise VideoError("undecodable", f"{path.name}: none of its frames can be decoded")
    made_up = decode and not any(pts is None for pts in timestamps) and _distinct_but_unordered(timestamps)
    if time_base == 0 or made_up or any(pts is None for pts in timestamps):
        if not rate:
            raise VideoError("undecodable", f"{path.name}: it contains neither timestamps nor a frame rate")
        count = len(timestamps)
        pts = np.arange(count, dtype=np.int64) * rate.denominator
        time_base, none = Fraction(1, rate.numerator), np.empty(0, np.int64)
        return _bounded(FrameIndex(path, pts, count * rate.denominator, time_base, Fraction(0), none, timed=False))
    pts = np.array(timestamps, np.int64)
    if not decode:
        pts.sort()
    if np.any(np.diff(pts) <= 0):
        if not decode:
            return index_frames(path, decode=True)
        raise VideoError("undecodable", f"{path.name}: its timestamps do not increase")
    last = int(pts[-1])
    usual = int(np.median(np.diff(pts))) if len(pts) > 1 else 1
    end = last + (durations.get(last) or usual)
    return _bounded(FrameIndex(path, pts, end, time_base, zero, np.unique(np.array(keyframes, np.int64))))


def _check_count(path: Path, count: int) -> None:
    if count > MOST_FRAMES:
        raise VideoError("undecodable", f"{path.name}: it has more than {MOST_FRAMES:,} frames")


def _bounded(index: FrameIndex) -> FrameIndex:
    """Raise VideoError if the file declares an excessive number of frames or hours."""
    if max(index.seconds(index.num_frames), -index.seconds(0)) > MOST_HOURS * 3600:
        raise VideoError("undecodable", f"{index.path.name}: it lasts more than {MOST_HOURS:,} hours")
    return index


def _distinct_but_unordered(timestamps: list[int | None]) -> bool:
    """Return whether the timestamps of frames in presentation order are distinct but not in order.

    This happens in containers without presentation times (AVI) if the codec reorders frames.
    """
    values = [pts for pts in timestamps if pts is not None]
    return len(set(values)) == len(values) and values != sorted(values)


def _zero(container: av.container.InputContainer) -> Fraction:
    """Return the exact start of picture or sound, whichever is earlier. The container rounds it to microseconds."""
    starts = [
        stream.start_time * Fraction(stream.time_base)
        for stream in (*container.streams.video, *container.streams.audio)
        if stream.start_time is not None and stream.time_base
    ]
    return min(starts, default=Fraction(0))


@lru_cache(maxsize=256)
def _index_of(path: Path, size: int, changed_ns: int, decode: bool) -> FrameIndex:
    return index_frames(path, decode=decode)


def remembered_index(path: Path, *, decode: bool = False) -> FrameIndex:
    """Return the frame index of a video, from a cache unless the file has changed."""
    try:
        stat = path.stat()
    except OSError:
        return index_frames(path, decode=decode)
    return _index_of(path, stat.st_size, stat.st_mtime_ns, decode)
