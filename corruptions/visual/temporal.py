"""Temporal perturbations: which source frame is shown at each position. No pixel is touched.

All follow Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1. Every map has the clip's length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IndexMap = NDArray[np.int64]
"""int64, shape (num_frames,), values in [0, num_frames): the source frame shown at each position."""


def sampling(num_frames: int, rate: int) -> IndexMap:
    """Keep every rate-th frame and show each for `rate` frames.

    Args:
        num_frames: Length of the clip, at least 1.
        rate: Frames from one kept frame to the next, at least 1. Higher is stronger.
    """
    return np.arange(num_frames, dtype=np.int64) // rate * rate


def reverse_sampling(num_frames: int, rate: int) -> IndexMap:
    """Keep every rate-th frame, show each for `rate` frames, and play all of it backwards.

    Args:
        num_frames: Length of the clip, at least 1.
        rate: Frames from one kept frame to the next, at least 1.
    """
    return sampling(num_frames, rate)[::-1].copy()


def jumble(num_frames: int, segment: int, rng: np.random.Generator) -> IndexMap:
    """Shuffle the frames inside each consecutive segment.

    Args:
        num_frames: Length of the clip, at least 1.
        segment: Frames in a segment, at least 1; the last segment may be shorter. Longer moves frames further.
        rng: Random numbers.
    """
    order = np.arange(num_frames, dtype=np.int64)
    for start in range(0, num_frames, segment):
        order[start : start + segment] = start + _shuffled(min(segment, num_frames - start), rng)
    return order


def box_jumble(num_frames: int, segment: int, rng: np.random.Generator) -> IndexMap:
    """Shuffle consecutive segments and keep the order inside each.

    Args:
        num_frames: Length of the clip, at least 1.
        segment: Frames in a segment, at least 1; the last segment may be shorter and is shuffled with the others.
        rng: Random numbers.
    """
    starts = range(0, num_frames, segment)
    boxes = [np.arange(start, min(start + segment, num_frames), dtype=np.int64) for start in starts]
    return np.concatenate([boxes[number] for number in _shuffled(len(boxes), rng)])


def freeze(num_frames: int, share: float, rng: np.random.Generator) -> IndexMap:
    """Keep random frames and hold each until the next.

    Args:
        num_frames: Length of the clip, at least 1.
        share: Share of frames kept, in (0, 1]: round(share · num_frames) frames, at least 1. Lower is stronger.
        rng: Random numbers.

    Differs from reference:
        The first frame is always one of those kept, so the length never changes.
    """
    kept = max(1, round(share * num_frames))
    shown = np.zeros(num_frames, bool)
    shown[0] = True
    shown[1 + _shuffled(num_frames - 1, rng)[: kept - 1]] = True
    return np.maximum.accumulate(np.where(shown, np.arange(num_frames, dtype=np.int64), 0))


def _shuffled(count: int, rng: np.random.Generator) -> IndexMap:
    """Permute 0..count−1 by sorting random numbers: unlike `permutation`, the same in every version of NumPy."""
    return np.argsort(rng.random(count), kind="stable").astype(np.int64)
