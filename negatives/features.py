"""Features of options available to models without video: relation to the question, to the set, and frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

WIDTH = 128  # dimensions of the random projection of embeddings
RANKED = 6  # number of leading cues that are also ranked within a set
BINS = (2, 4, 7)  # thresholds for the number of occurrences of an option
CROSSED = 2  # number of leading cues (similarity to the question, shared words) that are crossed with the counts


@dataclass(frozen=True, eq=False)
class Target:
    """The candidate texts for one target, answers or explanations.

    Attributes:
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        texts: Text numbers of each row's correct text and candidates, the correct one first.
        cues: For each row float64 of shape (1 + candidates, cues).
        keys: Like `texts`, but texts that are equal after `text_key` share a number.
        rights: Number of times that each key is correct, by split, int64 of shape (keys,).
    """

    vectors: NDArray[np.float32]
    texts: Sequence[Indices]
    cues: Sequence[Doubles]
    keys: Sequence[Indices]
    rights: Mapping[str, Indices]


class PairFeatures:
    """Features of question-option pairs."""

    def __init__(self, questions: NDArray[np.float32], target: Target, projection: Doubles):
        """Project all embeddings; `projection` has shape (dimensions, WIDTH)."""
        self.target = target
        self._questions = (questions.astype(np.float64).round(4) @ projection).round(6)
        self._projected: Doubles = np.empty((len(target.vectors), WIDTH))
        for first in range(0, len(target.vectors), 8192):
            part = target.vectors[first : first + 8192].astype(np.float64).round(4)
            self._projected[first : first + 8192] = (part @ projection).round(6)

    def of(self, row: int, places: Indices) -> Doubles:
        """Return features of a row's options, shape (options, features); position 0 is the correct option."""
        question = self._questions[row]
        option = self._projected[self.target.texts[row][places]]
        cues = self.target.cues[row][places]
        return np.concatenate(
            [np.broadcast_to(question, option.shape), option, option * question, np.abs(option - question), cues],
            axis=1,
        )


def set_features(target: Target, row: int, sets: Indices) -> Doubles:
    """Return features of options relative to their set, shape (sets, 1 + need, features), the correct option first.

    Args:
        target: The texts.
        row: Number of the question.
        sets: Positions of the sampled candidates, from 1, of shape (sets, need).
    """
    members = np.concatenate([np.zeros((len(sets), 1), np.int64), sets], axis=1)
    used, inverse = np.unique(members, return_inverse=True)
    inverse = inverse.reshape(members.shape)
    vectors = target.vectors[target.texts[row][used]].astype(np.float64)
    cosines = (vectors @ vectors.T).round(4)
    np.fill_diagonal(cosines, np.nan)
    block = cosines[inverse[:, :, None], inverse[:, None, :]]
    mean, most = np.nanmean(block, axis=2), np.nanmax(block, axis=2)
    cues = target.cues[row][members]
    columns = [*relative(mean), *relative(most)]
    for cue in range(cues.shape[2]):
        values = cues[:, :, cue]
        columns += [values - values.mean(1, keepdims=True)] if cue >= RANKED else [*relative(values)]
    return np.stack(columns, axis=2)


def relative(values: Doubles) -> list[Doubles]:
    """Return values minus the mean of their set, their rank, and their margins as the largest and the smallest."""
    low = (values[:, :, None] > values[:, None, :]).sum(2) + 0.5 * (values[:, :, None] == values[:, None, :]).sum(2)
    rank = low - 0.5
    last = values.shape[1] - 1
    return [
        values - values.mean(1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]


class Counts:
    """Counts of each text as an option of its split, correct or not."""

    def __init__(self, targets: Mapping[str, Target], splits: Sequence[str]):
        """Count the correct options; `splits` contains the split of each row."""
        self._targets, self._splits = targets, splits
        self._counts = {
            name: {split: rights.copy() for split, rights in target.rights.items()} for name, target in targets.items()
        }

    def add(self, row: int, places: Indices) -> None:
        """Count the distractors of a row."""
        for name, target in self._targets.items():
            np.add.at(self._counts[name][self._splits[row]], target.keys[row][places], 1)

    def features(self, name: str, row: int, places: Indices) -> Doubles:
        """Return count features of the options of a counted row, shape (options, features).

        Args:
            name: The target.
            row: Number of the question.
            places: Positions of its distractors, from 1; the correct option is first in the result.
        """
        target = self._targets[name]
        members = np.append(0, places)
        often = np.log(self._counts[name][self._splits[row]][target.keys[row][members]])[None]
        cues = np.moveaxis(target.cues[row][members][None, :, :CROSSED], 2, 0)
        near = [*relative(cues[0])[:3], *cues[1:]]
        columns = [*relative(often.round(6)), often]
        for low in BINS:
            inside = (often >= np.log(low)).astype(np.float64)
            columns += [inside, *(inside * value for value in near)]
        found: Doubles = np.stack(columns, axis=2)[0]
        return found
