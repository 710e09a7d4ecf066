"""Determine which frames a video file actually displays, and when, from its packets rather than its header.

All builders follow these rules:

* The video stream is the one that FFmpeg considers the best, as in players and decord.
* Time 0 is the earliest start of picture or sound. A file whose first timestamp is 10 s starts at 0, and a picture that
  starts one second after the sound starts at 1 s.
* A frame is displayed from its presentation timestamp to that of the next frame. Edit lists are applied, so discarded
  frames do not count.
* If some presentation timestamps are missing in a file, they lie evenly between their neighbours.
* If a file stores only when frames are decoded (AVI, in which empty chunks count), a frame is presented when the
  decoder outputs it, and the first frame at the time of its packet. The last frames, of which this is unknown, follow
  at regular intervals. Timestamps that are copies of decode times are replaced in the same way.
* Such a file is rejected if the result ends more than two frames before or after the end that its header states for
  the video stream, or if the intervals before the last frames are irregular.
* If a file stores no times (raw H.264), frames are displayed at the nominal rate, which the output notes.
* `[start, end)` in seconds contains the frames whose timestamps lie within it, compared exactly as fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TypeVar

import av
import av.container
import numpy as np
from av.error import FFmpegError
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..core.errors import VideoError
from .pyav import decoded, decoded_packet, demuxed, open_input

T = TypeVar("T")


@dataclass(frozen=True)
class Stamps:
    """The presentation times of frames by their packets, for containers in which some are missing.

    Attributes:
        by_dts: Whether packets are identified by decode time, which allows seeking, or else by number from the start.
    """

    by_dts: bool
    pts: Mapping[int | None, int]

    def on(self, packets: Iterable[av.Packet[VideoStream]]) -> Iterator[av.Packet[VideoStream]]:
        """Set the presentation times of packets. Packets without a frame get none."""
        for number, packet in enumerate(packets):
            if packet.size:
                packet.pts = self.pts.get(packet.dts if self.by_dts else number)
            yield packet


@dataclass(frozen=True)
class FrameIndex:
    """The displayed frames of a video in presentation order.

    Attributes:
        pts: int64 of shape (num_frames,), strictly increasing, in units of `time_base`.
        end: End of the last frame, in units of `time_base`.
        time_base: Unit of timestamps, in seconds.
        zero: Time 0 of the file on the stream's clock, in seconds.
        keyframes: int64, increasing timestamps at which decoding can start; may be empty.
        timed: False if the file stores no times at all, so that `pts` follows from the nominal rate.
        stamps: Times to set on the packets before decoding if those in the container are incomplete, else None.
    """

    path: Path
    pts: NDArray[np.int64]
    end: int
    time_base: Fraction
    zero: Fraction
    keyframes: NDArray[np.int64]
    timed: bool = True
    stamps: Stamps | None = None

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
STATE_ENDS = ("avi", "mpeg", "mpegts", "mxf")  # formats besides MP4 that tell where the video stream ends
LAST = 30  # intervals that must be regular if the times of the last frames follow from them


class IndexMismatchError(Exception):
    """Raised if decoded frames differ from those that the packets announce, so that indexing requires decoding."""


@contextmanager
def open_video(path: Path, *, infer_times: bool = True) -> Iterator[tuple[av.container.InputContainer, VideoStream]]:
    """Open a file and select its video stream. Decoding uses one thread, as builds run several processes.

    Without `infer_times`, packets have only those timestamps and durations that the container stores.

    Raises:
        VideoError: The file cannot be opened or has no picture (`unreadable_video`), or decoding fails inside the
            `with` block (`undecodable`).
    """
    try:
        container = open_input(path, infer_times=infer_times)
    except (FFmpegError, OSError, ValueError) as error:
        raise VideoError("unreadable_video", f"{path.name}: {error_text(error)}") from error
    with container:
        stream = container.streams.best("video")
        if not isinstance(stream, VideoStream) or stream.codec_context is None:
            raise VideoError("unreadable_video", f"{path.name}: it contains no decodable video stream")
        stream.codec_context.thread_count = 1
        try:
            yield container, stream
        except FFmpegError as error:
            raise VideoError("undecodable", f"{path.name}: {error_text(error)}") from error


def check_opens(path: Path) -> None:
    """Raise VideoError (`unreadable_video`) if a file cannot be opened or has no video stream."""
    with open_video(path):
        pass


def error_text(error: Exception) -> str:
    """Return the decoder's error message, with the last line of its log if there is one."""
    text = getattr(error, "strerror", None) or str(error)
    log = getattr(error, "log", None)
    return f"{text} ({log[1]}: {log[2].strip()})" if log else text


def index_frames(path: Path, *, decode: bool = False) -> FrameIndex:
    """Build the frame index of a video.

    By default, only packets are read, which takes milliseconds, and frames are checked when they are decoded later.
    The entire file is decoded with `decode`, or if the order of its frames is needed to determine their times.

    Raises:
        VideoError: The file cannot be read, contains no frames, or contains contradictory times.
    """
    media = _read(path)
    times = [packet.pts for packet in media.packets]
    if None in times or not media.inferable or not media.time_base:
        return _reconstructed(media, in_order=decode or media.reorders)
    durations = {packet.pts: packet.duration for packet in media.packets}
    keyframes = [packet.pts for packet in media.packets if packet.is_keyframe] if media.timed and not decode else []
    # Frames that are stored in order although the decoder expects another order may have decode times instead.
    if decode or len(set(times)) < len(times) or (media.reorders and _increase(times)):
        with open_video(path) as (container, stream):
            frames = [(frame.pts, frame.duration) for frame in decoded(container, stream, released=True)]
        times, durations = [pts for pts, _ in frames], dict(frames)
        if None in times or not _increase(times):
            return _reconstructed(media, in_order=True)
    pts = np.sort(np.array(_any(path, times), np.int64))
    end = int(pts[-1]) + (durations.get(int(pts[-1])) or _usual_step(pts))
    keys = np.unique(np.array(keyframes, np.int64))
    zero = media.zero if media.timed else int(pts[0]) * media.time_base
    return _bounded(FrameIndex(path, pts, end, media.time_base, zero, keys, media.timed))


@dataclass(frozen=True)
class _Packet:
    """What a container says about a packet. `number` counts all packets of the stream."""

    number: int
    pts: int | None
    dts: int | None
    duration: int
    is_keyframe: bool


@dataclass(frozen=True)
class _Media:
    """What a container says about its video stream.

    Attributes:
        packets: The packets that contain frames, with timestamps that FFmpeg infers if they are not stored.
        stored: The same packets, with stored timestamps only.
        end: End of the stream according to the container, in units of `time_base`, or None if it is not stated.
        end_is_bound: Whether `end` is that of the container, which other streams may reach later than the picture.
        reorders: Whether frames may be stored in an order that differs from that of presentation.
        rate: Nominal frame rate, or 0 if it is not stated.
    """

    path: Path
    format: str
    packets: Sequence[_Packet]
    stored: Sequence[_Packet]
    time_base: Fraction
    zero: Fraction
    end: int | None
    end_is_bound: bool
    reorders: bool
    rate: Fraction

    @property
    def inferable(self) -> bool:
        """Return whether the times that FFmpeg infers can be used.

        They are reliable if nothing is missing or nothing is stored, and in MPEG program and transport streams, which
        store few times by design. Otherwise, they may be invented: AVI only stores when frames are decoded.
        """
        missing = any(packet.pts is None for packet in self.stored)
        return not (missing and _stored_times(self.stored)) or self.format in ("mpeg", "mpegts")

    @property
    def only_decode_times(self) -> bool:
        """Return whether the container does not store when frames are presented."""
        return all(packet.pts is None for packet in self.stored)

    @property
    def timed(self) -> bool:
        """Return whether the container stores times or durations."""
        return any(packet.pts is not None or packet.dts is not None or packet.duration for packet in self.stored)


def _read(path: Path) -> _Media:
    with open_video(path) as (container, stream):
        _check_count(path, stream.frames)
        packets = _packets(path, container, stream)
        time_base, zero = Fraction(stream.time_base or 0), _zero(container)
        rate = Fraction(stream.guessed_rate or stream.average_rate or stream.base_rate or 0)
        kind = container.format.name
        # In AVI, `frames` counts chunks, including empty ones, whereas FFmpeg may replace the duration by an estimate.
        duration = stream.frames or None if kind == "avi" else stream.duration
        end = None if duration is None else duration + (stream.start_time or 0)
        reorders = stream.codec_context.has_b_frames
    stored = packets
    if "mp4" not in kind:  # in which every packet has both times
        with open_video(path, infer_times=False) as (container, stream):
            stored = _packets(path, container, stream)
    bound = not (kind in STATE_ENDS or "mp4" in kind)
    return _Media(path, kind, packets, stored, time_base, zero, end, bound, reorders, rate)


def _packets(path: Path, container: av.container.InputContainer, stream: VideoStream) -> list[_Packet]:
    packets: list[_Packet] = []
    for number, packet in enumerate(demuxed(container, stream)):
        if not packet.is_discard and (packet.pts is not None or packet.size):
            packets.append(_Packet(number, packet.pts, packet.dts, packet.duration or 0, packet.is_keyframe))
            _check_count(path, len(packets))
    return _any(path, packets)


def _reconstructed(media: _Media, *, in_order: bool) -> FrameIndex:
    """Build the index of a video whose presentation times are not all stored.

    With `in_order`, the file is decoded to determine the order of its frames. Otherwise, it is that of the packets.

    Raises:
        VideoError: The times are contradictory, or differ from the end that the container states by more than two
            frames.
    """
    path, stored = media.path, {packet.number: packet for packet in media.stored}
    order, delay = _presentation(path) if in_order else (list(stored), 0)
    if len(set(order)) < len(order) or not stored.keys() >= set(order):
        raise VideoError("undecodable", f"{path.name}: it has packets with several frames, whose times are unknown")
    packets = [stored[number] for number in sorted(_any(path, order))]
    times = _stored_times(packets)
    if times and media.time_base:
        time_base, timed = media.time_base, True
        pts = _presented(media, times, order, delay)
        zero = min(media.zero, int(pts[0]) * time_base)
    elif media.rate:
        time_base, timed, zero = Fraction(1, media.rate.numerator), False, Fraction(0)
        pts = np.arange(len(order) + 1, dtype=np.int64) * media.rate.denominator
    else:
        raise VideoError("undecodable", f"{path.name}: it contains neither timestamps nor a frame rate")
    decode_times = [packet.dts for packet in packets]
    by_dts = None not in decode_times and _increase(decode_times)
    at = dict(zip(order, pts.tolist(), strict=False))
    stamps = Stamps(by_dts, {stored[number].dts if by_dts else number: time for number, time in at.items()})
    keys = np.array(sorted(at[packet.number] for packet in packets if packet.is_keyframe and by_dts), np.int64)
    return _bounded(FrameIndex(path, pts[:-1], int(pts[-1]), time_base, zero, keys, timed, stamps))


def _stored_times(packets: Sequence[_Packet]) -> dict[int, int | None]:
    """Return the stored time of each packet by its number: presentation or else decode times. Empty if there are none.

    In MPEG streams that store few times, FFmpeg may assign one to two packets. Such times are left out.
    """
    presented = any(packet.pts is not None for packet in packets)
    times = {packet.number: packet.pts if presented else packet.dts for packet in packets}
    if None in times.values():
        count = Counter(times.values())
        times = {number: None if count[time] > 1 else time for number, time in times.items()}
    return times if any(time is not None for time in times.values()) else {}


def _presented(media: _Media, times: Mapping[int, int | None], order: Sequence[int], delay: int) -> NDArray[np.int64]:
    """Return the presentation times of frames, and the end of the last one, from the times stored in their packets.

    The stored times are those of presentation if they increase with it, or else those of decoding.

    Raises:
        VideoError: The times do not increase, or may be wrong.
    """
    step = max(round(1 / (media.rate * media.time_base)), 1) if media.rate else 1
    coded, shown = list(times.values()), [times[number] for number in order]
    if _increase(coded) and (media.only_decode_times or not _increase(shown)):
        clock = _filled(media.path, coded, step)
        pts = _delayed(clock, delay)
    else:
        pts = clock = _filled(media.path, shown, step)
        delay = 0
    usual = _usual_step(clock, step)
    if delay or None in coded:
        _check(media, clock, pts, delay, usual)
    return np.append(pts, pts[-1] + usual)


def _presentation(path: Path) -> tuple[list[int], int]:
    """Decode a file. Return the packet numbers of its frames in presentation order, and the decoder's reorder delay.

    The delay is the number of packets that the decoder reads ahead before it outputs a frame.
    """
    order: list[int] = []
    fed: list[int] = []  # for each frame that is output before the end of the file, the last packet that was read
    with open_video(path, infer_times=False) as (container, stream):
        for number, packet in enumerate(demuxed(container, stream)):
            if packet.size:
                packet.pts = number
            for frame in decoded_packet(packet, stream):
                order.append(-1 if frame.pts is None else frame.pts)
                fed += [number] if packet.size else []
            _check_count(path, len(order))
        reorders = stream.codec_context.has_b_frames
    rank = {number: position for position, number in enumerate(sorted(order))}
    ahead = [rank[number] - position for position, number in enumerate(order)]
    if reorders:
        coded = sorted(order)
        ahead += [bisect_right(coded, last) - 1 - position for position, last in enumerate(fed)]
    return order, max(ahead, default=0)


def _increase(times: Iterable[int | None]) -> bool:
    """Return whether the known times increase."""
    return all(a < b for a, b in pairwise(time for time in times if time is not None))


def _usual_step(pts: NDArray[np.int64], default: int = 1) -> int:
    return int(np.median(np.diff(pts))) if len(pts) > 1 else default


def _any(path: Path, items: list[T]) -> list[T]:
    if not items:
        raise VideoError("undecodable", f"{path.name}: none of its frames can be decoded")
    return items


def _filled(path: Path, times: Sequence[int | None], step: int) -> NDArray[np.int64]:
    """Fill in missing times: between neighbours evenly, and at the ends in steps of the nearest interval.

    `step` is used at the ends if only one time is known.

    Raises:
        VideoError: The times do not increase.
    """
    positions = [position for position, time in enumerate(times) if time is not None]
    known = [time for time in times if time is not None]
    if len(known) > 1:
        first = Fraction(known[1] - known[0], positions[1] - positions[0])
        last = Fraction(known[-1] - known[-2], positions[-1] - positions[-2])
    else:
        first = last = Fraction(step)
    positions = [-1, *positions, len(times)]
    known = [known[0] - ceil(first * (positions[1] + 1)), *known, known[-1] + ceil(last * (len(times) - positions[-2]))]
    filled = [
        before + (after - before) * (position - start) // (stop - start)
        for (start, before), (stop, after) in pairwise(zip(positions, known, strict=True))
        for position in range(start, stop)
    ][1:]
    if not _increase(filled):
        raise VideoError("undecodable", f"{path.name}: its timestamps do not increase")
    return np.array(filled, np.int64)


def _delayed(clock: NDArray[np.int64], delay: int) -> NDArray[np.int64]:
    """Return the presentation times of frames from the sorted times at which their packets are decoded.

    A decoder outputs a frame when it has read `delay` packets beyond it, so that is when the frame is presented. The
    first frame is presented at the first of these times. The last frames follow in steps of the last interval.
    """
    delay = min(delay, len(clock) - 1)
    last = int(clock[-1] - clock[-2]) if delay else 0
    later: NDArray[np.int64] = np.concatenate([clock, clock[-1] + last * np.arange(1, delay + 1)])[delay:]
    later += clock[0] - later[0]
    return later


def _check(media: _Media, clock: NDArray[np.int64], pts: NDArray[np.int64], delay: int, usual: int) -> None:
    """Raise VideoError if reconstructed times may be wrong.

    They must end within two frames of the end that the container states, up to which the last frame is decoded
    (`clock`) or presented (`pts`). If times follow from those of later packets, the last intervals must be regular.
    """
    steps = np.diff(clock)[-LAST:].tolist()
    tolerance = 2 * max([usual, *steps[-1:]])
    early, late = (int(times[-1]) + usual for times in (clock, pts))
    problem = ""
    if media.end is not None and (
        media.end < min(early, late) - tolerance
        or (not media.end_is_bound and media.end > max(early, late) + tolerance)
    ):
        stated, reached = (float(time * media.time_base - media.zero) for time in (media.end, late))
        problem = f"the times that can be reconstructed end at {reached:.3f} s, but its header says {stated:.3f} s"
    elif delay and delay * (max(steps) - min(steps)) > usual:
        problem = f"the times of its last {delay} frames cannot be reconstructed, as the frame rate varies"
    if problem:
        raise VideoError(
            "undecodable",
            f"{media.path.name}: it does not store when each frame is presented, and {problem}; use a copy in "
            "another format, such as MP4 or MKV",
        )


def _check_count(path: Path, count: int) -> None:
    if count > MOST_FRAMES:
        raise VideoError("undecodable", f"{path.name}: it has more than {MOST_FRAMES:,} frames")


def _bounded(index: FrameIndex) -> FrameIndex:
    """Raise VideoError if the file declares an excessive number of frames or hours."""
    if max(index.seconds(index.num_frames), -index.seconds(0)) > MOST_HOURS * 3600:
        raise VideoError("undecodable", f"{index.path.name}: it lasts more than {MOST_HOURS:,} hours")
    return index


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
