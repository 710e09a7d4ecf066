"""Reorder or repeat the frames of a clip. Each function returns the source frame shown at each position.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IndexMap = NDArray[np.int64]
"""int64, shape (num_frames,), values in [0, num_frames): the source frame shown at each position."""


def sampling(num_frames: int, rate: int) -> IndexMap:
    """Keep every rate-th frame and repeat it `rate` times. `rate` is at least 1, and higher is stronger."""
    return np.arange(num_frames, dtype=np.int64) // rate * rate


def reverse_sampling(num_frames: int, rate: int) -> IndexMap:
    """Keep every rate-th frame, repeat it `rate` times, and reverse the result."""
    return sampling(num_frames, rate)[::-1].copy()


def jumble(num_frames: int, segment: int, rng: np.random.Generator) -> IndexMap:
    """Shuffle the frames within each segment of `segment` consecutive frames. The last segment may be shorter."""
    order = np.arange(num_frames, dtype=np.int64)
    for start in range(0, num_frames, segment):
        order[start : start + segment] = start + _shuffled(min(segment, num_frames - start), rng)
    return order


def box_jumble(num_frames: int, segment: int, rng: np.random.Generator) -> IndexMap:
    """Shuffle segments of `segment` consecutive frames, keeping the order in each. The last may be shorter."""
    starts = range(0, num_frames, segment)
    boxes = [np.arange(start, min(start + segment, num_frames), dtype=np.int64) for start in starts]
    return np.concatenate([boxes[box] for box in _shuffled(len(boxes), rng)])


def freeze(num_frames: int, share: float, rng: np.random.Generator) -> IndexMap:
    """Keep some frames at random and show each of them until the next one.

    `share` is the fraction of frames to keep, in (0, 1] and at least one frame; lower is stronger. Unlike in the paper,
    the first frame is always kept, so that the length never changes.
    """
    kept = max(1, round(share * num_frames))
    shown = np.zeros(num_frames, bool)
    shown[0] = True
    shown[1 + _shuffled(num_frames - 1, rng)[: kept - 1]] = True
    return np.maximum.accumulate(np.where(shown, np.arange(num_frames, dtype=np.int64), 0))


def _shuffled(count: int, rng: np.random.Generator) -> IndexMap:
    """Return a permutation of 0..count−1 by sorting random numbers, which gives the same in every NumPy version."""
    return np.argsort(rng.random(count), kind="stable").astype(np.int64)
