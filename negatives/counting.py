"""How often texts are options in a split: whoever reads a whole split sees which ones come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .facets import Facet, relative

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

BINS = (1, 2, 4, 7)  # an option occurs once, two or three times, four to six times, more often
CROSSED = 2  # the first cues, how near the question is and which of its words are shared, are crossed with the bins


class Counts:
    """Counts, as right option and as wrong one, of all texts of each split."""

    def __init__(self, facets: Mapping[str, Facet], splits: Sequence[str]):
        """Count the right options."""
        self._facets = list(facets.values())
        self._split = splits
        self._counts = [{split: rights.copy() for split, rights in facet.rights.items()} for facet in self._facets]

    def add(self, row: int, places: Rows, number: int = 1) -> None:
        """Count wrong options of a row, or take them back with -1."""
        for facet, counts in zip(self._facets, self._counts, strict=True):
            np.add.at(counts[self._split[row]], facet.keys[row][places], number)

    def features(self, row: int, sets: Rows, odds: Doubles) -> Doubles:
        """Return what a row's options show by their counts, if it had these sets and they were not counted yet.

        Args:
            row: Which row.
            sets: Places of wrong options, from 1, of shape (sets, need).
            odds: How likely each option is right by all else, of shape (sets, options), the right option first.

        Returns:
            float64 of shape (sets, options, features).
        """
        members = np.concatenate([np.zeros((len(sets), 1), np.int64), sets], axis=1)
        columns = [*relative(odds.round(6))]
        likely = columns[1]
        for facet, counts in zip(self._facets, self._counts, strict=True):
            seen = counts[self._split[row]][facet.keys[row][members]] + (members > 0)
            cues = np.moveaxis(facet.cues[row][members][:, :, :CROSSED], 2, 0)
            crossed = [likely, *cues, *(cues - cues.mean(2, keepdims=True))]
            columns += [np.log(seen), *relative(np.log(seen).round(6))]
            for low, high in zip(BINS, (*BINS[1:], np.inf), strict=True):
                inside = ((seen >= low) & (seen < high)).astype(np.float64)
                columns += [inside - inside.mean(1, keepdims=True), *(inside * value for value in crossed)]
        return np.stack(columns, axis=2)
