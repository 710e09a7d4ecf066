"""Compute features of options that are available without video: relation to the question and the set, and frequency.

Position 0 of a row is its correct option. The candidates follow, padded to the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .learners import Network

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

WIDTH = 128  # dimensions of the random projection of embeddings
RANKED = 6  # number of leading cues that are also ranked within a set
BINS = (2, 4, 7)  # thresholds for the number of occurrences of an option
CROSSED = 2  # number of leading cues (similarity to the question, shared words) that are crossed with the counts
CHUNK = 64  # rows measured at a time; their features fit into the cache of a processor
DIGITS = 4
NONE = -1  # number of a missing text, if a row has fewer candidates than others


@dataclass(frozen=True, eq=False)
class Target:
    """The candidate texts for one target: answers or explanations.

    Attributes:
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        texts: Text numbers of each row, padded with `NONE`, int64 of shape (rows, 1 + candidates).
        cues: float32 of shape (rows, 1 + candidates, cues).
        keys: Like `texts`, but texts that are equal after `text_key` share a number.
        rights: Number of times that each key is correct, by split, int64 of shape (keys,).
    """

    vectors: Floats
    texts: Indices
    cues: Floats
    keys: Indices
    rights: Mapping[str, Indices]

    def take(self, rows: Indices) -> Target:
        """Return the texts of the given rows."""
        return replace(self, texts=self.texts[rows], cues=self.cues[rows], keys=self.keys[rows])


def padded(rows: Sequence[Sequence[int] | Indices]) -> Indices:
    """Return lists of different lengths as a table, padded with `NONE`."""
    found = np.full((len(rows), max(map(len, rows), default=0)), NONE, np.int64)
    for row, some in enumerate(rows):
        found[row, : len(some)] = some
    return found


def chunks(rows: Indices) -> Iterator[Indices]:
    """Yield the rows in groups of `CHUNK`."""
    for first in range(0, len(rows), CHUNK):
        yield rows[first : first + CHUNK]


class PairFeatures:
    """Computes features of questions paired with options."""

    def __init__(self, questions: Floats, target: Target, projection: Doubles):
        """Project all embeddings; `projection` has shape (dimensions, WIDTH)."""
        self.target = target
        narrow = projection.astype(np.float32)
        self._questions = questions @ narrow
        self._projected = target.vectors @ narrow

    def of(self, rows: Indices, places: Indices) -> Floats:
        """Return features of shape (rows, options, features), for options at positions of shape (rows, options)."""
        options = self._of_options(rows, places)
        question = np.broadcast_to(self._questions[rows][:, None], (*places.shape, WIDTH))
        return np.concatenate([question, options], axis=2)

    def odds(self, network: Network, rows: Indices, places: Indices) -> Floats:
        """Return the log-odds of a network on these features, shape (rows, options)."""
        # A question adds the same to all of its options.
        question = self._questions[rows] @ network.inner[:WIDTH] + network.shift
        hidden = self._of_options(rows, places) @ network.inner[WIDTH:] + question[:, None]
        found: Floats = np.maximum(hidden, 0) @ network.outer
        return found

    def _of_options(self, rows: Indices, places: Indices) -> Floats:
        option = self._projected[self.target.texts[rows[:, None], places]]
        question = self._questions[rows][:, None]
        cues = self.target.cues[rows[:, None], places]
        return np.concatenate([option, option * question, np.abs(option - question), cues], axis=2)


def set_features(target: Target, rows: Indices, sets: Indices) -> Floats:
    """Return features of options relative to their set, shape (rows, sets, 1 + need, features), the correct one first.

    Args:
        target: The texts.
        rows: Numbers of the questions.
        sets: Positions of the sampled candidates, from 1, of shape (rows, sets, need).
    """
    members = np.concatenate([np.zeros((*sets.shape[:2], 1), np.int64), sets], axis=2)
    vectors = target.vectors[target.texts[rows, : 1 + sets.max(initial=0)]]
    cosines = (vectors @ vectors.transpose(0, 2, 1)).round(DIGITS)
    place = np.arange(len(rows))[:, None, None, None]
    block = cosines[place, members[..., :, None], members[..., None, :]]
    own = np.arange(members.shape[2])
    block[..., own, own] = 0
    mean = block.sum(3) / sets.shape[2]
    block[..., own, own] = -2
    cues = target.cues[rows[:, None, None], members]
    columns = [*relative(mean.round(DIGITS)), *relative(block.max(3))]
    for cue in range(cues.shape[3]):
        values = cues[..., cue]
        columns += [values - values.mean(2, keepdims=True)] if cue >= RANKED else [*relative(values)]
    return np.stack(columns, axis=3).astype(np.float32)


def relative(values: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Return values minus the mean of their set, their rank, and their margins as the largest and the smallest.

    A set is the last axis of `values`.
    """
    low = np.zeros_like(values)
    for place in range(values.shape[-1]):  # one comparison per option is faster than all of them in one array
        other = values[..., place : place + 1]
        low += (values > other) + values.dtype.type(0.5) * (values == other)
    rank = low - values.dtype.type(0.5)
    last = values.shape[-1] - 1
    return [
        values - values.mean(-1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]


class Counts:
    """Counts how often each text is an option in its split, and how often it is correct."""

    def __init__(self, targets: Mapping[str, Target], splits: Sequence[str]):
        """Count the correct options. `splits` contains the split of each row."""
        self._targets = targets
        names = sorted(set(splits))
        self._split = np.array([names.index(split) for split in splits], np.int64)
        self._counts = {name: np.stack([target.rights[split] for split in names]) for name, target in targets.items()}

    def add(self, rows: Indices, places: Indices) -> None:
        """Count the distractors of rows, given by positions of shape (rows, need)."""
        for name, target in self._targets.items():
            np.add.at(self._counts[name], (self._split[rows][:, None], target.keys[rows[:, None], places]), 1)

    def features(self, name: str, rows: Indices, places: Indices) -> Floats:
        """Return features from the counts, for rows that are included in them: shape (rows, options, features).

        Args:
            name: The target.
            rows: Numbers of the questions.
            places: Positions of their options, the correct one first, of shape (rows, options).
        """
        target = self._targets[name]
        often = np.log(self._counts[name][self._split[rows][:, None], target.keys[rows[:, None], places]])
        cues = np.moveaxis(target.cues[rows[:, None], places, :CROSSED], 2, 0)
        near = [*relative(cues[0])[:3], *cues[1:]]
        columns = [*relative(often.round(6)), often]
        for low in BINS:
            inside = (often >= np.log(low)).astype(np.float64)
            columns += [inside, *(inside * value for value in near)]
        return np.stack(columns, axis=2).astype(np.float32)
