"""Encode H.264 in MP4, and degrade frames with a lossy codec of the FFmpeg program.

With the same version of x264, every machine produces the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Self

import av
import numpy as np
from av.audio.stream import AudioStream
from av.error import FFmpegError
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..core.errors import InputError, VideoError
from ..core.extras import Requirement, import_extra, package
from ..core.files import atomic
from . import CRF, PRESET
from .pyav import colours, open_input, plane_view, rgb_to_yuv420p

CODEC_RATE = 25  # frames per second that lossy codecs are told

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


def through_codec(frames: Iterable[av.VideoFrame], codec: str, quantiser: int) -> Iterator[av.VideoFrame]:
    """Encode frames with a fixed quantiser and decode them again: `ffmpeg -c:v <codec> -q:v <quantiser>`.

    FFmpeg is always given 25 frames per second. The rate does not affect pictures at a fixed quantiser, and at rates
    that these codecs do not support, FFmpeg would drop or repeat frames. FFmpeg records quantisers up to 31, but higher
    values still change the pictures. The encoded file is temporary; frames are not kept in memory.

    Raises:
        VideoError: The codec rejects the pictures (`codec_refused`), or returns another number of frames
            (`codec_lost_frames`).
    """
    frames = iter(frames)
    first = next(frames, None)
    if first is None:
        return
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = Path(folder) / "coded.mkv"
        sent = _encode(chain([first], frames), first, path, codec, quantiser)
        received = 0
        try:
            with open_input(path) as container:
                container.streams.video[0].codec_context.thread_count = 1
                for frame in container.decode(video=0):
                    received += 1
                    yield frame
        except (FFmpegError, OSError) as error:
            raise VideoError("codec_refused", f"{codec} at -q:v {quantiser}: {error.strerror}") from error
    if received != sent:
        raise VideoError("codec_lost_frames", f"{codec} at -q:v {quantiser} returned {received} of {sent} frames")


def _encode(frames: Iterable[av.VideoFrame], first: av.VideoFrame, path: Path, codec: str, quantiser: int) -> int:
    size = f"{first.width}x{first.height}"
    ffmpeg = import_extra("ffmpeg", what=codec)
    process = (
        ffmpeg.input("pipe:", format="rawvideo", pix_fmt="yuv420p", s=size, r=CODEC_RATE)
        .output(str(path), **{"c:v": codec, "q:v": quantiser, "threads": 1, "fps_mode": "passthrough"})
        .global_args("-loglevel", "error", "-nostdin")
        .run_async(cmd=find_ffmpeg(), pipe_stdin=True, pipe_stderr=True)
    )
    sent = 0
    with process:
        with suppress(BrokenPipeError):  # FFmpeg's error message is read later
            for frame in frames:
                for plane in range(3):
                    process.stdin.write(np.ascontiguousarray(plane_view(frame, plane)))
                sent += 1
            process.stdin.close()
        message = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise VideoError(
            "codec_refused",
            f"{codec} at -q:v {quantiser}: {message.splitlines()[-1] if message else 'no reason given'}",
        )
    return sent


def find_ffmpeg() -> str:
    """Return the path in `STRESSREEL_FFMPEG` or, if that is unset, of the binary in the `imageio-ffmpeg` wheel.

    Raises:
        InputError: `STRESSREEL_FFMPEG` is not an executable, or is unset and the wheel is not installed.
    """
    named = os.environ.get("STRESSREEL_FFMPEG")
    if named:
        path = shutil.which(named)
        if not path:
            raise InputError(
                f"STRESSREEL_FFMPEG is {named!r}, which is not a program. Set it to the path of ffmpeg, or unset it."
            )
        return path
    program: str = import_extra("imageio_ffmpeg", what="FFmpeg's program").get_ffmpeg_exe()
    return program


def ffmpeg_requirements(what: str) -> list[Requirement]:
    """Describe what `what` needs to run FFmpeg: its program, as in `find_ffmpeg`, and the package that calls it."""
    named = os.environ.get("STRESSREEL_FFMPEG")
    program = package("imageio_ffmpeg", what)
    if named:
        instead = "Set STRESSREEL_FFMPEG to the path of ffmpeg, or unset it."
        there = shutil.which(named) is not None
        program = Requirement(f"the program {named} of STRESSREEL_FFMPEG", what, there, instead=instead)
    return [package("ffmpeg", what), program]


def ffmpeg_version() -> str:
    """Return the version that FFmpeg reports."""
    program = find_ffmpeg()
    try:
        shown = subprocess.run([program, "-version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"{program} cannot be run ({error}). Set STRESSREEL_FFMPEG to another ffmpeg.") from error
    return shown.split()[2] if len(shown.split()) > 2 else "unknown"
