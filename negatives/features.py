"""Compare options with the others of their set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DIGITS = 4
RANKED = 24  # number of leading cues that are also ranked within a set


def relative(values: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Return values minus the mean of their set, their rank, and their margins as the largest and the smallest.

    A set is the last axis of `values`.
    """
    rank = ranks(values)
    last = values.shape[-1] - 1
    return [
        values - values.mean(-1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]


def ranks(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return how many others of its set, the last axis, each value exceeds. Equal values share their ranks."""
    low = np.zeros_like(values)
    for place in range(values.shape[-1]):  # one comparison per option is faster than all of them in one array
        other = values[..., place : place + 1]
        low += (values > other) + values.dtype.type(0.5) * (values == other)
    found: NDArray[np.floating] = low - values.dtype.type(0.5)
    return found


def set_cues(vectors: Floats, cues: Floats) -> Floats:
    """Return cues of options in their sets: their own, their difference from the others' mean, and ranks.

    Args:
        vectors: Embeddings of the options, float32 of shape (…, options, dimensions), each of length 1.
        cues: Their cues, float32 of shape (…, options, cues).

    Returns:
        float32 of shape (…, options, …). The first three are the mean, largest and smallest cosine with the others.
    """
    others = vectors.shape[-2] - 1
    cosines = (vectors @ vectors.swapaxes(-1, -2)).round(DIGITS)
    own = np.arange(others + 1)
    cosines[..., own, own] = 0
    near = [cosines.sum(-1) / others]
    cosines[..., own, own] = -2
    near.append(cosines.max(-1))
    cosines[..., own, own] = 2
    near.append(cosines.min(-1))
    every = np.concatenate([np.stack(near, -1), cues], axis=-1)
    difference = every - (every.sum(-2, keepdims=True) - every) / others
    leading = every[..., :RANKED].swapaxes(-1, -2)
    return np.concatenate([every, difference, ranks(leading).swapaxes(-1, -2)], axis=-1, dtype=np.float32)
