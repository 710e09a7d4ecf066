"""How often texts are options in a split: whoever reads a whole split sees which ones come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .facets import Facet, relative

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

BINS = (2, 4, 7)  # an option occurs so many times at least
CROSSED = 2  # the first cues, how near the question is and which of its words are shared, are crossed with the counts


class Counts:
    """Counts, as right option and as wrong one, of all texts of each split."""

    def __init__(self, facets: Mapping[str, Facet], splits: Sequence[str]):
        """Count the right options."""
        self._facets = facets
        self._split = splits
        self._counts = {
            kind: {split: rights.copy() for split, rights in facet.rights.items()} for kind, facet in facets.items()
        }

    def add(self, row: int, places: Rows) -> None:
        """Count wrong options of a row."""
        for kind, facet in self._facets.items():
            np.add.at(self._counts[kind][self._split[row]], facet.keys[row][places], 1)

    def features(self, kind: str, row: int, places: Rows) -> Doubles:
        """Return what the options of a row that is counted show by their counts.

        Args:
            kind: Of the texts.
            row: Which row.
            places: Places of its wrong options, from 1.

        Returns:
            float64 of shape (options, features), the right option first.
        """
        facet = self._facets[kind]
        members = np.append(0, places)
        often = np.log(self._counts[kind][self._split[row]][facet.keys[row][members]])[None]
        cues = np.moveaxis(facet.cues[row][members][None, :, :CROSSED], 2, 0)
        near = [*relative(cues[0])[:3], *cues[1:]]
        by_count = [*relative(often.round(6)), often]
        for low in BINS:
            inside = (often >= np.log(low)).astype(np.float64)
            by_count += [inside, *(inside * value for value in near)]
        found: Doubles = np.stack(by_count, axis=2)[0]
        return found
