"""Score options with boosted trees on everything that the options, the question and training questions reveal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...core.seeds import rng_for
from ...core.threads import one_thread
from .cues import DIGITS
from .measured import Measured
from .questions import Floats
from .train_cues import compared, train_cues

SEEDS = 3
COMPONENTS = 16
TREES, RATE, LEAVES, SMALLEST = 150, 0.08, 15, 30


def trees(learnt: Measured, asked: Measured, seed: int, key: str) -> Floats:
    """Score options with gradient-boosted trees on all cues, including those in `TRAINING`."""
    ensemble = import_extra("sklearn.ensemble", what="a trained baseline")
    learnt = compared(learnt)
    sources, others = ({one.cluster for one in view.rows.asked} for view in (learnt, asked))
    apart = len(sources) > 1 and not sources & others
    axes = _components(learnt)
    known, unknown = (_inputs(view, learnt, axes, apart) for view in (learnt, asked))
    scores = np.zeros(int(asked.rows.there.sum()))
    with one_thread():
        for number in range(SEEDS):
            model = ensemble.HistGradientBoostingClassifier(
                max_iter=TREES,
                learning_rate=RATE,
                max_leaf_nodes=LEAVES,
                min_samples_leaf=SMALLEST,
                l2_regularization=1.0,
                max_features=0.5,
                early_stopping=False,
                random_state=int(rng_for(seed, "blind", "trees", key, number).integers(1 << 32)),
            )
            scores += model.fit(known, learnt.rows.labels()).decision_function(unknown)
    return asked.rows.placed(scores)


def _inputs(view: Measured, learnt: Measured, axes: Floats | None, apart: bool) -> Floats:
    """Return the inputs of the trees, shape (existing options, features)."""
    there = view.rows.there
    cues = np.stack([*view.cues.values(), *train_cues(view, learnt, apart=apart).values()], axis=2)
    parts = [cues, relative(there, cues)]
    if view.vectors is not None and axes is not None:
        options, asked = (each @ axes for each in (view.vectors.options, view.vectors.questions))
        parts += [np.round(options, DIGITS), np.round(options * asked[:, None], DIGITS)]
    return np.concatenate([part[there] for part in parts], axis=1)


def relative(there: NDArray[np.bool_], values: Floats) -> Floats:
    """Compare the cues of each option with those of the other options of its question.

    `values` has the shape (questions, most options, cues), and `there` states whether each option exists.

    Returns:
        Differences from the mean of all options, ranks (the number of options with lower values, ties as one half), and
            differences from the largest value of the others, one after another; 0 for missing options.
    """
    exists = there[:, :, None]
    mean = np.where(exists, values, 0).sum(axis=1, keepdims=True) / exists.sum(axis=1, keepdims=True)
    rank, rival = np.zeros_like(values), np.full_like(values, -np.inf)
    for place in range(values.shape[1]):
        other, known = values[:, place, None], exists[:, place, None]
        rank += known * ((other < values) + 0.5 * (other == values))
        apart = known & (np.arange(values.shape[1]) != place)[None, :, None]
        rival = np.maximum(rival, np.where(apart, other, -np.inf))
    return np.where(exists, np.concatenate([values - mean, rank, values - rival], axis=2), 0)


def _components(learnt: Measured) -> Floats | None:
    """Return the first principal axes of the embeddings of options, shape (dimensions, axes)."""
    if learnt.vectors is None:
        return None
    options = learnt.vectors.options[learnt.rows.there].astype(np.float64)
    with one_thread():
        axes = np.linalg.eigh(np.cov(options.T))[1][:, ::-1][:, :COMPONENTS]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    signed: Floats = axes * np.sign(largest)
    return signed
