"""METEOR (Banerjee and Lavie 2005) as nltk computes it, with the WordNet that stressreel finds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from ..extras import import_extra
from ..language.wordnet import load_wordnet


class _Remembered:
    """A method of another object that remembers its answers: METEOR stems and looks up the same words all the time."""

    def __init__(self, method: str, of: Any):
        setattr(self, method, lru_cache(maxsize=1 << 16)(getattr(of, method)))


@cache
def _helpers() -> dict[str, Any]:
    return {
        "stemmer": _Remembered("stem", import_extra("nltk.stem.porter").PorterStemmer()),
        "wordnet": _Remembered("synsets", load_wordnet().reader),
    }


def meteor(words: Sequence[str], reference: Sequence[str]) -> float:
    """Score the words of a text against those of one reference: 0 to 1, a little below 1 for equal ones.

    Raises:
        InputError: WordNet is missing.
    """
    score = import_extra("nltk.translate.meteor_score", what="METEOR").single_meteor_score
    return float(score(list(reference), list(words), **_helpers()))
