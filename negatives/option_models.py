"""Train models to tell correct options from others, and select the balanced subset, where they fail.

The models are gradient-boosted trees, and a network on embeddings. In the balanced subset, blind judges are at chance
and no cue predicts the correct option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.numerics import fit_boosted_trees, rng_for
from .options import Doubles, Flags, Floats, Indices

FOLDS = 3
ITERATIONS = 60
TREE_RATE = 0.15
DIGITS = 4

WIDTH = 96  # dimensions of the random projection of embeddings
SPREAD = 24.0  # scale of projected embeddings
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPOUT = 0.3
NETWORK_RATE = 1e-3
DECAY = 1e-2
LEAST = 1e-3  # added to a standard deviation


def fit_trees(table: Floats, seed: int, *key: str) -> Any:
    """Train on the options of rows, of which the first is correct. Return None if there is nothing to learn.

    `table` has the shape (rows, options, cues).
    """
    rows, options, width = table.shape
    if not rows:
        return None
    return fit_boosted_trees(
        table.reshape(-1, width),
        np.tile(np.arange(options) == 0, rows),
        iterations=ITERATIONS,
        rate=TREE_RATE,
        smallest=40,
        penalty=5.0,
        seed=int(rng_for(seed, "balance", "trees", *key).integers(1 << 31)),
        what="balancing options",
    )


def odds(model: Any, table: Floats) -> Floats:
    """Return the log-odds of options, up to a constant, of shape (…); `table` has the shape (…, cues)."""
    if model is None or not table.size:
        return np.zeros(table.shape[:-1], np.float32)
    log_odds: Floats = model.decision_function(table.reshape(-1, table.shape[-1])).astype(np.float32)
    return log_odds.reshape(table.shape[:-1]).round(DIGITS)


def hit_rate(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probability that the first option of each row, shape (rows, options), scores highest; ties share."""
    rounded = scores.round(DIGITS)
    largest = rounded == rounded.max(1, keepdims=True)
    rates: NDArray[np.float64] = largest[:, 0] / largest.sum(1)
    return rates


def cross_scored(table: Floats, folds: Sequence[int] | NDArray[np.int64], seed: int, *key: str) -> Floats:
    """Score the options of rows with trees that were trained without their fold, of shape (rows, options)."""
    scores = np.zeros(table.shape[:-1], np.float32)
    for fold in range(FOLDS):
        here = np.asarray(folds) == fold
        scores[here] = odds(fit_trees(table[~here], seed, *key, str(fold)), table[here])
    return scores


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
        log_odds: Floats = np.maximum(hidden, 0) @ self.outer
        return log_odds


def projection(dimensions: int, rng: np.random.Generator) -> Floats:
    """Return a random projection of embeddings, float32 of shape (dimensions, WIDTH)."""
    matrix: Floats = (rng.standard_normal((dimensions, WIDTH)) * SPREAD / np.sqrt(dimensions)).astype(np.float32)
    return matrix


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
            rate = np.float32(NETWORK_RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
            for value, gradient, m, v in zip(values, gradients, first, second, strict=True):
                m += np.float32(0.1) * (gradient - m)
                v += np.float32(0.001) * (gradient**2 - v)
                value -= rate * m / (np.sqrt(v) + np.float32(1e-8)) + np.float32(NETWORK_RATE * DECAY) * value
    return Network(mean, scale, *values)


def _kept(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    kept: Floats = (rng.random(shape, np.float32) > DROPOUT) * np.float32(1 / (1 - DROPOUT))
    return kept


MOST_LEFT_OUT = 0.25
LIMIT = 4.0  # maximum distance of a cue from its mean, in standard deviations
STEPS = 400  # maximum number of steps; rows are flagged one by one, or several per step to stay below it
WEIGHT = 2.0  # weight of the cues compared with the judges
RULES = 16  # number of leading cues of which the largest and the smallest value are judges
LOSS_DIGITS = 9


def guessable_rows(
    tables: Sequence[Floats],
    splits: Sequence[str],
    in_train: Flags,
    ids: Sequence[str],
    folds: Indices,
    seed: int,
    learned: Callable[[], None],
) -> Flags:
    """Flag the rows that are outside the balanced subset of each split of a division.

    The judges are the option with the largest or smallest value of a cue, and trees on all cues, which were trained
    without the row: on train, and on other groups of rows that are, or are not, in train.

    Args:
        tables: Cues of the options in their sets by target, float32 of shape (rows, options, cues), the correct option
            first.
        splits: Split of each row.
        in_train: Whether each row is in train.
        ids: Ids of the rows.
        folds: Folds of the rows, which do not divide groups.
        seed: The dataset's seed.
        learned: Called for each target.
    """
    parts = {split: np.array([split == split_of_row for split_of_row in splits]) for split in sorted(set(splits))}
    sides = [here for here in (in_train, ~in_train) if here.any()]
    rates, differ = [], []
    for target, table in enumerate(tables):
        for cue in range(RULES):
            rates += [hit_rate(table[..., cue]), hit_rate(-table[..., cue])]
        within = np.zeros(len(table))
        for here in sides:
            within[here] = hit_rate(cross_scored(table[here], folds[here], seed, "side", str(target)))
        of_train = hit_rate(odds(fit_trees(table[in_train], seed, "train", str(target)), table))
        rates += [np.where(in_train, within, of_train), within]
        scaled = (table - table.mean((0, 1))) / np.maximum(table.std((0, 1)), np.float32(1e-2))
        clipped = np.clip(scaled, -LIMIT, LIMIT).astype(np.float64)
        differ.append((clipped[:, 0] - clipped[:, 1:].mean(1)).round(DIGITS))
        learned()
    flags = np.zeros(len(ids), np.bool_)
    hits, cues = np.stack(rates, 1), np.concatenate(differ, 1)
    for here in parts.values():
        ids_of_split = [ids[row] for row in np.flatnonzero(here).tolist()]
        flags[here] = leave_out(cues[here], hits[here], ids_of_split, 1 / tables[0].shape[1])
    return flags


def leave_out(differ: Doubles, hits: Doubles, ids: Sequence[str], chance: float) -> Flags:
    """Choose the rows to exclude, until no baseline is above chance or a quarter of the rows is excluded.

    Each step removes the row whose removal brings the others closest to balance. The measure is the sum over the
    baselines of their squared excess over chance, plus the mean over the cues of the squared difference between correct
    options and distractors. A conditional logit learns nothing from cues that do not differ. Without the second term,
    the first would invert the cues: in rows that no baseline answers correctly, the option most similar to the question
    would be a distractor.

    Args:
        differ: Difference between the correct option of each row and its distractors, of shape (rows, cues).
        hits: Probability that each baseline is correct, of shape (rows, judges).
        ids: Ids of the rows.
        chance: Accuracy of random choice.

    Returns:
        Whether each row is excluded, in the order of `ids`.
    """
    out = np.zeros(len(ids), np.bool_)
    most = int(MOST_LEFT_OUT * len(ids))
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=lambda row: ids[row])] = np.arange(len(ids))
    squares = (differ**2).sum(1)
    total, above = differ.sum(0), (hits - chance).sum(0)
    while out.sum() < most and (above > 0).any():
        left = np.flatnonzero(~out)
        cues = (total**2).sum() - 2 * differ[left] @ total + squares[left]
        loss = (np.maximum(above - hits[left] + chance, 0) ** 2).sum(1) + WEIGHT * cues / differ.shape[1]
        loss = (loss / max(len(left) - 1, 1) ** 2).round(LOSS_DIGITS)
        gone = left[np.lexsort((rank[left], loss))][: min(most - int(out.sum()), len(ids) // STEPS + 1)]
        out[gone] = True
        total, above = total - differ[gone].sum(0), above - (hits[gone] - chance).sum(0)
    return out
