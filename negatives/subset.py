"""Select the balanced subset: rows on which blind judges are at chance and no cue predicts the correct option."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .option_models import cross_scored, fit_trees, hit_rate, odds

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

MOST_LEFT_OUT = 0.25
LIMIT = 4.0  # maximum distance of a cue from its mean, in standard deviations
STEPS = 400  # maximum number of steps; rows are flagged one by one, or several per step to stay below it
WEIGHT = 2.0  # weight of the cues compared with the judges
RULES = 16  # number of leading cues of which the largest and the smallest value are judges
LOSS_DIGITS = 9
DIGITS = 4


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
