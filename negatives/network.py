"""Train a network on the embeddings of question and option to tell correct options from others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WIDTH = 96  # dimensions of the random projection of embeddings
SPREAD = 24.0  # scale of projected embeddings
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPOUT = 0.3
RATE = 1e-3
DECAY = 1e-2
LEAST = 1e-3  # added to a standard deviation


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one hidden layer that scores options."""

    mean: Floats
    scale: Floats
    inner: Floats
    shift: Floats
    outer: Floats

    def __call__(self, features: Floats) -> Floats:
        """Return the log-odds of options, up to a constant, of shape (options,)."""
        hidden = (features - self.mean) / self.scale @ self.inner + self.shift
        found: Floats = np.maximum(hidden, 0) @ self.outer
        return found


def projection(dimensions: int, rng: np.random.Generator) -> Floats:
    """Return a random projection of embeddings, float32 of shape (dimensions, WIDTH)."""
    found: Floats = (rng.standard_normal((dimensions, WIDTH)) * SPREAD / np.sqrt(dimensions)).astype(np.float32)
    return found


def compared(questions: Floats, options: Floats, cues: Floats) -> Floats:
    """Return the input of a network: projected embeddings of options, how they compare with the question, and cues.

    All have the shape (…, features).
    """
    return np.concatenate([options, options * questions, np.abs(options - questions), cues], axis=-1)


def fit_network(table: Floats, rng: np.random.Generator) -> Network:
    """Train a network with one hidden layer to prefer the first option of each row.

    Float32 arithmetic on one thread; the order of operations is fixed.

    Args:
        table: Features, float32 of shape (rows, options, features).
        rng: Generator for initial weights, row order and dropout masks.
    """
    rows, options, width = table.shape
    if not rows:
        zero = np.zeros(width, np.float32)
        return Network(zero, zero + 1, np.zeros((width, 1), np.float32), zero[:1], zero[:1])
    mean, scale = table.mean((0, 1)), table.std((0, 1)) + np.float32(LEAST)
    table = (table - mean) / scale
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
    return Network(mean, scale, *values)


def _kept(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    kept: Floats = (rng.random(shape, np.float32) > DROPOUT) * np.float32(1 / (1 - DROPOUT))
    return kept
