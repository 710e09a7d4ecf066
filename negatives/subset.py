"""Select the balanced subset: rows on which blind baselines are at chance and no cue predicts the correct option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from .features import CROSSED, Counts, PairFeatures, chunks, set_features
from .learners import FOLDS, LEAST, fit_network, fit_sets, hit_rate, scored

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

MOST_LEFT_OUT = 0.25
REPEATS = 2  # number of fits within a split, each with different folds
MOST_ROWS = 12_000  # maximum number of rows from which a model learns
LIMIT = 4.0  # maximum distance of a feature from its mean, in standard deviations
STEPS = 400  # maximum number of steps; rows are flagged one by one, or several per step to stay below it
WEIGHT = 2.0  # weight of the cues compared with the baselines
LOSS_DIGITS = 9
DIGITS = 4


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows and the options that were sampled for them.

    Attributes:
        places: Positions of their options, the correct one first, of shape (rows, options).
        features: Features of question and option, by target.
        counts: Counts of texts as options.
        folds: Several assignments of the rows to folds.
    """

    rows: Indices
    places: Indices
    features: Mapping[str, PairFeatures]
    counts: Counts
    splits: Sequence[str]
    ids: Sequence[str]
    folds: Sequence[Indices]


def guessable_rows(sampled: SampledRows, seed: int, learnt: Callable[[], None]) -> Flags:
    """Flag the rows that are outside the balanced subset of each split.

    The baselines are networks on texts, the option most similar to the question, the one that shares most words with
    it, and models of cues and counts. The latter are fitted for each target and for all together, on all splits or on
    the split of the row. No baseline was trained on a row that it answers.
    """
    in_set = {name: _in_set(sampled, name) for name in sampled.features}
    tables = {name: _cue_table(sampled, name, cues) for name, cues in in_set.items()}
    rates = [_text_hits(sampled, name, list(in_set.values()), seed, learnt) for name in in_set]
    for features in sampled.features.values():
        cues = features.target.cues[sampled.rows[:, None], sampled.places, :CROSSED]
        rates += [hit_rate(values) for values in np.moveaxis(cues, 2, 0)]
    everything = np.concatenate(list(tables.values()), axis=2)
    if len(tables) > 1:
        tables["all"] = everything
    splits = {split: np.array([split == one for one in sampled.splits]) for split in sorted(set(sampled.splits))}
    for name, table in tables.items():
        rates.append(_cue_hits(table, sampled.folds[0], seed, name))
        for folds in sampled.folds[:REPEATS]:
            within = np.zeros(len(table))
            for split, here in splits.items():
                within[here] = _cue_hits(table[here], folds[here], seed, name, split)
            rates.append(within)
    learnt()
    found = np.zeros(len(sampled.rows), np.bool_)
    differ = (everything[:, 0] - everything[:, 1:].mean(1)).astype(np.float64).round(DIGITS)
    hits = np.stack(rates, 1)
    for here in splits.values():
        ids = [sampled.ids[place] for place in np.flatnonzero(here).tolist()]
        found[here] = leave_out(differ[here], hits[here], ids, 1 / sampled.places.shape[1])
    return found


def _cue_table(sampled: SampledRows, name: str, in_set: Floats) -> Floats:
    counted = sampled.counts.features(name, sampled.rows, sampled.places)
    table = np.concatenate([in_set, counted], axis=2)
    scaled = (table - table.mean((0, 1))) / np.maximum(table.std((0, 1)), np.float32(1e-2))
    clipped: Floats = np.clip(scaled, -LIMIT, LIMIT)
    return clipped


def _in_set(sampled: SampledRows, name: str) -> Floats:
    target, every = sampled.features[name].target, np.arange(len(sampled.rows))
    parts = [set_features(target, sampled.rows[some], sampled.places[some, None, 1:]) for some in chunks(every)]
    return np.concatenate(parts)[:, 0]


def _cue_hits(table: Floats, folds: Indices, seed: int, *key: str) -> Doubles:
    some = slice(None, None, len(table) // MOST_ROWS + 1)
    return hit_rate(scored(fit_sets(table[some], folds[some], seed, "cues", *key), folds, table))


def _text_hits(
    sampled: SampledRows, name: str, in_set: Sequence[Floats], seed: int, learnt: Callable[[], None]
) -> Doubles:
    own = sampled.features[name].of(sampled.rows, sampled.places)
    table = np.concatenate([own, *in_set], axis=2)
    table = (table - table.mean((0, 1))) / (table.std((0, 1)) + np.float32(LEAST))
    folds, found = sampled.folds[0], np.zeros(len(table))
    for fold in range(FOLDS):
        here = folds == fold
        some = np.flatnonzero(~here)
        some = some[:: len(some) // MOST_ROWS + 1]
        flat = table[here].reshape(-1, table.shape[2])
        networks = [fit_network(table[some], rng_for(seed, "guess", name, str(fold), str(n))) for n in range(2)]
        found[here] = hit_rate((networks[0](flat) + networks[1](flat)).reshape(-1, table.shape[1]))
        learnt()
    return found


def leave_out(differ: Doubles, hits: Doubles, ids: Sequence[str], chance: float) -> Flags:
    """Choose the rows to exclude, until no baseline is above chance or a quarter of the rows is excluded.

    Each step removes the row whose removal brings the others closest to balance. The measure is the sum over the
    baselines of their squared excess over chance, plus the mean over the cues of the squared difference between correct
    options and distractors. A conditional logit learns nothing from cues that do not differ. Without the second term,
    the first would invert the cues: in rows that no baseline answers correctly, the option most similar to the question
    would be a distractor.

    Args:
        differ: Difference between the correct option of each row and its distractors, of shape (rows, cues).
        hits: Probability that each baseline is correct, of shape (rows, baselines).
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
