"""Fit annotated spans to the length of their video, by the same rule for segments and for captions."""

from __future__ import annotations

from math import inf

from ..video.frames import TOLERANCE_S


def fitted(
    times: tuple[float, float], length_s: float | None, spare_s: float = float(TOLERANCE_S)
) -> tuple[float, float] | str:
    """Fit a span to the length of its video.

    Args:
        times: Start and end in seconds.
        length_s: Length of the video in seconds, or None if unknown.
        spare_s: A span that reaches past the end of the video by less than this ends with the video. A longer one keeps
            its times, so that the build skips it with a reason.

    Returns:
        Start and end, or a sentence if the span starts after the video has ended.
    """
    start, end = times
    length = inf if length_s is None else length_s
    if length < end < length + spare_s:
        end = length
    last = min(end, length)
    return (start, end) if start < last else f"it starts at {start:g} s, but the video ends at {last:g} s"
