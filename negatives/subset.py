"""The balanced subset: rows among which blind guessers do no better than by chance, and no cue says anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from .counting import CROSSED, Counts
from .facets import Features, set_features
from .judges import FOLDS, Judge, hits
from .steering import Network

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

MOST_LEFT_OUT = 0.25
REPEATS = 2  # so often is learnt within a split, by other folds each time
MOST_ROWS = 12_000  # a model learns from so many rows at most
LIMIT = 4.0  # how far a feature may be from its mean, in standard deviations
STEPS = 400  # rows are left out one by one, or so many at once that there are no more steps than these
WEIGHT = 2.0  # of the cues against the guessers
LOSS_DIGITS = 9
DIGITS = 4


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows with their options.

    Attributes:
        rows: Their numbers.
        places: Places of their options, the right one first, of shape (rows, options).
        features: By kind, what is seen of question and option.
        counts: How often texts are options.
        splits: The split of each row.
        ids: Their ids.
        folds: Several divisions of the rows: models of a fold learn from the others.
    """

    rows: Sequence[int]
    places: Rows
    features: Mapping[str, Features]
    counts: Counts
    splits: Sequence[str]
    ids: Sequence[str]
    folds: Sequence[Rows]


def left_out(drawn: Drawn, seed: int, learnt: Callable[[], None]) -> Flags:
    """Choose the rows outside of the balanced subset, in each split.

    The guessers are: networks that look at texts; whoever takes the option that is nearest to the question, or the one
    that shares most with it; and for each kind of text, and for all, models of cues and counts that learn from all
    splits, or from the row's own. None sees a row that it guesses.

    Args:
        drawn: The rows.
        seed: The dataset's seed.
        learnt: Called after each model.

    Returns:
        Whether each row is left out.
    """
    tables = {kind: _shown(drawn, kind) for kind in drawn.features}
    guessed = [_read(drawn, kind, seed, learnt) for kind in drawn.features]
    for features in drawn.features.values():
        cues = np.stack([features.facet.cues[row][some] for row, some in zip(drawn.rows, drawn.places, strict=True)])
        guessed += [hits(values) for values in np.moveaxis(cues[:, :, :CROSSED], 2, 0)]
    everything = np.concatenate(list(tables.values()), axis=2)
    if len(tables) > 1:
        tables["all"] = everything
    parts = {split: np.array([split == one for one in drawn.splits]) for split in sorted(set(drawn.splits))}
    for name, table in tables.items():
        guessed.append(_judged(table, drawn.folds[0], seed, name))
        for folds in drawn.folds[:REPEATS]:
            apart = np.zeros(len(table))
            for split, here in parts.items():
                apart[here] = _judged(table[here], folds[here], seed, name, split)
            guessed.append(apart)
    learnt()
    found = np.zeros(len(drawn.rows), np.bool_)
    differ, said = (everything[:, 0] - everything[:, 1:].mean(1)).round(DIGITS), np.stack(guessed, 1)
    for here in parts.values():
        ids = [drawn.ids[place] for place in np.flatnonzero(here).tolist()]
        found[here] = leave_out(differ[here], said[here], ids, 1 / drawn.places.shape[1])
    return found


def _shown(drawn: Drawn, kind: str) -> Doubles:
    """Return what options show of themselves, as a set and by their counts, scaled alike."""
    features = drawn.features[kind]

    def of(row: int, wrong: Rows) -> Doubles:
        return np.concatenate(
            [set_features(features, row, wrong[None])[0], drawn.counts.features(kind, row, wrong)], axis=1
        )

    table = np.stack([of(row, places[1:]) for row, places in zip(drawn.rows, drawn.places, strict=True)])
    found: Doubles = (table - table.mean((0, 1))) / np.maximum(table.std((0, 1)), 1e-2)
    return np.clip(found, -LIMIT, LIMIT)


def _judged(table: Doubles, folds: Rows, seed: int, *key: str) -> Doubles:
    """Return how likely models of cues that did not see a row are right."""
    some = np.arange(len(table))[:: len(table) // MOST_ROWS + 1]
    plain = np.zeros(table.shape[2]), np.ones(table.shape[2])
    judge = Judge.learn(table[some], plain, folds, some, seed, "cues", *key)
    return hits(np.concatenate([judge.odds(row, seen[None]) for row, seen in enumerate(table)]))


def _read(drawn: Drawn, kind: str, seed: int, learnt: Callable[[], None]) -> Doubles:
    """Return how likely networks that look at texts, and did not see a row, are right."""
    features = drawn.features[kind]

    def of(row: int, places: Rows) -> Doubles:
        sets = [set_features(other, row, places[None, 1:])[0] for other in drawn.features.values()]
        return np.concatenate([features.of(row, places), *sets], axis=1)

    table = np.stack([of(row, places) for row, places in zip(drawn.rows, drawn.places, strict=True)])
    table = (table - table.mean((0, 1))) / (table.std((0, 1)) + 1e-3)
    folds, found = drawn.folds[0], np.zeros(len(table))
    for fold in range(FOLDS):
        here = folds == fold
        some = np.flatnonzero(~here)
        some = some[:: len(some) // MOST_ROWS + 1]
        flat = table[here].reshape(-1, table.shape[2])
        nets = [Network.fit(table[some], rng_for(seed, "guess", kind, str(fold), str(n))) for n in range(2)]
        found[here] = hits((nets[0].odds(flat) + nets[1].odds(flat)).reshape(-1, table.shape[1]))
        learnt()
    return found


def leave_out(differ: Doubles, guessed: Doubles, ids: Sequence[str], chance: float) -> Flags:
    """Choose the rows to leave out, one after another, a quarter at the most; no more once no guesser is above chance.

    The row goes without which the others are nearest to balance. That is the sum of two things: over the guessers, the
    squares of how far they are above chance, and over the cues, the mean square of how much right options differ from
    wrong ones. Where no cue differs, a conditional logit learns nothing from them. The second keeps the first from
    turning cues around: among rows that nobody guesses, the option that is nearest to the question would be wrong.

    Args:
        differ: How the right option of each row differs from the wrong ones, of shape (rows, cues).
        guessed: How likely each guesser is right, of shape (rows, guessers).
        ids: The rows.
        chance: Of a right guess.

    Returns:
        Whether each row is left out, in the order of `ids`.
    """
    out = np.zeros(len(ids), np.bool_)
    most = int(MOST_LEFT_OUT * len(ids))
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=lambda row: ids[row])] = np.arange(len(ids))
    squares = (differ**2).sum(1)
    total, above = differ.sum(0), (guessed - chance).sum(0)
    while out.sum() < most and (above > 0).any():
        left = np.flatnonzero(~out)
        cues = (total**2).sum() - 2 * differ[left] @ total + squares[left]
        loss = (np.maximum(above - guessed[left] + chance, 0) ** 2).sum(1) + WEIGHT * cues / differ.shape[1]
        loss = (loss / max(len(left) - 1, 1) ** 2).round(LOSS_DIGITS)
        gone = left[np.lexsort((rank[left], loss))][: min(most - int(out.sum()), len(ids) // STEPS + 1)]
        out[gone] = True
        total, above = total - differ[gone].sum(0), above - (guessed[gone] - chance).sum(0)
    return out
