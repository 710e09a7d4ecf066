"""Fit conditional logits (McFadden 1974) on features of options, and cross-fit over source videos."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...core.seeds import rng_for
from .questions import Arranged, Floats

FOLDS = 5
STEPS = 30
RIDGE = 1.0
ENOUGH = 1e-8

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Indices of the questions to learn from, and of those to answer."""


def folds(rows: Arranged, seed: int = 0) -> list[Fold]:
    """Split questions by source video into at most five folds with similar numbers of videos.

    Returns:
        For each fold, the indices of the questions outside and inside it. Empty if there is only one source video.
    """
    names = sorted({one.cluster for one in rows.asked})
    parts = min(FOLDS, len(names))
    if parts < 2:
        return []
    drawn = rng_for(seed, "blind", "folds").permutation(len(names)) % parts
    part_of = dict(zip(names, drawn.tolist(), strict=True))
    where = np.array([part_of[one.cluster] for one in rows.asked])
    return [(np.flatnonzero(where != part), np.flatnonzero(where == part)) for part in range(parts)]


def cross_fitted(divided: list[Fold], guess: Callable[[NDArray[np.int64], NDArray[np.int64], str], Floats]) -> Floats:
    """Score every question with a baseline that was trained on the other folds.

    `guess` receives the indices of the training questions and the test questions, and the name of the fold.
    """
    parts = [guess(learnt, asked, str(number)) for number, (learnt, asked) in enumerate(divided)]
    found = np.zeros((sum(len(part) for part in parts), *parts[0].shape[1:]))
    for (_, asked), part in zip(divided, parts, strict=True):
        found[asked] = part
    return found


def features(there: NDArray[np.bool_], scores: Floats) -> Floats:
    """Compute three features of each score: its distance from the question's mean, and whether it is highest or lowest.

    Scores have the shape (questions, most options), and so has `there`, which states whether each option exists.

    Returns:
        Shape (questions, most options, 3), 0 for missing options. Ties share the second and third feature.
    """
    counts = np.maximum(there.sum(axis=1, keepdims=True), 1)
    centred = np.where(there, scores - np.where(there, scores, 0).sum(axis=1, keepdims=True) / counts, 0)
    scale = float(np.sqrt((centred**2).sum() / max(there.sum(), 1))) or 1.0
    high = there & (scores == np.where(there, scores, -np.inf).max(axis=1, keepdims=True))
    low = there & (scores == np.where(there, scores, np.inf).min(axis=1, keepdims=True))
    shared = [place / np.maximum(place.sum(axis=1, keepdims=True), 1) for place in (high, low)]
    return np.stack([np.clip(centred / scale, -5, 5), *shared], axis=2)


def fit(values: Floats, there: NDArray[np.bool_], right: NDArray[np.int64]) -> Floats:
    """Fit the weights of a conditional logit by Newton's method, with a ridge penalty of 1.

    The features `values` have the shape (questions, most options, features). `there` states whether each option exists,
    and `right` is the position of the correct option of each question.
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
    """Compute the softmax of scores over the options of each question."""
    masked = np.where(there, scores, -np.inf)
    grown = np.exp(masked - masked.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares
