"""Exact nearest neighbours by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked

Floats = NDArray[np.float32]
Indices = NDArray[np.int32]

CELLS = 1 << 24  # of the product that is in memory at a time
STEPS = 1e5  # cosines are told apart to five digits
BARRED = np.iinfo(np.int64).max


def nearest(vectors: Floats, k: int, *, below: float | None = None, rows: int | None = None) -> Indices:
    """Find the k other vectors with the largest cosine for each vector.

    Args:
        vectors: float32 of shape (n, dimensions), each of length 1.
        k: How many.
        below: Leave out vectors with this cosine or a larger one.
        rows: Vectors that are looked up at a time; the result does not depend on it.

    Returns:
        Ids, int32 of shape (n, k): falling cosine to five digits, equal ones by rising id; -1 where there are fewer.
    """
    n = len(vectors)
    found = np.full((n, k), -1, np.int32)
    rows = rows or max(1, CELLS // max(n, 1))
    for first in tracked(range(0, n, rows), "finding the nearest questions", "tile"):
        cosines = vectors[first : first + rows] @ vectors.T
        keys = _keys(cosines)
        if below is not None:
            keys[cosines >= np.float32(below)] = BARRED
        here = np.arange(len(keys))
        keys[here, first + here] = BARRED
        ids = _smallest(keys, min(k, n))
        kept = np.take_along_axis(keys, ids, axis=1) < BARRED
        found[first : first + rows, : ids.shape[1]] = np.where(kept, ids, -1)
    return found


def nearest_to(asked: Floats, offered: Floats, k: int, *, rows: int = 1024) -> Indices:
    """Find the k vectors with the largest cosine among those offered, for each vector asked for.

    Args:
        asked: float32 of shape (n, dimensions), each of length 1.
        offered: float32 of shape (m, dimensions), likewise; m is at least k.
        k: How many.
        rows: Vectors asked for that are looked up at a time; the result does not depend on it.

    Returns:
        Ids, int32 of shape (n, k): falling cosine to five digits, equal ones by rising id.
    """
    found = np.empty((len(asked), k), np.int32)
    for first in range(0, len(asked), rows):
        found[first : first + rows] = _smallest(_keys(asked[first : first + rows] @ offered.T), k)
    return found


def _keys(cosines: Floats) -> NDArray[np.int64]:
    """Return numbers that are all different and rise as cosines fall, then with the column."""
    columns = cosines.shape[1]
    keys: NDArray[np.int64] = np.arange(columns) - np.rint(cosines * STEPS).astype(np.int64) * columns
    return keys


def _smallest(keys: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the columns of the k smallest keys of each row, rising."""
    if not k:
        return np.empty((len(keys), 0), np.int64)
    best = np.argpartition(keys, k - 1, axis=1)[:, :k]
    return np.take_along_axis(best, np.argsort(np.take_along_axis(keys, best, axis=1), axis=1), axis=1)
