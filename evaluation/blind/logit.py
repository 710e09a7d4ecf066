"""The conditional logit (McFadden 1974): which of several options is right, by a weighted sum of their features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .asked import Floats

STEPS = 30
RIDGE = 1.0
ENOUGH = 1e-8


def features(there: NDArray[np.bool_], scores: Floats) -> Floats:
    """Return three features of a score: how far above the row's mean it is, whether it is the largest or the smallest.

    Args:
        there: Where there is an option, shape (questions, most options).
        scores: A number for each option, likewise.

    Returns:
        Shape (questions, most options, 3), 0 where there is no option. Largest and smallest of equal ones are shared.
    """
    counts = np.maximum(there.sum(axis=1, keepdims=True), 1)
    centred = np.where(there, scores - np.where(there, scores, 0).sum(axis=1, keepdims=True) / counts, 0)
    scale = float(np.sqrt((centred**2).sum() / max(there.sum(), 1))) or 1.0
    high = there & (scores == np.where(there, scores, -np.inf).max(axis=1, keepdims=True))
    low = there & (scores == np.where(there, scores, np.inf).min(axis=1, keepdims=True))
    shared = [place / np.maximum(place.sum(axis=1, keepdims=True), 1) for place in (high, low)]
    return np.stack([np.clip(centred / scale, -5, 5), *shared], axis=2)


def fit(values: Floats, there: NDArray[np.bool_], right: NDArray[np.int64]) -> Floats:
    """Fit the weights by Newton's method, with a ridge penalty of 1.

    Args:
        values: Features, shape (questions, most options, features).
        there: Where there is an option.
        right: The place of the right option of each question.

    Returns:
        A weight for each feature.
    """
    weights = np.zeros(values.shape[2])
    chosen = values[np.arange(len(right)), right].sum(axis=0)
    for _ in range(STEPS):
        shares = probabilities(values @ weights, there)
        mean = np.einsum("nk,nkf->nf", shares, values)
        slope = chosen - mean.sum(axis=0) - RIDGE * weights
        spread = values - mean[:, None]
        flat = (np.sqrt(shares)[:, :, None] * spread).reshape(-1, values.shape[2])
        step = np.linalg.solve(flat.T @ flat + RIDGE * np.eye(len(weights)), slope)
        weights = weights + step * min(1.0, 4.0 / max(float(np.abs(step).max(initial=0.0)), 1e-12))
        if np.abs(step).max(initial=0.0) < ENOUGH:
            break
    return weights


def probabilities(scores: Floats, there: NDArray[np.bool_]) -> Floats:
    """Return the softmax over the options of each question."""
    masked = np.where(there, scores, -np.inf)
    grown = np.exp(masked - masked.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares
