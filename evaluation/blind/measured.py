"""Measure the embeddings and cues of questions, the inputs of trained baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...language.cast import derive_cast
from ...language.words import name_pattern
from .cues import ASKING, Names, cues
from .fitting import features
from .questions import Arranged, Embed, Embedded, Floats, embedded


@dataclass(frozen=True, eq=False)
class Measured:
    """Arranged questions with the inputs of trained baselines.

    Attributes:
        vectors: Embeddings of questions and options, or None if there is no sentence encoder.
        cues: The cues that need no training questions, by name.
        embed: Function that embeds texts, or None if there is no sentence encoder.
        names: Pattern of the names of characters, or None if there are none.
    """

    rows: Arranged
    vectors: Embedded | None
    cues: Mapping[str, Floats]
    embed: Embed | None
    names: Names

    def take(self, chosen: NDArray[np.int64]) -> Measured:
        """Return only the questions with these indices."""
        vectors = self.vectors and Embedded(self.vectors.questions[chosen], self.vectors.options[chosen])
        some = {name: values[chosen] for name, values in self.cues.items()}
        return Measured(self.rows.take(chosen), vectors, some, self.embed, self.names)

    def weighed(self, *names: str) -> Floats:
        """Return the features (`fitting.features`) of some cues, shape (questions, most options, features)."""
        there = [name for name in names if name in self.cues]
        empty = np.zeros((*self.rows.there.shape, 0))
        return np.concatenate([empty, *(features(self.rows.there, self.cues[name]) for name in there)], axis=2)

    @property
    def of_options(self) -> tuple[str, ...]:
        """Names of the cues that depend only on the options."""
        return tuple(name for name in self.cues if name not in ASKING)


def measured(rows: Arranged, embed: Embed | None, names: Names, *, with_cues: bool = True) -> Measured:
    """Compute the embeddings and, unless they are not needed, the cues of questions."""
    vectors = embedded(rows, embed) if embed else None
    return Measured(rows, vectors, cues(rows, vectors, names) if with_cues else {}, embed, names)


def names_in(*parts: Arranged) -> Names:
    """Return a pattern of the names of characters in questions and options."""
    texts = {text for rows in parts for one in rows.asked for text in (one.question, *one.options)}
    return name_pattern(derive_cast(sorted(texts)).names)
