"""Models that tell the right option of a set, and say so only of sets that they did not learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from .steering import Network, conditional_logit

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

FOLDS = 3
DIGITS = 4


@dataclass(frozen=True, eq=False)
class Judge:
    """Models of what tells the right option of a set, each learnt without some of the rows.

    Attributes:
        fold_of: The fold of every row.
        models: By fold, what was learnt without it.
        mean: What is taken off the features, shape (features,).
        scale: What they are divided by.
    """

    fold_of: Rows
    models: Sequence[Callable[[Doubles], Doubles]]
    mean: Doubles
    scale: Doubles

    @staticmethod
    def learn(
        table: Doubles,
        scale: tuple[Doubles, Doubles],
        fold_of: Rows,
        rows: Sequence[int] | Rows,
        seed: int,
        *key: str | int,
    ) -> Judge:
        """Learn from the sets of rows, float64 of shape (rows, options, features)."""
        seen, folds = (table - scale[0]) / scale[1], fold_of[np.asarray(rows)]
        models = [
            _set_model(seen[folds != fold], rng_for(seed, *(str(one) for one in key), str(fold)))
            for fold in range(FOLDS)
        ]
        return Judge(fold_of, models, *scale)

    def odds(self, row: int, seen: Doubles) -> Doubles:
        """Return the log-odds of options, but for what is the same for all of a set, shape (sets, options)."""
        known = (seen - self.mean) / self.scale
        found: Doubles = self.models[self.fold_of[row]](known.reshape(-1, known.shape[2])).reshape(known.shape[:2])
        return found


def chances(odds: Doubles) -> Doubles:
    """Return the log-probability of the right option, which comes first, by odds of shape (sets, options)."""
    found: Doubles = odds[:, 0] - np.logaddexp.reduce(odds, axis=1)
    return found


def hits(values: Doubles) -> Doubles:
    """Return how likely whoever takes the largest value is right, by values of shape (rows, options)."""
    largest = values.round(DIGITS) == values.round(DIGITS).max(1, keepdims=True)
    found: Doubles = largest[:, 0] / largest.sum(1)
    return found


def _set_model(table: Doubles, rng: np.random.Generator) -> Callable[[Doubles], Doubles]:
    """Learn on the sets of some rows what tells their right option; nothing if there are none."""
    if not len(table):
        return lambda seen: np.zeros(len(seen))
    weights = conditional_logit(table, ridge=1e-3)
    net = Network.fit(table, rng)
    return lambda seen: 0.5 * (seen @ weights + net.odds(seen))
