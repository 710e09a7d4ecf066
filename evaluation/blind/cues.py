"""What options show of themselves without a video: one number for each option and cue.

Whoever takes the option with the largest or the smallest number is a guesser that has learnt nothing
(`untrained.GUESSERS`); trained ones weigh all cues together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ...language.text_key import text_key
from .asked import Arranged, Embedded, Floats

DIGITS = 4  # noise in the last places of a cosine decides nothing
NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
AUXILIARIES = frozenset(("not", "did", "do", "does", "didnt", "doesnt", "dont"))
ENDINGS = re.compile(r"(?:ing|ed|d|s)$")
STEM = 5
ASKING = ("near_question", "shared_words", "rare_word", "case", "mark")
"""Cues that compare options with the question; where nothing is asked they are left out."""
TRAINING = ("right_in_train", "wrong_in_train")
"""Cues that training gives away. The others see options alone."""
MARKS = (".", "?", "!", "…", ";", ":")


@dataclass(frozen=True)
class Known:
    """What training gives away of options.

    Attributes:
        right: How often each text, folded by `text_key`, is right there.
        wrong: How often it is wrong.
    """

    right: Mapping[str, int]
    wrong: Mapping[str, int]


def known(rows: Arranged) -> Known:
    """Count how often each text is right and wrong."""
    right = Counter(rows.keys[np.arange(len(rows.right)), rows.right].tolist())
    return Known(right, Counter(rows.keys[rows.there].tolist()) - right)


def cues(rows: Arranged, vectors: Embedded | None = None) -> dict[str, Floats]:
    """Measure every cue but those of training.

    Args:
        rows: The questions.
        vectors: Their embeddings; without, cues that need them are left out.

    Returns:
        For each cue an array of shape (questions, most options), 0 where there is no option.
    """
    asks = any(one.question for one in rows.asked)
    found = {name: rows.spread(measure(rows)) for name, measure in LEXICAL.items() if asks or name not in ASKING}
    if vectors is not None:
        options, asked = vectors.options.astype(np.float64), vectors.questions.astype(np.float64)
        sums = options.sum(axis=1, keepdims=True)
        others = np.maximum(rows.there.sum(axis=1) - 1, 1)[:, None]
        found["like_others"] = np.round(((options * sums).sum(axis=2) - (options**2).sum(axis=2)) / others, DIGITS)
        if asks:
            found["near_question"] = np.round(np.einsum("nkd,nd->nk", options, asked), DIGITS)
    return found


def training_cues(rows: Arranged, learnt: Known) -> dict[str, Floats]:
    """Count how often each option is right, and wrong, in train; shapes as those of `cues`."""
    return {
        name: rows.spread([[counts.get(text_key(text), 0) for text in texts] for texts in rows.texts()])
        for name, counts in zip(TRAINING, (learnt.right, learnt.wrong), strict=True)
    }


def _letters(rows: Arranged) -> list[list[float]]:
    return [[len(text) for text in texts] for texts in rows.texts()]


def _frequency(rows: Arranged) -> list[list[float]]:
    counts = Counter(rows.keys[rows.there].tolist())
    return [[counts[text_key(text)] for text in texts] for texts in rows.texts()]


def _small(rows: Arranged) -> list[list[float]]:
    return [[float(text[:1].islower()) for text in texts] for texts in rows.texts()]


def _stopped(rows: Arranged) -> list[list[float]]:
    return [[float(text.rstrip().endswith(MARKS)) for text in texts] for texts in rows.texts()]


def _case(rows: Arranged) -> list[list[float]]:
    """Whether an option begins with a capital or a small letter as the question does."""
    return [
        [float(text[:1].islower() == one.question[:1].islower()) for text in texts]
        for one, texts in zip(rows.asked, rows.texts(), strict=True)
    ]


def _mark(rows: Arranged) -> list[list[float]]:
    """Whether an option ends with a mark or without one as the question does."""
    return [
        [float(text.rstrip().endswith(MARKS) == one.question.rstrip().endswith(MARKS)) for text in texts]
        for one, texts in zip(rows.asked, rows.texts(), strict=True)
    ]


def _negated(rows: Arranged) -> list[list[float]]:
    return [[float(bool(NEGATED.search(text))) for text in texts] for texts in rows.texts()]


def _shared_words(rows: Arranged) -> list[list[float]]:
    """How many words of the question an option repeats, each weighted by its rarity among questions (idf)."""
    weights = rarity(one.question for one in rows.asked)
    found = []
    for one, texts in zip(rows.asked, rows.texts(), strict=True):
        asked = set(stems(one.question))
        found.append([sum(weights[stem] for stem in sorted(asked & set(stems(text)))) for text in texts])
    return found


def _rare_word(rows: Arranged) -> list[list[float]]:
    """Whether an option is the only one that repeats the rarest word of the question that one option alone repeats."""
    weights = rarity(one.question for one in rows.asked)
    found = []
    for one, texts in zip(rows.asked, rows.texts(), strict=True):
        bags = [set(stems(text)) for text in texts]
        by_rarity = sorted(set(stems(one.question)), key=lambda stem: (-weights[stem], stem))
        holders = ([place for place, bag in enumerate(bags) if stem in bag] for stem in by_rarity)
        only = next((places[0] for places in holders if len(places) == 1), None)
        found.append([float(place == only) for place in range(len(texts))])
    return found


def rarity(texts: Iterable[str]) -> dict[str, float]:
    """Weigh the words of texts by how few texts have them (idf)."""
    bags = [set(stems(text)) for text in texts]
    counts = Counter(stem for bag in bags for stem in bag)
    return {stem: float(np.log((1 + len(bags)) / count)) for stem, count in counts.items()}


def _twin(rows: Arranged) -> list[list[float]]:
    return [twin_scores(texts) for texts in rows.texts()]


LEXICAL: dict[str, Callable[[Arranged], Sequence[Sequence[float]]]] = {
    "letters": _letters,
    "frequency": _frequency,
    "small_letter": _small,
    "final_mark": _stopped,
    "shared_words": _shared_words,
    "rare_word": _rare_word,
    "case": _case,
    "mark": _mark,
    "negated": _negated,
    "twin": _twin,
}


def twin_scores(texts: Sequence[str]) -> list[float]:
    """Return how much each option looks like what two others were made from, by negation and by an exchange of words.

    A negation keeps the words and their order, an exchange keeps the words; what is no negation and has the nearest
    twin in words and the likest ones in order is what both were made from.
    """
    bags = [Counter(_twin_stems(text)) for text in texts]
    pairs = [Counter(pairwise(_twin_stems(text))) for text in texts]

    def score(place: int) -> float:
        others = [other for other in range(len(texts)) if other != place]
        words = max((_dice(bags[place], bags[other]) for other in others), default=0.0)
        order = sorted((_dice(pairs[place], pairs[other]) for other in others), reverse=True)[:2]
        return 10 * round(words, 2) + sum(order) - 0.3 * bool(NEGATED.search(texts[place]))

    return [score(place) for place in range(len(texts))]


@lru_cache(maxsize=1 << 16)
def stems(text: str) -> tuple[str, ...]:
    """Return the words of a text without common endings, cut to five letters."""
    return tuple(ENDINGS.sub("", word)[:STEM] for word in text_key(text).split())


@lru_cache(maxsize=1 << 16)
def _twin_stems(text: str) -> tuple[str, ...]:
    return tuple(ENDINGS.sub("", word)[:STEM] for word in text_key(text).split() if word not in AUXILIARIES)


def _dice(one: Counter[Any], other: Counter[Any]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
