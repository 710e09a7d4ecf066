"""Find nearest neighbours exactly, by cosine similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked

Floats = NDArray[np.float32]
Indices = NDArray[np.int32]

TILE = 1024  # number of queries per tile; fewer if there are many vectors
CELLS = 1 << 23  # number of cells in a tile of cosines
ROUNDED = 1e5
EXCLUDED = -2.0  # stands for an excluded cosine


def nearest(
    queries: Floats, vectors: Floats | None, k: int, *, below: float | None = None, tile: int | None = None
) -> Indices:
    """Return the k vectors with the largest cosine for each query.

    Args:
        queries: float32 of shape (n, dimensions), each of length 1.
        vectors: Vectors to search, shape (m, dimensions), each of length 1; None to search the other queries.
        k: Number of neighbours.
        below: Exclude vectors with a cosine of this value or more.
        tile: Queries per tile, which does not affect the result.

    Returns:
        int32 of shape (n, k): indices by decreasing cosine, rounded to five digits, then by index; -1 if fewer than k
        remain.
    """
    offered = queries if vectors is None else vectors
    found = np.full((len(queries), k), -1, np.int32)
    wanted = min(k, len(offered))
    tile = tile or max(1, min(TILE, CELLS // max(len(offered), 1)))
    for first in tracked(range(0, len(queries) if wanted else 0, tile), "finding the nearest questions", "tile"):
        cosines = queries[first : first + tile] @ offered.T
        if below is not None:
            cosines[cosines >= np.float32(below)] = EXCLUDED
        if vectors is None:
            cosines[np.arange(len(cosines)), first + np.arange(len(cosines))] = EXCLUDED
        np.rint(np.multiply(cosines, np.float32(ROUNDED), out=cosines), out=cosines)
        last = cosines.shape[1] - wanted
        rows, ids = np.nonzero(cosines >= np.partition(cosines, last, axis=1)[:, last, None])
        values = cosines[rows, ids]
        order = np.lexsort((ids, -values, rows))  # at least `wanted` per row, more if the last ones tie
        best = order[np.searchsorted(rows, np.arange(len(cosines)))[:, None] + np.arange(wanted)]
        found[first : first + tile, :wanted] = np.where(values[best] <= EXCLUDED * ROUNDED, -1, ids[best])
    return found
