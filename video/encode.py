"""Encode H.264 in MP4. With the same version of x264, every machine produces the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import av
import numpy as np
from av.audio.stream import AudioStream
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..core.files import atomic
from . import CRF, PRESET
from .pyav import colours, rgb_to_yuv420p

AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000)
AAC_BITS_PER_SECOND = 128_000

LOSSLESS_KEYS = ":min-keyint=1"
"""Lossless x264 encodes noise as I pictures, which FFmpeg marks as keyframes if there is one reference frame.

Such false keyframes mislead readers that seek (decord numbers frames from them), so each is made a real one.
"""


@dataclass(frozen=True)
class EncodeSettings:
    """Settings of the video encoder.

    Attributes:
        crf: x264's constant rate factor, from 0 (lossless) to 51 (worst); ignored if `lossless`.
        preset: x264 preset.
        lossless: Preserve RGB frames bit for bit (H.264 High 4:4:4 RGB).
    """

    crf: int = CRF
    preset: str = PRESET
    lossless: bool = False


_exact: ContextVar[bool] = ContextVar("exact", default=False)


@contextmanager
def without_loss() -> Iterator[None]:
    """Encode frames and sound losslessly inside a `with` block, to obtain a reference for measuring encoding loss."""
    token = _exact.set(True)
    try:
        yield
    finally:
        _exact.reset(token)


@dataclass(frozen=True)
class Sound:
    """Audio samples as float32 of shape (channels, num_samples), in [-1, 1], with `rate` samples per second."""

    samples: NDArray[np.float32]
    rate: int


class Mp4Writer:
    """Writes upright frames (rgb24 if lossless), each with its own duration, and sound to an MP4 file.

    Durations are in units of `time_base`, so variable frame rates are preserved. x264 runs on a single thread and
    without processor-specific code, so the bytes depend only on the frames, the settings and the version of x264.
    """

    def __init__(
        self,
        path: Path,
        *,
        time_base: Fraction,
        rate: Fraction,
        settings: EncodeSettings,
        sample_aspect_ratio: Fraction | None = None,
        sound: Sound | None = None,
    ):
        """Open the file. The first frame determines its frame size and colours.

        `rate` is the average number of frames per second, which x264's rate control uses. `sample_aspect_ratio` is the
        width of a pixel divided by its height, and `sound` is for the entire file.
        """
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        self._container.flags |= 0x0400  # AVFMT_FLAG_BITEXACT: do not write library versions to the file
        self._exact = _exact.get()
        if self._exact and not settings.lossless:
            settings = EncodeSettings(crf=0, preset="ultrafast")
        self._time_base, self._settings = time_base, settings
        self._sample_aspect_ratio = sample_aspect_ratio
        codec = "libx264rgb" if settings.lossless else "libx264"
        self._video: VideoStream = self._container.add_stream(codec, rate=rate)  # type: ignore[assignment]
        self._audio = self._add_audio(sound) if sound else None
        self._sound, self._sound_done = sound, 0
        self._clock, self._closed = 0, False
        self._durations: dict[int, int] = {}

    def _open(self, frame: av.VideoFrame) -> None:
        context = self._video.codec_context
        context.width, context.height = frame.width, frame.height
        context.pix_fmt = "rgb24" if self._settings.lossless else "yuv420p"
        context.time_base = self._time_base
        context.thread_count = 1
        context.color_range, context.colorspace, context.color_primaries, context.color_trc = colours(frame)
        if self._sample_aspect_ratio:
            context.sample_aspect_ratio = self._sample_aspect_ratio
        context.options = {
            "preset": self._settings.preset,
            **({"qp": "0"} if self._settings.lossless else {"crf": str(self._settings.crf)}),
            "x264-params": "cpu-independent=1:lookahead-threads=1" + LOSSLESS_KEYS * self._settings.lossless,
        }

    def _add_audio(self, sound: Sound) -> AudioStream:
        codec = "flac" if self._exact else "aac"
        stream: AudioStream = self._container.add_stream(codec, rate=sound.rate)  # type: ignore[assignment]
        stream.codec_context.layout = "mono" if len(sound.samples) == 1 else "stereo"
        stream.codec_context.bit_rate = AAC_BITS_PER_SECOND
        stream.codec_context.thread_count = 1
        return stream

    def write(self, frame: av.VideoFrame, duration: int) -> None:
        """Append a frame that is displayed for `duration` units of the time base."""
        if not self._video.codec_context.is_open and self._clock == 0:
            self._open(frame)
        frame.pts, frame.time_base = self._clock, self._time_base
        self._durations[self._clock] = duration
        self._clock += duration
        self._mux(self._video.encode(frame))
        self._write_sound(self._clock * self._time_base)

    def _mux(self, packets: Iterable[av.Packet[VideoStream]]) -> None:
        for packet in packets:
            if packet.pts in self._durations:
                packet.duration = self._durations.pop(packet.pts)
            self._container.mux(packet)

    def _write_sound(self, until: Fraction | None) -> None:
        """Encode the sound up to a point in time, so that picture and sound are interleaved."""
        if self._sound is None or self._audio is None:
            return
        samples, rate, size = self._sound.samples, self._sound.rate, 1024
        while self._sound_done < samples.shape[1]:
            if until is not None and self._sound_done + size > until * rate:
                return
            piece = np.ascontiguousarray(samples[:, self._sound_done : self._sound_done + size])
            frame = av.AudioFrame.from_ndarray(piece, "fltp", "mono" if len(piece) == 1 else "stereo")
            frame.sample_rate, frame.pts, frame.time_base = rate, self._sound_done, Fraction(1, rate)
            self._container.mux(self._audio.encode(frame))
            self._sound_done += piece.shape[1]

    def close(self) -> None:
        """Finish the file. Further calls have no effect."""
        if self._closed:
            return
        self._closed = True
        try:
            self._write_sound(None)
            self._mux(self._video.encode(None))
            if self._audio is not None:
                self._container.mux(self._audio.encode(None))
        finally:
            self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Finish the file. After an exception only close it, as the caller will discard it."""
        if kind is None:
            self.close()
        elif not self._closed:
            self._closed = True
            self._container.close()


def write_video(
    path: Path,
    frames: Iterable[NDArray[np.uint8]],
    *,
    rate: Fraction,
    sound: NDArray[np.float32] | None = None,
    sound_rate: int = 16000,
    settings: EncodeSettings | None = None,
) -> None:
    """Write RGB arrays to an MP4 file, atomically.

    Args:
        path: The file to write.
        frames: RGB arrays, uint8 of shape (height, width, 3), with even dimensions.
        rate: Frames per second.
        sound: float32 of shape (num_samples,) or (channels, num_samples), in [-1, 1].
        sound_rate: Samples per second, one of `AAC_RATES`.
        settings: Quality and speed.
    """
    track = None if sound is None else Sound(np.atleast_2d(sound), sound_rate)
    options: dict[str, Any] = {"rate": rate, "settings": settings or EncodeSettings(), "sound": track}
    with atomic(path) as temporary, Mp4Writer(temporary, time_base=1 / rate, **options) as writer:
        for array in frames:
            writer.write(rgb_to_yuv420p(array), 1)
