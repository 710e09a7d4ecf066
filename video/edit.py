"""Write videos from edit lists, which select frames of a source, and its sound, in a new order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.error import FFmpegError
from numpy.typing import NDArray

from ..core.errors import VideoError
from .decode import decode, upright
from .encode import AAC_RATES, EncodeSettings, Mp4Writer, Sound
from .index import FrameIndex, error_text, open_video
from .pyav import open_input

HELD_BYTES = 160 * 2**20

EditList = tuple[range, ...]
"""Half-open runs of source frame indices with step 1, in display order."""


@dataclass(frozen=True)
class Rendition:
    """A video written from an edit list. `ticks` is its duration in units of the source's time base."""

    path: Path
    num_frames: int
    ticks: int
    width: int
    height: int


class _Output:
    """A file that is being written, and how much of its edit list is done."""

    def __init__(self, edit: EditList, writer: Mp4Writer, path: Path):
        self.frames: list[int] = list(chain.from_iterable(edit))
        self.done = 0
        self.writer, self.path = writer, path
        self.ticks = 0

    @property
    def wanted(self) -> int | None:
        return self.frames[self.done] if self.done < len(self.frames) else None

    def write(self, index: FrameIndex, frame: av.VideoFrame) -> None:
        number = self.frames[self.done]
        duration = index.boundary(number + 1) - index.boundary(number)
        self.writer.write(frame, duration)
        self.done += 1
        self.ticks += duration


def write_edits(
    index: FrameIndex,
    edits: Sequence[EditList],
    paths: Sequence[Path],
    settings: EncodeSettings,
    *,
    keep_sound: bool = False,
    held_bytes: int = HELD_BYTES,
) -> list[Rendition]:
    """Write several edit lists of the same source, decoding it only once.

    Frames that will be needed again are kept in memory, up to `held_bytes`. The rest are decoded again from their
    keyframe. With `keep_sound`, the sound is cut and spliced along with the picture, and each edit list must cover the
    same part of the source exactly once.

    Raises:
        VideoError: The source cannot be decoded, or its frame size changes (`undecodable`).
        IndexMismatchError: The decoded frames differ from the index; see `decode`.
    """
    first = min(piece.start for edit in edits for piece in edit)
    last = max(piece.stop for edit in edits for piece in edit)
    run = range(first, last)
    sound = read_sound(index, index.seconds(first), index.seconds(last)) if keep_sound else None
    seconds = index.seconds(last) - index.seconds(first)
    rate = (len(run) / seconds).limit_denominator(1001)
    decoded: Iterator[av.VideoFrame] = decode(index, run)
    raw = next(decoded)
    decoded = chain([raw], decoded)
    frame = upright(raw)
    size = frame.width, frame.height
    with open_video(index.path) as (_, stream):
        aspect = stream.sample_aspect_ratio or None
    if aspect and raw.rotation % 180:
        aspect = 1 / aspect
    with ExitStack() as stack:
        outputs: list[_Output] = []
        for edit, path in zip(edits, paths, strict=True):
            writer = Mp4Writer(
                path,
                time_base=index.time_base,
                rate=rate,
                settings=settings,
                sample_aspect_ratio=aspect,
                sound=sound and splice(sound, index, edit),
            )
            outputs.append(_Output(edit, stack.enter_context(writer), path))
        keep = _worth_keeping(outputs, run, held_bytes // (frame.width * frame.height * 3 // 2))
        kept: dict[int, av.VideoFrame] = {}
        while run:
            for number, raw in zip(run, decoded, strict=True):
                frame = upright(raw)
                if size != (frame.width, frame.height):
                    raise VideoError("undecodable", f"{index.path.name}: its frame size changes at frame {number}")
                for out in outputs:
                    if out.wanted == number:
                        out.write(index, frame)
                if number in keep:
                    kept[number] = frame
            for out in outputs:
                while out.wanted in kept:
                    out.write(index, kept[out.wanted])
            needed = {number for out in outputs for number in out.frames[out.done :]}
            kept = {number: frame for number, frame in kept.items() if number in needed}
            keep = set()
            run = _next_run(outputs, kept)
            decoded = decode(index, run)
    return [Rendition(out.path, len(out.frames), out.ticks, *size) for out in outputs]


def rendition_of(index: FrameIndex, edit: EditList) -> Rendition:
    """Predict what `write_edits` would return for an edit list. Only the first frame is decoded."""
    first = min(piece.start for piece in edit)
    frame = upright(next(decode(index, range(first, first + 1))))
    ticks = sum(index.boundary(piece.stop) - index.boundary(piece.start) for piece in edit)
    return Rendition(index.path, sum(map(len, edit)), ticks, frame.width, frame.height)


def _worth_keeping(outputs: Sequence[_Output], run: range, room: int) -> set[int]:
    """Choose which frames of a run to keep because a file needs them later: the last ones that fit into memory."""
    wanted_later: set[int] = set()
    for out in outputs:
        position = out.done
        for number in run:
            if position < len(out.frames) and out.frames[position] == number:
                position += 1
        wanted_later |= set(out.frames[position:]) & set(run)
    return set(sorted(wanted_later)[-room:]) if room > 0 else set()


def _next_run(outputs: Sequence[_Output], kept: dict[int, av.VideoFrame]) -> range:
    """Return the frames to decode next: those that a file needs up to its next jump, or to a frame kept in memory."""
    out = next((out for out in outputs if out.wanted is not None), None)
    if out is None or out.wanted is None:
        return range(0)
    start = stop = out.wanted
    for number in out.frames[out.done :]:
        if number != stop or number in kept:
            break
        stop += 1
    return range(start, stop)


# Sound, accurate to the sample

JUMP_SECONDS = 0.05


def read_sound(index: FrameIndex, start: Fraction, stop: Fraction) -> Sound | None:
    """Decode the sound from `start` to `stop`, in seconds from time 0 of the file.

    The track is decoded from its beginning, which is fast and, unlike seeking in AAC, exact. Gaps (timestamps that jump
    by more than 50 ms) and the time before and after the track are filled with silence. More than two channels are
    mixed down to stereo. Sampling rates that AAC does not support are converted to 48 kHz.

    Returns:
        round((stop − start) · rate) samples, or None if the file has no sound.

    Raises:
        VideoError: The sound cannot be decoded (`undecodable`).
    """
    try:
        with open_input(index.path) as container:
            stream = container.streams.best("audio")
            if not isinstance(stream, AudioStream) or stream.codec_context is None:
                return None
            stream.codec_context.thread_count = 1
            return _decode(container, stream, index.zero, index.zero + start, stop - start)
    except (FFmpegError, ValueError) as error:
        raise VideoError("undecodable", f"{index.path.name}, sound: {error_text(error)}") from error


def _decode(
    container: av.container.InputContainer, stream: AudioStream, origin: Fraction, start: Fraction, length: Fraction
) -> Sound:
    rate = stream.rate if stream.rate in AAC_RATES else 48000
    layout = "mono" if stream.channels == 1 else "stereo"
    resampler = av.AudioResampler(format="fltp", layout=layout, rate=rate)
    samples = np.zeros((1 if layout == "mono" else 2, round(length * rate)), np.float32)
    position: int | None = None  # position of the next sample, relative to `start`
    for frame in container.decode(stream):
        if frame.pts is not None and frame.time_base is not None:
            stamped = round((frame.pts * frame.time_base - start) * rate)
            if position is None or abs(stamped - position) > JUMP_SECONDS * rate:
                if position is not None:  # flush the decoder before the jump
                    _flush(resampler, samples, position)
                    resampler = av.AudioResampler(format="fltp", layout=layout, rate=rate)
                position = stamped
        if position is None:
            position = round((origin - start) * rate)
        if position >= samples.shape[1]:
            break
        for piece in resampler.resample(frame):
            position = _place(samples, piece.to_ndarray().astype(np.float32, copy=False), position)
    _flush(resampler, samples, position or 0)
    return Sound(samples, rate)


def _flush(resampler: av.AudioResampler, samples: NDArray[np.float32], position: int) -> None:
    for piece in resampler.resample(None):
        _place(samples, piece.to_ndarray().astype(np.float32, copy=False), position)


def _place(samples: NDArray[np.float32], piece: NDArray[np.float32], position: int) -> int:
    """Copy the part of a piece that overlaps with `samples`, and return the position after the piece."""
    first, last = max(position, 0), min(position + piece.shape[1], samples.shape[1])
    if first < last:
        samples[:, first:last] = piece[:, first - position : last - position]
    return position + int(piece.shape[1])


def splice(sound: Sound, index: FrameIndex, pieces: tuple[range, ...]) -> Sound:
    """Reorder the sound along with the frames. Cuts in the sound are within half a sample of those in the picture.

    `pieces` are ranges of frame indices in the new order. Together they cover exactly the frames of `sound`.
    """
    origin = index.seconds(min(piece.start for piece in pieces))

    def sample(frame: int) -> int:
        return round((index.seconds(frame) - origin) * sound.rate)

    parts = [sound.samples[:, sample(piece.start) : sample(piece.stop)] for piece in pieces]
    return Sound(np.concatenate(parts, axis=1), sound.rate)
