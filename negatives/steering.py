"""Models that tell right options from drawn ones, and so steer what is drawn: a network and a conditional logit.

Both are plain float64 arithmetic in a fixed order, and what they say is rounded before it decides anything, so that
machines agree. Trees and n-grams are left to judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPPED = 0.3
RATE = 1e-3
DECAY = 1e-2


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one hidden layer that says how likely an option is the right one of its set.

    Attributes:
        inner: Weights of shape (features, hidden).
        shift: Of shape (hidden,).
        outer: Of shape (hidden,).
    """

    inner: Doubles
    shift: Doubles
    outer: Doubles

    def odds(self, table: Doubles) -> Doubles:
        """Return the log-odds of options, but for what is the same for all of a set."""
        found: Doubles = np.maximum(table @ self.inner + self.shift, 0) @ self.outer
        return found

    @staticmethod
    def fit(table: Doubles, rng: np.random.Generator) -> Network:
        """Learn that the first option of each row is the right one.

        Args:
            table: Features, float64 of shape (rows, options, features), scaled alike.
            rng: Draws the weights to begin with, the order of rows and what is dropped out.
        """
        rows, options, width = table.shape
        values = [
            rng.standard_normal((width, HIDDEN)) / np.sqrt(width),
            np.zeros(HIDDEN),
            rng.standard_normal(HIDDEN) / np.sqrt(HIDDEN),
        ]
        first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
        step = 0
        for _ in range(EPOCHS):
            order = rng.permutation(rows)
            for start in range(0, rows, BATCH):
                batch = order[start : start + BATCH]
                seen = table[batch].reshape(-1, width) * ((rng.random((1, width)) > DROPPED) / (1 - DROPPED))
                kept = (rng.random((len(seen), HIDDEN)) > DROPPED) / (1 - DROPPED)
                bent = np.maximum(seen @ values[0] + values[1], 0) * kept
                odds = (bent @ values[2]).reshape(-1, options)
                odds -= odds.max(1, keepdims=True)
                error = np.exp(odds)
                error /= error.sum(1, keepdims=True)
                error[:, 0] -= 1
                error = error.reshape(-1) / len(batch)
                back = error[:, None] * values[2] * (bent > 0) * kept
                gradients = [seen.T @ back, back.sum(0), bent.T @ error]
                step += 1
                for value, gradient, m, v in zip(values, gradients, first, second, strict=True):
                    m += 0.1 * (gradient - m)
                    v += 0.001 * (gradient**2 - v)
                    rate = RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                    value -= rate * m / (np.sqrt(v) + 1e-8) + RATE * DECAY * value
        return Network(*values)


def conditional_logit(table: Doubles, *, ridge: float = 3e-3, steps: int = 60) -> Doubles:
    """Fit weights under which the first option of each row is likely the right one.

    Args:
        table: Features, float64 of shape (rows, options, features), scaled alike.
        ridge: Penalty of the weights' squares, against the mean loss of a row.
        steps: Of Nesterov's accelerated gradient; a fixed number, so that nothing depends on when it stops.

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
