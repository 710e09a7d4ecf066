"""Train gradient-boosted trees to tell correct options from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.extras import import_extra
from ..core.seeds import rng_for

Floats = NDArray[np.float32]

FOLDS = 3
ITERATIONS = 60
RATE = 0.15
DIGITS = 4


def fit_trees(table: Floats, seed: int, *key: str) -> Any:
    """Train on the options of rows, of which the first is correct. Return None if there is nothing to learn.

    `table` has the shape (rows, options, cues).
    """
    rows, options, width = table.shape
    if not rows:
        return None
    ensemble = import_extra("sklearn.ensemble", what="balancing options")
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=ITERATIONS,
        learning_rate=RATE,
        max_leaf_nodes=15,
        min_samples_leaf=40,
        l2_regularization=5.0,
        max_features=0.5,
        early_stopping=False,
        random_state=int(rng_for(seed, "balance", "trees", *key).integers(1 << 31)),
    )
    return model.fit(table.reshape(-1, width), np.tile(np.arange(options) == 0, rows))


def odds(model: Any, table: Floats) -> Floats:
    """Return the log-odds of options, up to a constant, of shape (…); `table` has the shape (…, cues)."""
    if model is None or not table.size:
        return np.zeros(table.shape[:-1], np.float32)
    found: Floats = model.decision_function(table.reshape(-1, table.shape[-1])).astype(np.float32)
    return found.reshape(table.shape[:-1]).round(DIGITS)


def hit_rate(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probability that the first option of each row, shape (rows, options), scores highest; ties share."""
    rounded = scores.round(DIGITS)
    largest = rounded == rounded.max(1, keepdims=True)
    found: NDArray[np.float64] = largest[:, 0] / largest.sum(1)
    return found


def cross_scored(table: Floats, folds: Sequence[int] | NDArray[np.int64], seed: int, *key: str) -> Floats:
    """Score the options of rows with trees that were trained without their fold, of shape (rows, options)."""
    found = np.zeros(table.shape[:-1], np.float32)
    for fold in range(FOLDS):
        here = np.asarray(folds) == fold
        found[here] = odds(fit_trees(table[~here], seed, *key, str(fold)), table[here])
    return found
