"""Which frames of a clip `stressreel.load` makes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError

Frames = int | slice | Sequence[int] | NDArray[np.integer[Any]] | None
"""Which frames of a clip: all; as many at equal distances; a slice; or positions."""


def positions_of(frames: Frames, count: int, clip_id: str) -> NDArray[np.int64]:
    """Find the frames that are chosen of a clip.

    Args:
        frames: See `load`.
        count: Frames of the clip, at least 1.
        clip_id: The clip.

    Returns:
        int64, shape (frames chosen,), from 0 to count - 1, as ordered.

    Raises:
        InputError: The clip has no such frame, or a slice has none.
    """
    every = np.arange(count, dtype=np.int64)
    if frames is None:
        return every
    if isinstance(frames, int):
        return np.arange(frames, dtype=np.int64) * (count - 1) // max(frames - 1, 1)
    if isinstance(frames, slice):
        if not len(every[frames]):
            raise InputError(f"frames={frames} chooses none of the {count} frames of clip {clip_id}.")
        return every[frames]
    positions = np.array(frames, np.int64)
    outside = positions[(positions < -count) | (positions >= count)]
    if len(outside):
        raise InputError(
            f"clip {clip_id} has no frame {outside[0]}: it has {count}, 0 to {count - 1} (or -{count} to -1, from the "
            "end). Give a number of frames, as frames=8, to choose them by the clip's length."
        )
    return positions % count


def check_frames(frames: Any) -> Frames:
    """Return a choice of frames that is one: NumPy's integers as Python's.

    Raises:
        InputError: It is no number from 1 on, slice, or positions.
    """
    if frames is None or (isinstance(frames, slice) and _is_sound(frames)):
        return cast(Frames, frames)
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool) and frames > 0:
        return int(frames)
    if isinstance(frames, (Sequence, np.ndarray)) and not isinstance(frames, (str, bytes)):
        with suppress(ValueError):  # lists of different lengths
            positions = np.asarray(frames)
            if positions.ndim == 1 and len(positions) and np.issubdtype(positions.dtype, np.integer):
                return positions.astype(np.int64)
    raise InputError(
        f"frames must be a number of frames from 1 on, a slice, or a list of positions, at least one; got {frames!r}"
    )


def _is_sound(chosen: slice) -> bool:
    try:
        chosen.indices(1)
    except (TypeError, ValueError):
        return False
    return True
