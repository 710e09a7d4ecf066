"""How often a text may be a wrong option, so that to have seen it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .facets import Facet

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

SPENT = 0.02  # what a text that may lend no more still counts
ENERGY_DIGITS = 4


class Lending:
    """How often a text may be wrong."""

    def __init__(self, facets: Mapping[str, Facet], splits: Sequence[str], need: int):
        """Count how often each text is right."""
        self.facets, self.splits, self.need = facets, splits, need
        self.order = sorted(set(splits), key=lambda split: (splits.count(split), split))  # the small ones choose first
        self.total: dict[str, Rows] = {
            kind: np.sum(list(facet.rights.values()), axis=0) for kind, facet in facets.items()
        }

    def limits(self, kind: str, split: str) -> Doubles:
        """Return how often each key may be wrong in a split.

        What is right nowhere is wrong once, and what is right once is never wrong: seen twice, it would be right in one
        of two. What is right several times is wrong as many times as often as there are wrong options for a right one.
        """
        often = self.need * self.facets[kind].rights[split].astype(np.float64)
        return np.where(self.total[kind] == 0, 1.0, np.where(self.total[kind] == 1, 0.0, often))

    def shares(self) -> list[Doubles]:
        """Return the energies to begin with: a text that many rows may take is as much less likely in each."""
        found = [np.zeros(len(texts) - 1) for texts in next(iter(self.facets.values())).texts]
        for kind, facet in self.facets.items():
            wanted = {split: np.zeros(len(rights)) for split, rights in facet.rights.items()}
            for row, keys in enumerate(facet.keys):
                np.add.at(wanted[self.splits[row]], keys[1:], 1)
            everywhere = np.sum(list(wanted.values()), axis=0)
            for row, keys in enumerate(facet.keys):
                split = self.splits[row]
                new = self.total[kind][keys[1:]] == 0
                asked = np.where(new, everywhere[keys[1:]], wanted[split][keys[1:]])
                share = np.log((self.limits(kind, split)[keys[1:]] + SPENT) / asked)
                found[row] = (found[row] + np.minimum(share, 0)).round(ENERGY_DIGITS)
        return found

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

    def even(self, drawn: Mapping[int, Rows]) -> list[Doubles]:
        """Return what to add to the energies, so that texts that are right several times lend as often as they may."""
        found = [np.zeros(len(texts) - 1) for texts in next(iter(self.facets.values())).texts]
        for kind, facet in self.facets.items():
            lent = {split: np.zeros(len(rights)) for split, rights in facet.rights.items()}
            for row, places in drawn.items():
                np.add.at(lent[self.splits[row]], facet.keys[row][places], 1)
            for split, counts in lent.items():
                ratio = np.log((self.limits(kind, split) + 0.5) / (counts + 0.5)).clip(-1, 1)
                lent[split] = np.where(self.total[kind] > 1, ratio, 0)
            for row, keys in enumerate(facet.keys):
                found[row] = found[row] + lent[self.splits[row]][keys[1:]]
        return found


class Left:
    """How often texts may still be wrong, while sets are chosen one after another."""

    def __init__(self, lending: Lending):
        """Let every text lend as often as it may."""
        self.lending = lending
        self.left = {
            (kind, split): lending.limits(kind, split)
            for kind, facet in lending.facets.items()
            for split in facet.rights
        }
        self.new = {kind: np.where(total == 0, 1.0, np.inf) for kind, total in lending.total.items()}

    def free(self, row: int) -> NDArray[np.bool_]:
        """Return which candidates of a row may still be taken."""
        free = np.ones(len(next(iter(self.lending.facets.values())).texts[row]) - 1, np.bool_)
        for kind, facet in self.lending.facets.items():
            keys = facet.keys[row][1:]
            once = self.lending.total[kind][keys] == 1  # hardly ever drawn, but the better way out
            free &= once | (np.minimum(self.left[kind, self.lending.splits[row]][keys], self.new[kind][keys]) >= 1)
        return free

    def take(self, row: int, places: Rows) -> None:
        """Note what a row takes."""
        for kind, facet in self.lending.facets.items():
            keys = facet.keys[row][places]
            self.left[kind, self.lending.splits[row]][keys] -= 1
            self.new[kind][keys] -= 1
