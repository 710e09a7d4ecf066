"""Where FFmpeg's program is."""

from __future__ import annotations

import os
import shutil

from ..errors import InputError


def find_ffmpeg() -> str:
    """Give the path of the program: `STRESSREEL_FFMPEG`, else the one in the `imageio-ffmpeg` wheel.

    Raises:
        InputError: `STRESSREEL_FFMPEG` names no program.
    """
    named = os.environ.get("STRESSREEL_FFMPEG")
    if named:
        found = shutil.which(named)
        if not found:
            raise InputError(
                f"STRESSREEL_FFMPEG is {named!r}, which is no program. Give the path of ffmpeg, or unset it."
            )
        return found
    import imageio_ffmpeg

    program: str = imageio_ffmpeg.get_ffmpeg_exe()
    return program
