"""Exact nearest neighbours: of every vector among all the others, and of some vectors among others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked

Floats = NDArray[np.float32]
Indices = NDArray[np.int32]
Keys = NDArray[np.uint64]

TILE = 4096  # rows and columns of the product that is in memory at a time: 64 MB
SIGN = np.uint32(1 << 31)
HALF = np.uint64(32)


@dataclass
class _Block:
    """The best found so far for some consecutive rows.

    A candidate is one number, so that sorting is fast: in its upper half the cosine, turned so that larger ones come
    first; in the lower half its row in the block, and its id. Candidates wait unsorted, because sorting a few in costs
    as much as sorting in many.
    """

    first: int
    best: Keys  # (rows, k), rising
    bar: Floats  # (rows,): the cosine that a candidate must reach
    waiting: list[Keys] = field(default_factory=list)
    count: int = 0


@dataclass(frozen=True)
class _Layout:
    """How many bits a candidate gives to its id and to its row.

    The row leads in a key that is sorted: row, cosine, id; 64 bits hold all three.
    """

    id_bits: int

    @property
    def row_bits(self) -> int:
        return 32 - self.id_bits

    def pack(self, rows: NDArray[np.intp], cosines: Floats, ids: NDArray[np.intp]) -> Keys:
        """Make keys."""
        bits = cosines.view(np.uint32)
        falling = np.where(bits & SIGN, bits, ~bits ^ SIGN).astype(np.uint64)  # larger cosines become smaller numbers
        keys: Keys = (rows.astype(np.uint64) << np.uint64(64 - self.row_bits)) | (falling << np.uint64(self.id_bits))
        return keys | ids.astype(np.uint64)

    def rows(self, keys: Keys) -> Keys:
        """Return the rows of keys."""
        return keys >> np.uint64(64 - self.row_bits)

    def cosines(self, keys: Keys) -> Floats:
        """Return the cosines of keys."""
        falling = (keys >> np.uint64(self.id_bits)).astype(np.uint32)
        return np.where(falling & SIGN, falling, ~falling ^ SIGN).view(np.float32)

    def ids(self, keys: Keys) -> Indices:
        """Return the ids of keys; -1 for empty ones, which have all bits set."""
        ids = keys & np.uint64((1 << self.id_bits) - 1)
        return np.where(ids == (1 << self.id_bits) - 1, -1, ids.astype(np.int64)).astype(np.int32)

    def empty(self, first: int, rows: int, k: int) -> _Block:
        """Return a block that has found nothing."""
        none = np.full(rows, -np.inf, np.float32)
        keys = self.pack(np.arange(rows), none, np.full(rows, (1 << self.id_bits) - 1))
        return _Block(first, np.repeat(keys[:, None], k, axis=1), none)

    def settle(self, block: _Block) -> None:
        """Sort the waiting candidates of a block in."""
        if block.waiting:
            rows, k = block.best.shape
            keys = np.sort(np.concatenate([block.best.ravel(), *block.waiting]))
            starts = np.searchsorted(self.rows(keys), np.arange(rows, dtype=np.uint64))  # each row has k or more
            block.best = keys[starts[:, None] + np.arange(k)]
            block.bar = self.cosines(block.best[:, -1])
            block.waiting, block.count = [], 0


def nearest(
    vectors: Floats,
    k: int,
    *,
    below: float | None = None,
    tile: int = TILE,
) -> tuple[Indices, Floats]:
    """Find the k other vectors with the largest cosine for each vector.

    The cosine of a pair is computed once and used for both, so this takes half of the products of a search with
    queries. Nothing is approximated; memory beside the vectors is 16·n·k bytes and a tile.

    Args:
        vectors: float32 of shape (n, dimensions), each of length 1.
        k: How many.
        below: Leave out vectors with this cosine or a larger one.
        tile: Rows of a tile; the result does not depend on it, but for rounding in the last place.

    Returns:
        Ids (int32) and cosines (float32), both of shape (n, k): falling cosine, equal ones by rising id; -1 and -inf
        where there are fewer than k.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    n = len(vectors)
    if k < 1 or n == 0:
        return np.empty((n, max(k, 0)), np.int32), np.empty((n, max(k, 0)), np.float32)
    layout = _Layout((n + 1).bit_length())
    tile = max(1, min(tile, n, 1 << layout.row_bits))
    blocks = [layout.empty(first, min(tile, n - first), k) for first in range(0, n, tile)]
    product, mask = np.empty(tile * tile, np.float32), np.empty(tile * tile, np.bool_)
    limit = np.float32(np.inf if below is None else below)

    def offer(block: _Block, cosines: Floats, bar: Floats, first: int, columns: bool = False) -> None:
        """Return a block what reaches its bar; its rows are the columns of the tile if `columns` is set."""
        places = _places(np.greater_equal(cosines, bar, out=mask[: cosines.size].reshape(cosines.shape)))
        found = cosines.ravel()[places]
        good = (found < limit) & (found > -np.inf)
        places, found = places[good], found[good]
        row, column = np.divmod(places, cosines.shape[1])
        own, others = (column, row) if columns else (row, column)
        block.waiting.append(layout.pack(own, found, others + first))
        block.count += len(found)
        if block.count > block.best.size:
            layout.settle(block)

    for one, other in tracked([*_pairs(blocks)], "finding the nearest questions", "tile"):
        here, there = (vectors[block.first : block.first + len(block.best)] for block in (one, other))
        cosines = np.matmul(here, there.T, out=product[: len(here) * len(there)].reshape(len(here), len(there)))
        if one is other:
            np.fill_diagonal(cosines, -np.inf)
            offer(one, cosines, _first_bar(cosines, k, limit)[:, None], one.first)
            layout.settle(one)
        else:
            offer(one, cosines, one.bar[:, None], other.first)
            offer(other, cosines, other.bar[None, :], one.first, columns=True)
    for block in blocks:
        layout.settle(block)
    keys = np.concatenate([block.best for block in blocks])
    return layout.ids(keys), layout.cosines(keys)


def nearest_to(asked: Floats, offered: Floats, k: int, *, tile: int = 1024) -> Indices:
    """Find the k vectors with the largest cosine among those offered, for each vector asked for.

    Args:
        asked: float32 of shape (n, dimensions), each of length 1.
        offered: float32 of shape (m, dimensions), likewise; m is at least k.
        k: How many.
        tile: Vectors asked for that are looked up at a time; the result does not depend on it.

    Returns:
        Ids, int32 of shape (n, k): falling cosine to five digits, equal ones by rising id.
    """
    found = np.empty((len(asked), k), np.int32)
    ids = np.arange(len(offered))
    for first in range(0, len(asked), tile):
        cosines = asked[first : first + tile] @ offered.T
        keys = ids - np.rint(cosines * 1e5).astype(np.int64) * len(offered)
        best = np.argpartition(keys, k - 1, axis=1)[:, :k] if k else keys[:, :0]
        order = np.argsort(np.take_along_axis(keys, best, axis=1), axis=1)
        found[first : first + tile] = np.take_along_axis(best, order, axis=1)
    return found


def _pairs(blocks: list[_Block]) -> Iterator[tuple[_Block, _Block]]:
    """Return every pair once; blocks with themselves first, because that raises the bars for all that follow."""
    for block in blocks:
        yield block, block
    for number, one in enumerate(blocks):
        for other in blocks[number + 1 :]:
            yield one, other


def _first_bar(cosines: Floats, k: int, limit: np.float32) -> Floats:
    """Return a bar that at least k cosines of each row reach, by the maxima of k groups of columns."""
    rows, columns = cosines.shape
    width = columns // k
    if width == 0:
        return np.full(rows, -np.inf, np.float32)
    grouped = cosines[:, : width * k].reshape(rows, k, width)
    bar: Floats = np.where(grouped < limit, grouped, -np.inf).max(axis=2).min(axis=1)
    return bar


def _places(hits: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the flat places of the few hits, looking at eight at a time where the size allows."""
    flat = hits.ravel()
    if flat.size % 8:
        return np.flatnonzero(flat)
    eights = np.flatnonzero(flat.view(np.uint64))
    which, place = np.nonzero(flat.reshape(-1, 8)[eights])
    places: NDArray[np.intp] = eights[which] * 8 + place
    return places
