"""What is chosen among, and what a blind reader sees of it: of an option with its question, and in its set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

WIDTH = 128  # random projections of an embedding
RANKED = 6  # so many cues count by their rank in a set too


@dataclass(frozen=True, eq=False)
class Facet:
    """One kind of text that is chosen among: answers, or explanations.

    Attributes:
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        texts: For each row the number of the right text and those of its candidates, the right one first.
        cues: For each row float64 of shape (1 + candidates, cues): what else can be seen of question and text.
        keys: For each row the same as `texts`, by numbers that texts saying the same in the same words share.
        rights: By split, how often each key is right there, int64 of shape (keys,).
    """

    vectors: NDArray[np.float32]
    texts: Sequence[Rows]
    cues: Sequence[Doubles]
    keys: Sequence[Rows]
    rights: Mapping[str, Rows]


class Features:
    """What a model sees of question and option."""

    def __init__(self, questions: NDArray[np.float32], facet: Facet, projection: Doubles):
        """Project all embeddings; `projection` has the shape (dimensions, WIDTH)."""
        self.facet = facet
        self.questions = (questions.astype(np.float64).round(4) @ projection).round(6)
        self.vectors = facet.vectors
        self._projected: Doubles = np.empty((len(facet.vectors), WIDTH))
        for first in range(0, len(facet.vectors), 8192):
            part = facet.vectors[first : first + 8192].astype(np.float64).round(4)
            self._projected[first : first + 8192] = (part @ projection).round(6)

    def of(self, row: int, places: Rows) -> Doubles:
        """Return the features of options of a row, float64 of shape (options, features); place 0 is the right one."""
        question = self.questions[row]
        option = self._projected[self.facet.texts[row][places]]
        cues = self.facet.cues[row][places]
        return np.concatenate(
            [np.broadcast_to(question, option.shape), option, option * question, np.abs(option - question), cues],
            axis=1,
        )


def set_features(features: Features, row: int, sets: Rows) -> Doubles:
    """Return what a set makes of each option, float64 of shape (sets, options, features); the right one comes first.

    Args:
        features: Of one kind.
        row: Which row.
        sets: Places of the drawn candidates, from 1, of shape (sets, need).
    """
    facet = features.facet
    members = np.concatenate([np.zeros((len(sets), 1), np.int64), sets], axis=1)
    used, inverse = np.unique(members, return_inverse=True)
    inverse = inverse.reshape(members.shape)
    vectors = facet.vectors[facet.texts[row][used]].astype(np.float64)
    cosines = (vectors @ vectors.T).round(4)
    np.fill_diagonal(cosines, np.nan)
    block = cosines[inverse[:, :, None], inverse[:, None, :]]
    mean, most = np.nanmean(block, axis=2), np.nanmax(block, axis=2)
    cues = facet.cues[row][members]
    columns = [*relative(mean), *relative(most)]
    for cue in range(cues.shape[2]):
        values = cues[:, :, cue]
        columns += [values - values.mean(1, keepdims=True)] if cue >= RANKED else [*relative(values)]
    return np.stack(columns, axis=2)


def relative(values: Doubles) -> list[Doubles]:
    """Return values against their set's mean, and which is the first, the second, the last and the last but one."""
    low = (values[:, :, None] > values[:, None, :]).sum(2) + 0.5 * (values[:, :, None] == values[:, None, :]).sum(2)
    rank = low - 0.5
    last = values.shape[1] - 1
    return [
        values - values.mean(1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]
