"""Find the FFmpeg program."""

from __future__ import annotations

import os
import shutil
import subprocess

from ..core.errors import InputError
from ..core.extras import import_extra, package
from ..core.requirements import Requirement


def find_ffmpeg() -> str:
    """Return the path in `STRESSREEL_FFMPEG` or, if that is unset, of the binary in the `imageio-ffmpeg` wheel.

    Raises:
        InputError: `STRESSREEL_FFMPEG` is not an executable, or is unset and the wheel is not installed.
    """
    named = os.environ.get("STRESSREEL_FFMPEG")
    if named:
        found = shutil.which(named)
        if not found:
            raise InputError(
                f"STRESSREEL_FFMPEG is {named!r}, which is not a program. Set it to the path of ffmpeg, or unset it."
            )
        return found
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
