"""Rough size and time of encoding, before anything is decoded."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from pathlib import Path

from ..errors import VideoError
from .encode import PRESETS
from .index import open_video

CHARADES_480 = (480 * 360, 30.0)
PROBED = 12
# Measured with benchmarks/clavi.py on one core at veryfast and crf 23; other presets from x264's own relations.
PIXELS_PER_SECOND = 120e6
BITS_PER_PIXEL = 0.045
RELATIVE_TIME = dict(zip(PRESETS, (0.4, 0.6, 1.0, 1.7, 2.1, 2.6, 4.5, 8.0, 16.0), strict=True))


def estimate(sources: Sequence[Path], seconds: float, crf: int, preset: str, workers: int) -> str:
    """Guess the size and the time of a build.

    Args:
        sources: Source videos that are there; a dozen are looked at for their size and rate.
        seconds: Length of everything to be encoded.
        crf: x264's rate factor; six steps halve the size.
        preset: x264's preset.
        workers: Processes.

    Returns:
        A phrase such as "about 5.3 GB and 2.1 hours with 2 workers".
    """
    looked = [shape for path in sources[:PROBED] if (shape := _shape(path))]
    pixels = sum(area * rate for area, rate in looked or [CHARADES_480]) / len(looked or [CHARADES_480])
    size = seconds * pixels * BITS_PER_PIXEL / 8 * exp((23 - crf) / 6 * 0.693)
    hours = seconds * pixels / PIXELS_PER_SECOND * RELATIVE_TIME[preset] / workers / 3600
    basis = "" if looked else " (assuming 480x360 at 30 fps)"
    time = (
        f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.0f} minutes" if hours > 0.03 else f"{hours * 3600:.0f} s"
    )
    return f"about {size / 1e9:.2f} GB and {time} with {workers} worker{'s' * (workers > 1)}{basis}"


def _shape(path: Path) -> tuple[int, float] | None:
    try:
        with open_video(path) as (_, stream):
            return stream.width * stream.height, float(stream.average_rate or 30)
    except VideoError:
        return None
