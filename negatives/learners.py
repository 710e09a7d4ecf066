"""Train the models of question and options that guide the sampling of distractors: a network and a conditional logit.

Networks use float32 arithmetic on one thread, and all scores are rounded before use. Trees and n-grams are never used
here, so that they remain independent judges (`evaluation.blind`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Scorer = Callable[[Floats], Floats]
"""Returns log-odds, up to a constant per set, for features of shape (options, features)."""

FOLDS = 3
DIGITS = 4
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPOUT = 0.3
RATE = 1e-3
DECAY = 1e-2
LEAST = 1e-3  # added to a standard deviation
PART = 1 << 13  # options scored at a time; their features fit into the cache of a processor


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one hidden layer that scores options."""

    inner: Floats
    shift: Floats
    outer: Floats

    def __call__(self, features: Floats) -> Floats:
        """Return the log-odds of options."""
        found: Floats = np.maximum(features @ self.inner + self.shift, 0) @ self.outer
        return found

    def on_unscaled(self, mean: Floats, scale: Floats) -> Network:
        """Return the network for features that are not standardized."""
        inner = self.inner / scale[:, None]
        return replace(self, inner=inner, shift=self.shift - mean @ inner)


def fit_network(table: Floats, rng: np.random.Generator) -> Network:
    """Train a network with one hidden layer to prefer the first option of each row.

    Args:
        table: Standardized features, float32 of shape (rows, options, features).
        rng: Generator for initial weights, row order and dropout masks.
    """
    rows, options, width = table.shape
    if not rows:
        return Network(*(np.zeros(shape, np.float32) for shape in ((width, HIDDEN), HIDDEN, HIDDEN)))
    values: list[Floats] = [
        rng.standard_normal((width, HIDDEN), np.float32) / np.float32(np.sqrt(width)),
        np.zeros(HIDDEN, np.float32),
        rng.standard_normal(HIDDEN, np.float32) / np.float32(np.sqrt(HIDDEN)),
    ]
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]  # Adam's moments
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(rows)
        for start in range(0, rows, BATCH):
            batch = order[start : start + BATCH]
            inputs, used = table[batch].reshape(-1, width), _kept(rng, (width, 1))
            kept = _kept(rng, (len(inputs), HIDDEN))
            hidden = np.maximum(inputs @ (used * values[0]) + values[1], 0) * kept
            odds = (hidden @ values[2]).reshape(-1, options)
            odds -= odds.max(1, keepdims=True)
            error = np.exp(odds)
            error /= error.sum(1, keepdims=True)
            error[:, 0] -= 1
            error = error.reshape(-1) / np.float32(len(batch))
            back = error[:, None] * values[2] * (hidden > 0) * kept
            gradients = [used * (inputs.T @ back), back.sum(0), hidden.T @ error]
            step += 1
            rate = np.float32(RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
            for value, gradient, m, v in zip(values, gradients, first, second, strict=True):
                m += np.float32(0.1) * (gradient - m)
                v += np.float32(0.001) * (gradient**2 - v)
                value -= rate * m / (np.sqrt(v) + np.float32(1e-8)) + np.float32(RATE * DECAY) * value
    return Network(*values)


def _kept(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    kept: Floats = (rng.random(shape, np.float32) > DROPOUT) * np.float32(1 / (1 - DROPOUT))
    return kept


def conditional_logit(table: Floats | Doubles, *, ridge: float = 3e-3, steps: int = 60) -> Doubles:
    """Fit weights that make the first option of each row most likely to be correct (McFadden 1974).

    Args:
        table: Standardized features of shape (rows, options, features).
        ridge: Penalty on the squared weights, relative to the mean loss per row.
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
    moments = (flat.T @ flat).astype(np.float64)
    vector = np.ones(width) / np.sqrt(width)
    for _ in range(12):
        vector = moments @ vector
        vector /= np.linalg.norm(vector) + 1e-300
    rate = 1 / (0.5 * float(vector @ moments @ vector) / rows * 1.1 + ridge)
    target = table[:, 0].sum(0, dtype=np.float64)
    for step in range(steps):
        odds = (flat @ ahead.astype(flat.dtype)).reshape(rows, options)
        odds -= odds.max(1, keepdims=True)
        share = np.exp(odds)
        share /= share.sum(1, keepdims=True)
        gradient = (flat.T @ share.ravel() - target) / rows + ridge * ahead
        new = ahead - rate * gradient
        ahead = new + step / (step + 3) * (new - weights)
        weights = new
    return weights


def fit_sets(table: Floats, folds: Indices, seed: int, *key: str) -> list[Scorer]:
    """Train one model of option sets for each fold, on the rows outside that fold.

    `table` contains standardized features, float32 of shape (rows, options, features), the correct option first.
    """
    return [_fit_set(table[folds != fold], rng_for(seed, *key, str(fold))) for fold in range(FOLDS)]


def _fit_set(table: Floats, rng: np.random.Generator) -> Scorer:
    if not len(table):
        return lambda features: np.zeros(len(features), np.float32)
    weights = conditional_logit(table, ridge=1e-3).astype(np.float32)
    network = fit_network(table, rng)
    return lambda features: np.float32(0.5) * (features @ weights + network(features))


def scored(scorers: Sequence[Scorer], folds: Indices, table: NDArray[np.floating]) -> Floats:
    """Score each row with the model that was trained without its fold. `table` has shape (rows, …, features).

    The result contains log-odds, up to a constant per set, float32 of shape (rows, …).
    """
    found = np.empty(table.shape[:-1], np.float32)
    part = max(1, PART * len(table) // max(found.size, 1))
    for fold, scorer in enumerate(scorers):
        rows = np.flatnonzero(folds == fold)
        for some in np.split(rows, range(part, len(rows), part)):
            flat = table[some].reshape(-1, table.shape[-1]).astype(np.float32, copy=False)
            found[some] = scorer(flat).reshape(len(some), *table.shape[1:-1])
    return found


def log_likelihood(odds: Floats) -> Floats:
    """Return the log-probability of the first option, given odds of shape (…, options)."""
    found: Floats = odds[..., 0] - np.logaddexp.reduce(odds, axis=-1)
    return found


def hit_rate(scores: NDArray[np.floating]) -> Doubles:
    """Return the probability that the first option of each row, shape (rows, options), scores highest; ties share."""
    rounded = scores.round(DIGITS)
    largest = rounded == rounded.max(1, keepdims=True)
    found: Doubles = largest[:, 0] / largest.sum(1)
    return found
