"""Exact nearest neighbours by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked

Floats = NDArray[np.float32]
Indices = NDArray[np.int32]

TILE = 1024  # queries per tile, fewer where there are many vectors
CELLS = 1 << 23  # of a tile of cosines
ROUNDED = 1e5
EXCLUDED = -2.0  # in place of a cosine


def nearest(
    queries: Floats, vectors: Floats | None, k: int, *, below: float | None = None, tile: int | None = None
) -> Indices:
    """Return for each query the k vectors with the largest cosine.

    Args:
        queries: float32 of shape (n, dimensions), each of length 1.
        vectors: Vectors to search, shape (m, dimensions), each of length 1; None to search the other queries.
        k: Number of neighbours.
        below: Leave out vectors with this cosine or a larger one.
        tile: Queries per tile, which does not affect the result.

    Returns:
        int32 of shape (n, k): indices by falling cosine, rounded to five digits, then by index; -1 where fewer than k
        are left.
    """
    offered = queries if vectors is None else vectors
    found = np.full((len(queries), k), -1, np.int32)
    ids, wanted = np.arange(len(offered)), min(k, len(offered))
    tile = tile or max(1, min(TILE, CELLS // max(len(offered), 1)))
    for first in tracked(range(0, len(queries) if wanted else 0, tile), "finding the nearest questions", "tile"):
        cosines = queries[first : first + tile] @ offered.T
        if below is not None:
            cosines[cosines >= np.float32(below)] = EXCLUDED
        if vectors is None:
            cosines[np.arange(len(cosines)), first + np.arange(len(cosines))] = EXCLUDED
        keys = ids - np.rint(cosines * ROUNDED).astype(np.int64) * len(offered)
        best = np.argpartition(keys, wanted - 1, axis=1)[:, :wanted]
        order = np.argsort(np.take_along_axis(keys, best, axis=1), axis=1)
        best = np.take_along_axis(best, order, axis=1)
        left_out = np.take_along_axis(cosines, best, axis=1) == EXCLUDED
        found[first : first + tile, :wanted] = np.where(left_out, -1, best)
    return found
