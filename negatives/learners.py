"""Models of question and options that guide the sampling of distractors: a network and a conditional logit.

Both use float64 arithmetic in a fixed order, and their scores are rounded before use, so that results agree across
machines. Trees and n-grams are never used here, so that they remain independent judges (`evaluation.blind`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Scorer = Callable[[Doubles], Doubles]
"""Returns log-odds, up to a constant per set, for features of shape (options, features)."""

FOLDS = 3
DIGITS = 4
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPOUT = 0.3
RATE = 1e-3
DECAY = 1e-2


def fit_network(table: Doubles, rng: np.random.Generator) -> Scorer:
    """Train a network with one hidden layer to prefer the first option of each row.

    Args:
        table: Standardized features, float64 of shape (rows, options, features).
        rng: Generator for initial weights, row order and dropout masks.
    """
    rows, options, width = table.shape
    values = [
        rng.standard_normal((width, HIDDEN)) / np.sqrt(width),
        np.zeros(HIDDEN),
        rng.standard_normal(HIDDEN) / np.sqrt(HIDDEN),
    ]
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]  # Adam's moments
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(rows)
        for start in range(0, rows, BATCH):
            batch = order[start : start + BATCH]
            inputs = table[batch].reshape(-1, width) * ((rng.random((1, width)) > DROPOUT) / (1 - DROPOUT))
            kept = (rng.random((len(inputs), HIDDEN)) > DROPOUT) / (1 - DROPOUT)
            hidden = np.maximum(inputs @ values[0] + values[1], 0) * kept
            odds = (hidden @ values[2]).reshape(-1, options)
            odds -= odds.max(1, keepdims=True)
            error = np.exp(odds)
            error /= error.sum(1, keepdims=True)
            error[:, 0] -= 1
            error = error.reshape(-1) / len(batch)
            back = error[:, None] * values[2] * (hidden > 0) * kept
            gradients = [inputs.T @ back, back.sum(0), hidden.T @ error]
            step += 1
            for value, gradient, m, v in zip(values, gradients, first, second, strict=True):
                m += 0.1 * (gradient - m)
                v += 0.001 * (gradient**2 - v)
                rate = RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                value -= rate * m / (np.sqrt(v) + 1e-8) + RATE * DECAY * value
    inner, shift, outer = values
    return lambda features: np.maximum(features @ inner + shift, 0) @ outer


def conditional_logit(table: Doubles, *, ridge: float = 3e-3, steps: int = 60) -> Doubles:
    """Fit weights under which the first option of each row is most likely the correct one (McFadden 1974).

    Args:
        table: Standardized features, float64 of shape (rows, options, features).
        ridge: Penalty on the squared weights, relative to the mean loss of a row.
        steps: Steps of Nesterov's accelerated gradient; the number is fixed, so that no stopping rule affects the
            result.

    Returns:
        Weights, float64 of shape (features,).
    """
    rows, options, width = table.shape
    flat = table.reshape(-1, width)
    weights = np.zeros(width)
    ahead = weights
    # The curvature of the loss is at most half the largest eigenvalue of the second moments.
    vector = np.ones(width) / np.sqrt(width)
    for _ in range(12):
        vector = flat.T @ (flat @ vector)
        vector /= np.linalg.norm(vector) + 1e-300
    rate = 1 / (0.5 * np.linalg.norm(flat @ vector) ** 2 / rows * 1.1 + ridge)
    target = table[:, 0].sum(0)
    for step in range(steps):
        odds = (flat @ ahead).reshape(rows, options)
        odds -= odds.max(1, keepdims=True)
        share = np.exp(odds)
        share /= share.sum(1, keepdims=True)
        gradient = (flat.T @ share.ravel() - target) / rows + ridge * ahead
        new = ahead - rate * gradient
        ahead = new + step / (step + 3) * (new - weights)
        weights = new
    return weights


@dataclass(frozen=True, eq=False)
class SetModel:
    """Cross-fitted models that score the options of a set; each is trained without one fold.

    Attributes:
        fold_of: Fold of every row.
        scorers: Models by the fold that was excluded from their training.
        mean: Subtracted from the features, shape (features,).
        scale: Divisor of the features, shape (features,).
    """

    fold_of: Indices
    scorers: Sequence[Scorer]
    mean: Doubles
    scale: Doubles

    def odds(self, row: int, features: Doubles) -> Doubles:
        """Return log-odds, up to a constant per set, of shape (sets, options)."""
        scaled = (features - self.mean) / self.scale
        found: Doubles = self.scorers[self.fold_of[row]](scaled.reshape(-1, scaled.shape[2])).reshape(scaled.shape[:2])
        return found


def fit_sets(
    table: Doubles,
    scale: tuple[Doubles, Doubles],
    fold_of: Indices,
    rows: Sequence[int] | Indices,
    seed: int,
    *key: str | int,
) -> SetModel:
    """Cross-fit models on the sets of rows, float64 of shape (rows, options, features), correct option first."""
    scaled, folds = (table - scale[0]) / scale[1], fold_of[np.asarray(rows)]
    scorers = [
        _fit_set(scaled[folds != fold], rng_for(seed, *(str(one) for one in key), str(fold))) for fold in range(FOLDS)
    ]
    return SetModel(fold_of, scorers, *scale)


def _fit_set(table: Doubles, rng: np.random.Generator) -> Scorer:
    if not len(table):
        return lambda features: np.zeros(len(features))
    weights = conditional_logit(table, ridge=1e-3)
    network = fit_network(table, rng)
    return lambda features: 0.5 * (features @ weights + network(features))


def log_likelihood(odds: Doubles) -> Doubles:
    """Return the log-probability of the first option, for odds of shape (sets, options)."""
    found: Doubles = odds[:, 0] - np.logaddexp.reduce(odds, axis=1)
    return found


def hit_rate(scores: Doubles) -> Doubles:
    """Return the probability that the first option has the largest score, ties shared, for shape (rows, options)."""
    largest = scores.round(DIGITS) == scores.round(DIGITS).max(1, keepdims=True)
    found: Doubles = largest[:, 0] / largest.sum(1)
    return found
