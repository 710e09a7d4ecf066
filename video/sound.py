"""Read and cut the sound of a video, accurate to the sample."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
from av.audio.stream import AudioStream
from av.error import FFmpegError
from numpy.typing import NDArray

from ..core.errors import VideoError
from .encode import AAC_RATES, Sound
from .index import FrameIndex, words
from .pyav import open_input

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
        raise VideoError("undecodable", f"{index.path.name}, sound: {words(error)}") from error


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
