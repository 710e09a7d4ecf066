"""Map an annotated interval in seconds to the frames that show it, with one tolerance for all builders.

The picture may start or end half a second inside the interval, because recordings and annotations are inexact. If more
is missing, at either side, the interval is refused, so that no clip shows only a part of what its annotation describes.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from ..core.errors import VideoError
from .index import FrameIndex

TOLERANCE_S = Fraction(1, 2)


def exact(seconds: float) -> Fraction:
    """Return an annotated time, in whole milliseconds, as a fraction: 0.4 is four tenths, unlike the float."""
    return Fraction(round(seconds * 1000), 1000)


def frames_between(index: FrameIndex, start: Fraction, end: Fraction, wanted: str) -> range:
    """Return the frames that start in `[start, end)` seconds.

    Raises:
        VideoError: There are none, or they start or end more than half a second apart from the interval, because the
            picture does or a frame is held (`too_short`). `wanted` names the interval, as in "the clip x spans 1 to 2
            s".
    """
    check_shown(index, start, end, wanted)
    frames = range(index.first_at(start), index.first_at(end))
    if not frames and (start >= index.seconds(index.num_frames) or end <= index.seconds(0)):
        raise not_shown(index, wanted)
    for edge, frame in ((start, frames.start), (end, frames.stop)):
        if not frames or index.seconds(frame) - edge > TOLERANCE_S:
            held = f"{float(index.seconds(frame - 1)):.2f} to {float(index.seconds(frame)):.2f} s"
            raise VideoError("too_short", f"{index.path.name} has a single frame from {held}, but {wanted}")
    return frames


def check_shown(index: FrameIndex, start: Fraction, end: Fraction, wanted: str) -> None:
    """Raise VideoError (`too_short`) if more than half a second at either side of an interval has no picture."""
    if start + TOLERANCE_S < index.seconds(0) or index.seconds(index.num_frames) < end - TOLERANCE_S:
        raise not_shown(index, wanted)


def shown_times(index: FrameIndex, start_s: float, end_s: float) -> tuple[float, float]:
    """Limit an interval to the picture, rounded outward to the millisecond so that it contains the same frames."""
    first, last = (index.seconds(frame) * 1000 for frame in (0, index.num_frames))
    return max(start_s, floor(first) / 1000), min(end_s, ceil(last) / 1000)


def not_shown(index: FrameIndex, wanted: str) -> VideoError:
    """Return the error that a video has no picture where `wanted` requires one. It states where the picture is."""
    first, last = (float(index.seconds(frame)) for frame in (0, index.num_frames))
    frames = f"{index.num_frames:,} frame{'s' * (index.num_frames != 1)}"
    picture = f"has a picture from {first:.2f} to {last:.2f} s ({frames})"
    return VideoError("too_short", f"{index.path.name} {picture}, but {wanted}")
