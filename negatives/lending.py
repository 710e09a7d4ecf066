"""Which texts may be wrong options where, so that to have seen one as wrong elsewhere says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .facets import Facet

Rows = NDArray[np.int64]

FREE = -1


class Lending:
    """Keeps texts that are right nowhere inside one split, and the texts of a set different.

    A text that is wrong in train and right nowhere would be wrong in the test too, to whoever remembers it. Splits
    choose in the order of their size, the smallest first.

    Attributes:
        order: The splits, in the order in which they choose.
    """

    def __init__(self, facets: Mapping[str, Facet], splits: Sequence[str]):
        """Let every text be used anywhere."""
        self.facets, self.splits = facets, splits
        self.order = sorted(set(splits), key=lambda split: (splits.count(split), split))
        self._place = {split: place for place, split in enumerate(self.order)}
        self._new = {kind: np.sum(list(facet.rights.values()), axis=0) == 0 for kind, facet in facets.items()}
        self._used_in = {kind: np.full(len(new), FREE) for kind, new in self._new.items()}

    def distinct(self, row: int, places: Rows, count: int) -> Rows:
        """Return the first places whose texts are all different, of each kind."""
        columns = [facet.keys[row] for facet in self.facets.values()]
        taken: list[set[int]] = [{int(keys[0])} for keys in columns]
        found: list[int] = []
        for place in places.tolist():
            if len(found) == count:
                break
            own = [int(keys[place]) for keys in columns]
            if any(key in known for key, known in zip(own, taken, strict=True)):
                continue
            for key, known in zip(own, taken, strict=True):
                known.add(key)
            found.append(place)
        return np.array(found, np.int64)

    def free(self, row: int) -> NDArray[np.bool_]:
        """Return which candidates of a row no other split has used."""
        free = np.ones(len(next(iter(self.facets.values())).texts[row]) - 1, np.bool_)
        for kind, facet in self.facets.items():
            used = self._used_in[kind][facet.keys[row][1:]]
            free &= (used == FREE) | (used == self._place[self.splits[row]])
        return free

    def take(self, row: int, places: Rows) -> None:
        """Note what a row takes."""
        for kind, facet in self.facets.items():
            keys = facet.keys[row][places]
            new = keys[self._new[kind][keys]]
            self._used_in[kind][new] = self._place[self.splits[row]]
