"""Compare encoded videos by small greyscale thumbnails of their frames."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log10

import av
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from .index import MOST_FRAMES
from .pyav import decoded, open_input, plane_view

SIDE = 32
TOLERANCE = 2.0  # grey levels; root mean square over a thumbnail
AT_ONCE = 128
MOST_CANDIDATES = 50_000  # frames of the source with which each frame is compared
MOST_THUMBNAILS = 200_000_000  # bytes; videos of more than 48,828 frames get smaller thumbnails
FILE_TAGS = ("major_brand", "minor_version", "compatible_brands")
STREAM_TAGS = {"language=und", "handler_name=VideoHandler", "handler_name=SoundHandler", "vendor_id=[0][0][0][0]"}
UNDECODABLE = (FFmpegError, ValueError, IndexError)


def frames_of(content: bytes) -> Iterator[av.VideoFrame]:
    """Decode an in-memory MP4 file from its beginning. Callers must not keep many frames (see `decoded`)."""
    with open_input(io.BytesIO(content)) as container:
        stream = container.streams.video[0]
        if stream.codec_context is None:
            raise ValueError("its codec cannot be decoded")
        stream.codec_context.thread_count = 1
        yield from decoded(container, stream, released=True)


def error_line(error: Exception) -> str:
    """Return the message of a decoding error as a single line."""
    return " ".join(str(error).split()) or type(error).__name__


def psnr(mean_square: float) -> float:
    """Convert a mean squared error in grey levels² to PSNR in dB, at most 100."""
    return 10 * log10(255**2 / max(mean_square, 255**2 * 1e-10))


@dataclass(frozen=True)
class Header:
    """What a file states about its content.

    Attributes:
        size: (width, height) of the first video track.
        tracks: Codec of each track and, for pictures, the pixel format: "h264 yuv420p", "aac".
        tags: Metadata that not every MP4 file contains, as "name=value".
        sound_start: Start of the sound, in seconds on the file's clock.
    """

    size: tuple[int, int]
    tracks: tuple[str, ...]
    tags: tuple[str, ...]
    sound_start: float


@dataclass(frozen=True)
class DecodedVideo:
    """The content of a decoded file.

    Attributes:
        sizes: (width, height) of the frames. A valid file has only one size.
        times: int64 of shape (num_frames + 1,), the start of each frame and the end of the last, in units of
            `time_base`.
        time_base: Unit of `times`, in seconds.
        pictures: Thumbnails, float32 of shape (num_frames, side²), or (num_frames, 0) if not requested.
    """

    sizes: frozenset[tuple[int, int]]
    times: NDArray[np.int64]
    time_base: Fraction
    pictures: NDArray[np.float32]
    header: Header

    @property
    def num_frames(self) -> int:
        """Return the number of frames."""
        return len(self.times) - 1

    @property
    def durations(self) -> NDArray[np.int64]:
        """Return the duration of each frame in units of `time_base`."""
        return np.diff(self.times)

    @property
    def seconds(self) -> Fraction:
        """Return the length of the file in seconds."""
        return int(self.times[-1] - self.times[0]) * self.time_base


def side_for(num_frames: int) -> int:
    """Return the side of thumbnails that fit in memory for a video with so many frames: 32, 16, 8 or 4."""
    return next((side for side in (SIDE, 16, 8) if 4 * side**2 * num_frames <= MOST_THUMBNAILS), 4)


def thumbnail(plane: NDArray[np.uint8], side: int = SIDE) -> NDArray[np.float32]:
    """Return the mean grey levels of a grid, row by row, as float32 of shape (side²,).

    Sums are computed with integers because matrix products would start one thread per core in every worker.
    """
    starts = [np.arange(side) * length // side for length in plane.shape]
    sizes = [np.maximum(np.diff(at, append=length), 1) for at, length in zip(starts, plane.shape, strict=True)]
    rows = np.add.reduceat(plane, starts[0], axis=0, dtype=np.uint32)
    means = np.add.reduceat(rows, starts[1], axis=1) / np.outer(*sizes)
    return np.asarray(means.ravel(), np.float32)


def decode_video(content: bytes, *, side: int = SIDE, most: int = MOST_FRAMES) -> DecodedVideo:
    """Decode a file of up to `most` frames, with thumbnails of `side` × `side`, or without any if it is 0.

    Raise one of `UNDECODABLE` if the file is damaged or has more frames.
    """
    small, times, sizes, last = bytearray(), array("q"), set(), None
    header = header_of(content)
    for frame in frames_of(content):
        if len(times) == most:
            raise ValueError(f"it has more than {most:,} frames")
        if side:
            small += thumbnail(plane_view(frame, 0), side).tobytes()
        times.append(frame.pts or 0)
        sizes.add((frame.width, frame.height))
        last = frame
    if last is None or last.time_base is None:
        raise ValueError("it contains no frame to display")
    pictures = np.frombuffer(small, np.float32).reshape(len(times), side**2)
    times.append(times[-1] + (last.duration or 0))
    return DecodedVideo(frozenset(sizes), np.frombuffer(times, np.int64), last.time_base, pictures, header)


def header_of(content: bytes) -> Header:
    """Read the header of a file. Raise one of `UNDECODABLE` if it is damaged."""
    sound_start, size = 0.0, (0, 0)
    with open_input(io.BytesIO(content)) as container:
        tracks, tags = [], [f"{name}={text}" for name, text in container.metadata.items() if name not in FILE_TAGS]
        for stream in container.streams:
            codec = getattr(stream, "codec_context", None)
            pixels = getattr(codec, "pix_fmt", None)
            if stream.type == "video" and codec and size == (0, 0):
                size = (codec.width, codec.height)
            tracks.append(" ".join(filter(None, (codec.name if codec else stream.type, pixels))))
            tags += sorted({f"{name}={text}" for name, text in stream.metadata.items()} - STREAM_TAGS)
            if stream.type == "audio" and stream.start_time and stream.time_base:
                sound_start = float(stream.start_time * stream.time_base)
    return Header(size, tuple(tracks), tuple(tags), sound_start)


def misplaced(
    shown: NDArray[np.float32], source: NDArray[np.float32], order: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Return the positions of frames that do not match the recorded order, with the source frames they resemble most.

    No source frame may resemble a frame more closely than the one that `order` records for it, beyond the codec's
    noise. Neighbouring frames that look alike cannot be distinguished. Of a longer source, up to 50,000 evenly spaced
    frames are compared with each frame.
    """
    step = -(-len(source) // MOST_CANDIDATES)
    candidates = source[::step]
    squares = (candidates**2).sum(1)
    distance, recorded = np.empty(len(order)), np.empty(len(order))
    closest = np.empty(len(order), np.int64)
    for start in range(0, len(order), AT_ONCE):
        part = np.s_[start : start + AT_ONCE]
        piece = shown[part]
        apart = np.maximum((piece**2).sum(1)[:, None] + squares - 2 * piece @ candidates.T, 0) / source.shape[1]
        closest[part] = apart.argmin(axis=1) * step
        distance[part] = np.sqrt(apart.min(axis=1))
        recorded[part] = np.sqrt(((piece - source[order[part]]) ** 2).mean(1))
    wrong = np.flatnonzero(recorded > distance + TOLERANCE + 3 * np.median(distance))
    return [(int(position), int(closest[position])) for position in wrong]
