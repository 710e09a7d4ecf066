"""Degrade frames by encoding and decoding them with a lossy codec of the FFmpeg program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import av
import numpy as np
from av.error import FFmpegError

from ..core.errors import InputError, VideoError
from ..core.extras import Requirement, import_extra, package
from .pyav import open_input, plane_view

RATE = 25


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
        ffmpeg.input("pipe:", format="rawvideo", pix_fmt="yuv420p", s=size, r=RATE)
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
