"""Estimate how probable texts are under a trigram model of other texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .words import TOKEN

ORDER = 3
WEIGHT = 2.0  # occurrences for which the shorter sequence counts
START, END = "<s>", "</s>"

Sequence = tuple[str, ...]
"""A word or mark in lower case, preceded by up to two others."""


class NgramModel:
    """A trigram model of texts, in which each order is interpolated with the next lower one (Dirichlet prior)."""

    def __init__(self, texts: Iterable[str]):
        self._counts, self._contexts = _count(tuple(texts))
        self._rarest = 1 / (1 + sum(len(sequence) == 1 for sequence in self._counts))

    def log_probability(self, text: str, without: tuple[str, ...] = ()) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability of each word or mark of a text, and of its end.

        Args:
            text: A text. Case is ignored.
            without: Texts of the model that are not counted, such as the text itself.

        Returns:
            Shape (words and marks + 1,). The sum is that of the text.
        """
        counts, contexts = _without(without)
        probabilities = []
        for whole in _sequences(text):
            probability = self._rarest
            for start in reversed(range(ORDER)):
                sequence, context = whole[start:], whole[start:-1]
                seen = self._counts[sequence] - counts[sequence]
                total = self._contexts[context] - contexts[context]
                probability = (seen + WEIGHT * probability) / (total + WEIGHT)
            probabilities.append(probability)
        return np.log(probabilities)


def _count(texts: tuple[str, ...]) -> tuple[Counter[Sequence], Counter[Sequence]]:
    """Count the sequences of one to three words, and those that precede a word."""
    sequences = [whole[start:] for text in texts for whole in _sequences(text) for start in range(ORDER)]
    return Counter(sequences), Counter(sequence[:-1] for sequence in sequences)


@lru_cache(maxsize=256)
def _without(texts: tuple[str, ...]) -> tuple[Counter[Sequence], Counter[Sequence]]:
    return _count(texts)


@lru_cache(maxsize=1 << 15)
def _sequences(text: str) -> list[Sequence]:
    words = [START] * (ORDER - 1) + [match[0].lower() for match in TOKEN.finditer(text)] + [END]
    return [tuple(words[end - ORDER : end]) for end in range(ORDER, len(words) + 1)]
