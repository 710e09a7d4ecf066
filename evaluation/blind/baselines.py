"""Share among blind baselines: their choices, folds of source videos, and conditional logits (McFadden 1974)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...core.numerics import rng_for
from .blind_questions import Arranged, Floats

FOLDS = 5
STEPS = 30
RIDGE = 1.0
ENOUGH = 1e-8

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Indices of the questions to learn from, and of those to answer."""
Choices = NDArray[np.int64]
Family = Literal["untrained", "trained"]


@dataclass(frozen=True)
class BaselineChoices:
    """The options that one baseline chooses.

    Attributes:
        family: Whether the baseline is trained on questions with known answers.
        choices: Original index of the chosen option of each question, shape (questions,), or (questions, 2) for pairs.
        right: Probability that each choice is correct, shape (questions,). It is 0 or 1 unless options are tied.
    """

    name: str
    meaning: str
    family: Family
    choices: Choices
    right: NDArray[np.float64]


@dataclass(frozen=True)
class Worth:
    """How much a cue contributes to the baseline that combines all cues.

    Attributes:
        alone: Accuracy with this cue only.
        lost: Decrease in accuracy without this cue.
    """

    cue: str
    alone: float
    lost: float


def folds(rows: Arranged, seed: int = 0) -> list[Fold]:
    """Split questions by source video into at most five folds with similar numbers of videos.

    Returns:
        For each fold, the indices of the questions outside and inside it. Empty if there is only one source video.
    """
    sources = sorted({question.cluster for question in rows.questions})
    parts = min(FOLDS, len(sources))
    if parts < 2:
        return []
    drawn = rng_for(seed, "blind", "folds").permutation(len(sources)) % parts
    part_of = dict(zip(sources, drawn.tolist(), strict=True))
    parts_of_rows = np.array([part_of[question.cluster] for question in rows.questions])
    return [(np.flatnonzero(parts_of_rows != part), np.flatnonzero(parts_of_rows == part)) for part in range(parts)]


def cross_fitted(divided: list[Fold], score: Callable[[NDArray[np.int64], NDArray[np.int64], str], Floats]) -> Floats:
    """Score every question with a baseline that was trained on the other folds.

    `score` receives the indices of the training questions and the test questions, and the name of the fold.
    """
    parts = [score(train, test, str(number)) for number, (train, test) in enumerate(divided)]
    scores = np.zeros((sum(map(len, parts)), *parts[0].shape[1:]))
    for (_, test), part in zip(divided, parts, strict=True):
        scores[test] = part
    return scores


def features(exists: NDArray[np.bool_], scores: Floats) -> Floats:
    """Compute three features of each score: its distance from the question's mean, and whether it is highest or lowest.

    Scores have the shape (questions, most options), and so has `exists`, which states whether each option exists.

    Returns:
        Shape (questions, most options, 3), 0 for missing options. Ties share the second and third feature.
    """
    counts = np.maximum(exists.sum(axis=1, keepdims=True), 1)
    centred = np.where(exists, scores - np.where(exists, scores, 0).sum(axis=1, keepdims=True) / counts, 0)
    scale = float(np.sqrt((centred**2).sum() / max(exists.sum(), 1))) or 1.0
    high = exists & (scores == np.where(exists, scores, -np.inf).max(axis=1, keepdims=True))
    low = exists & (scores == np.where(exists, scores, np.inf).min(axis=1, keepdims=True))
    shared = [extreme / np.maximum(extreme.sum(axis=1, keepdims=True), 1) for extreme in (high, low)]
    return np.stack([np.clip(centred / scale, -5, 5), *shared], axis=2)


def fit_logit(values: Floats, exists: NDArray[np.bool_], right: NDArray[np.int64]) -> Floats:
    """Fit the weights of a conditional logit by Newton's method, with a ridge penalty of 1.

    The features `values` have the shape (questions, most options, features). `exists` states whether each option
    exists, and `right` is the position of the correct option of each question. scikit-learn has no conditional logit.
    Its `LogisticRegression` on single options is no more accurate, takes twice as long, and is an optional package.
    """
    weights = np.zeros(values.shape[2])
    chosen = values[np.arange(len(right)), right].sum(axis=0)
    for _ in range(STEPS):
        shares = probabilities(values @ weights, exists)
        mean = np.einsum("nk,nkf->nf", shares, values)
        slope = chosen - mean.sum(axis=0) - RIDGE * weights
        spread = values - mean[:, None]
        flat = (np.sqrt(shares)[:, :, None] * spread).reshape(-1, values.shape[2])
        step = np.linalg.solve(flat.T @ flat + RIDGE * np.eye(len(weights)), slope)
        weights = weights + step * min(1.0, 4.0 / max(float(np.abs(step).max(initial=0.0)), 1e-12))
        if np.abs(step).max(initial=0.0) < ENOUGH:
            break
    return weights


def probabilities(scores: Floats, exists: NDArray[np.bool_]) -> Floats:
    """Compute the softmax of scores over the options of each question."""
    masked = np.where(exists, scores, -np.inf)
    grown = np.exp(masked - masked.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares
