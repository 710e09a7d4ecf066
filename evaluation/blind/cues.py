"""Measure cues, which are numbers computed for each option without the video, and choose options by a single cue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...language.text_key import text_key
from .questions import Arranged, Embedded, Floats

DIGITS = 4  # digits of a cosine, so that rounding errors have no effect
SCORE_DIGITS = 9
NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
AUXILIARIES = frozenset(("not", "did", "do", "does", "didnt", "doesnt", "dont"))
ENDINGS = re.compile(r"(?:ing|ed|d|s)$")
STEM = 5
ASKING = ("near_question", "shared_words", "rare_word", "case", "mark")
"""Cues that compare options with the question, and are omitted if there is none."""
TRAINING = ("right_in_train", "wrong_in_train")
"""Cues that are computed from the train split."""
MARKS = (".", "?", "!", "…", ";", ":")


@dataclass(frozen=True)
class TrainCounts:
    """How often each text, normalized by `text_key`, is the correct option in train, and how often it is not."""

    right: Mapping[str, int]
    wrong: Mapping[str, int]


def train_counts(rows: Arranged) -> TrainCounts:
    """Count how often each option is correct and incorrect in the train split."""
    right = Counter(rows.keys[np.arange(len(rows.right)), rows.right].tolist())
    return TrainCounts(right, Counter(rows.keys[rows.there].tolist()) - right)


def cues(rows: Arranged, vectors: Embedded | None = None) -> dict[str, Floats]:
    """Compute all cues except those in `TRAINING`. Without `vectors`, cues that require embeddings are omitted.

    Returns:
        For each cue, an array of shape (questions, most options), which is 0 where an option is missing.
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


def training_cues(rows: Arranged, learnt: TrainCounts) -> dict[str, Floats]:
    """Count how often each option is correct, and incorrect, in train. Shapes are as in `cues`."""
    return {
        name: rows.spread([[counts.get(text_key(text), 0) for text in texts] for texts in rows.texts()])
        for name, counts in zip(TRAINING, (learnt.right, learnt.wrong), strict=True)
    }


Measure = Callable[[Arranged], Sequence[Sequence[float]]]


def _of_text(measure: Callable[[str], float]) -> Measure:
    return lambda rows: [[float(measure(text)) for text in texts] for texts in rows.texts()]


def _as_question(measure: Callable[[str], bool]) -> Measure:
    return lambda rows: [
        [float(measure(text) == measure(one.question)) for text in texts]
        for one, texts in zip(rows.asked, rows.texts(), strict=True)
    ]


def _is_small(text: str) -> bool:
    return text[:1].islower()


def _has_mark(text: str) -> bool:
    return text.rstrip().endswith(MARKS)


def _frequency(rows: Arranged) -> list[list[float]]:
    counts = Counter(rows.keys[rows.there].tolist())
    return [[counts[text_key(text)] for text in texts] for texts in rows.texts()]


def _shared_words(rows: Arranged) -> list[list[float]]:
    weights = rarity(one.question for one in rows.asked)
    found = []
    for one, texts in zip(rows.asked, rows.texts(), strict=True):
        asked = set(stems(one.question))
        found.append([sum(weights[stem] for stem in sorted(asked & set(stems(text)))) for text in texts])
    return found


def _rare_word(rows: Arranged) -> list[list[float]]:
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
    """Return the inverse document frequency of each stem in the texts."""
    bags = [set(stems(text)) for text in texts]
    counts = Counter(stem for bag in bags for stem in bag)
    return {stem: float(np.log((1 + len(bags)) / count)) for stem, count in counts.items()}


def twin_scores(texts: Sequence[str]) -> list[float]:
    """Score how likely each option is the original from which two others were made by negation and by swapping roles.

    Negation preserves words and their order, and swapping preserves words. The original is therefore not negated, and
    is most similar to the other two in words and word order.
    """
    bags = [Counter(_twin_stems(text)) for text in texts]
    pairs = [Counter(pairwise(_twin_stems(text))) for text in texts]

    def score(place: int) -> float:
        others = [other for other in range(len(texts)) if other != place]
        words = max((_dice(bags[place], bags[other]) for other in others), default=0.0)
        order = sorted((_dice(pairs[place], pairs[other]) for other in others), reverse=True)[:2]
        return 10 * round(words, 2) + sum(order) - 0.3 * bool(NEGATED.search(texts[place]))

    return [score(place) for place in range(len(texts))]


LEXICAL: dict[str, Measure] = {
    "letters": _of_text(len),
    "frequency": _frequency,
    "small_letter": _of_text(_is_small),
    "final_mark": _of_text(_has_mark),
    "shared_words": _shared_words,
    "rare_word": _rare_word,
    "case": _as_question(_is_small),
    "mark": _as_question(_has_mark),
    "negated": _of_text(lambda text: bool(NEGATED.search(text))),
    "twin": lambda rows: [twin_scores(texts) for texts in rows.texts()],
}


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


@dataclass(frozen=True)
class Rule:
    """A baseline that chooses the option with the largest or smallest value of a cue.

    Attributes:
        most: Whether the largest value is chosen.
    """

    cue: str
    most: bool
    meaning: str


RULES = {
    "longest": Rule("letters", True, "the longest option, in letters"),
    "shortest": Rule("letters", False, "the shortest option, in letters"),
    "rarest": Rule("frequency", False, "the least frequent option of the split"),
    "commonest": Rule("frequency", True, "the most frequent option of the split"),
    "central": Rule("like_others", True, "the option most similar to the others (SBERT)"),
    "odd_one_out": Rule("like_others", False, "the option least similar to the others (SBERT)"),
    "near_question": Rule("near_question", True, "the option most similar to the question (SBERT)"),
    "far_from_question": Rule("near_question", False, "the option least similar to the question (SBERT)"),
    "shared_words": Rule(
        "shared_words", True, "the option that shares the most words with the question, weighted by rarity"
    ),
    "few_shared_words": Rule("shared_words", False, "the option that shares the fewest words with the question"),
    "rare_word": Rule("rare_word", True, "the only option that repeats the rarest word of the question"),
    "case": Rule("case", True, "an option whose first letter has the same case as the question's"),
    "mark": Rule("mark", True, "an option with final punctuation if the question has it, else without"),
    "negated": Rule("negated", True, "an option with a negation"),
    "twin": Rule("twin", True, "the option with two similar counterparts among the others, and no negation"),
    "right_in_train": Rule("right_in_train", True, "the option that is most often correct in train"),
    "not_right_in_train": Rule("right_in_train", False, "an option that is never correct in train"),
    "wrong_in_train": Rule("wrong_in_train", True, "the option that is most often incorrect in train"),
    "not_wrong_in_train": Rule("wrong_in_train", False, "an option that is never incorrect in train"),
}


def pick(rows: Arranged, scores: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Choose the option with the highest score for each question.

    Returns:
        The position of the chosen option (the first of ties), and the probability that it is correct, which is 1/2 if
            the correct option is one of two tied options. Both have shape (questions,).
    """
    masked = np.where(rows.there, np.round(scores, SCORE_DIGITS), -np.inf)
    best = masked == masked.max(axis=1, keepdims=True)
    right: Floats = best[np.arange(len(best)), rows.right] / best.sum(axis=1)
    return best.argmax(axis=1), right
