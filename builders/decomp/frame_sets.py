"""Sets of annotated frames (`scene_graphs.Frames`), in the order of time."""

from __future__ import annotations

from collections.abc import Iterable

from ...annotations.scene_graphs import Frames


def union(sets: Iterable[Frames]) -> Frames:
    """Return the frames that are in any of the sets."""
    found: Frames = 0
    for frames in sets:
        found |= frames
    return found


def below(frames: Frames) -> Frames:
    """Return all frames before the first one. The set of no frames has none."""
    return (frames & -frames) - 1 if frames else 0


def until(frames: Frames) -> Frames:
    """Return all frames up to the last one."""
    return (1 << frames.bit_length()) - 1


def top(frames: Frames) -> Frames:
    """Return the last frame."""
    return 1 << frames.bit_length() - 1 if frames else 0


def span_of(frames: Frames) -> Frames:
    """Return all frames from the first to the last one."""
    return until(frames) & ~below(frames)


def run_of(frames: Frames, *, last: bool) -> Frames:
    """Return the first or last run of consecutive frames. There must be at least one frame."""
    if last:
        length = frames.bit_length()
        gap = (((1 << length) - 1) & ~frames).bit_length()  # frames below it belong to other runs
        return frames & ~((1 << gap) - 1)
    low = frames & -frames
    return frames & ~(frames + low)  # the carry clears the first run and sets the bit after it
