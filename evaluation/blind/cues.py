"""Measure cues, which are numbers computed for each option without the video, and choose options by a single cue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...language.closed_classes import CLOSED
from ...language.text_key import text_key
from .questions import Arranged, Embedded, Floats

DIGITS = 4  # digits of a cosine, so that rounding errors have no effect
SCORE_DIGITS = 9
NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
AUXILIARIES = frozenset(("not", "did", "do", "does", "didnt", "doesnt", "dont"))
ENDINGS = re.compile(r"(?:ing|ed|d|s)$")
STEM = 5
ASKING = (
    *("near_question", "shared_words", "shared_share", "shared_letters", "rare_word"),
    *("shared_names", "other_names", "case", "mark"),
)
"""Cues that compare options with the question, and are omitted if there is none."""
EMBEDDED = ("like_others", "like_one", "unlike_one", "near_question")
"""Cues that require a sentence encoder."""
GRAMMAR = {"pronouns": ("PRP", "PRP$"), "articles": ("DT",), "prepositions": ("IN", "TO")}
LETTERS = 3
MARKS = (".", "?", "!", "…", ";", ":")


def cues(rows: Arranged, vectors: Embedded | None = None, names: Names = None) -> dict[str, Floats]:
    """Compute all cues that need no training questions. Without `vectors`, those in `EMBEDDED` are omitted.

    Args:
        rows: Questions with their options.
        vectors: Their embeddings.
        names: Pattern of the names of characters (`words.name_pattern`).

    Returns:
        For each cue, an array of shape (questions, most options), which is 0 where an option is missing.
    """
    asks = any(one.question for one in rows.asked)
    measures = LEXICAL | {name: partial(measure, names) for name, measure in OF_NAMES.items()}
    found = {name: rows.spread(measure(rows)) for name, measure in measures.items() if asks or name not in ASKING}
    if vectors is not None:
        options, asked = vectors.options.astype(np.float64), vectors.questions.astype(np.float64)
        sums = options.sum(axis=1, keepdims=True)
        others = np.maximum(rows.there.sum(axis=1) - 1, 1)[:, None]
        found["like_others"] = np.round(((options * sums).sum(axis=2) - (options**2).sum(axis=2)) / others, DIGITS)
        nearest, farthest = np.full(rows.there.shape, -1.0), np.full(rows.there.shape, 1.0)
        for place in range(options.shape[1]):
            cosines = np.round(np.einsum("nkd,nd->nk", options, options[:, place]), DIGITS)
            pairs = rows.there & rows.there[:, place, None] & (np.arange(options.shape[1]) != place)
            nearest, farthest = (
                np.where(pairs, choose(known, cosines), known)
                for choose, known in ((np.maximum, nearest), (np.minimum, farthest))
            )
        found |= {"like_one": np.where(rows.there, nearest, 0), "unlike_one": np.where(rows.there, farthest, 0)}
        if asks:
            found["near_question"] = np.round(np.einsum("nkd,nd->nk", options, asked), DIGITS)
    return found


Names = re.Pattern[str] | None
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


def _shared_share(rows: Arranged) -> list[list[float]]:
    found = []
    for one, texts in zip(rows.asked, rows.texts(), strict=True):
        asked, words = set(stems(one.question)), [stems(text) for text in texts]
        found.append([sum(word in asked for word in some) / max(1, len(some)) for some in words])
    return found


def _shared_letters(rows: Arranged) -> list[list[float]]:
    """Compute the cosine of question and option, as TF-IDF of three consecutive letters."""
    counts = Counter(letters for texts in rows.texts() for text in texts for letters in _letters(text))
    total = sum(map(len, rows.texts()))
    weigh = {letters: float(np.log((1 + total) / count)) for letters, count in counts.items()}

    def vector(text: str) -> dict[str, float]:
        found = {letters: count * weigh[letters] for letters, count in _letters(text).items() if letters in weigh}
        length = np.sqrt(sum(value * value for value in found.values())) or 1.0
        return {letters: value / length for letters, value in found.items()}

    found = []
    for one, texts in zip(rows.asked, rows.texts(), strict=True):
        asked = vector(one.question)
        cosines = (sum(asked.get(letters, 0.0) * value for letters, value in vector(text).items()) for text in texts)
        found.append([round(float(cosine), DIGITS) for cosine in cosines])
    return found


@lru_cache(maxsize=1 << 16)
def _letters(text: str) -> Counter[str]:
    key = f" {text_key(text)} "
    return Counter(key[start : start + LETTERS] for start in range(len(key) - LETTERS + 1))


def _in_names(names: Names, rows: Arranged, shared: bool) -> list[list[float]]:
    """Count the names in each option that the question has too (`shared`), or that it lacks."""
    return [
        [float(len({name for name in named(names, text) if (name in asked) == shared})) for text in texts]
        for asked, texts in zip((named(names, one.question) for one in rows.asked), rows.texts(), strict=True)
    ]


def named(names: Names, text: str) -> frozenset[str]:
    """Return the names of characters in a text, in lower case."""
    return frozenset(match[0].lower() for match in names.finditer(text)) if names else frozenset()


def _tagged(tags: Container[str]) -> Measure:
    return _of_text(lambda text: sum(CLOSED.get(word) in tags for word in text.lower().split()))


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
    "shared_share": _shared_share,
    "shared_letters": _shared_letters,
    "rare_word": _rare_word,
    "case": _as_question(_is_small),
    "mark": _as_question(_has_mark),
    "words": _of_text(lambda text: len(text.split())),
    "commas": _of_text(lambda text: text.count(",")),
    "apostrophes": _of_text(lambda text: text.count("'") + text.count("’")),
    "capitals": _of_text(lambda text: sum(map(str.isupper, text))),
    **{name: _tagged(tags) for name, tags in GRAMMAR.items()},
    "negated": _of_text(lambda text: bool(NEGATED.search(text))),
    "twin": lambda rows: [twin_scores(texts) for texts in rows.texts()],
}
OF_NAMES: dict[str, Callable[[Names, Arranged], Sequence[Sequence[float]]]] = {
    "shared_names": partial(_in_names, shared=True),
    "other_names": partial(_in_names, shared=False),
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
    "shared_letters": Rule(
        "shared_letters", True, "the option that shares the most sequences of three letters with the question (TF-IDF)"
    ),
    "shared_names": Rule("shared_names", True, "the option that shares the most names with the question"),
    "rare_word": Rule("rare_word", True, "the only option that repeats the rarest word of the question"),
    "case": Rule("case", True, "an option whose first letter has the same case as the question's"),
    "mark": Rule("mark", True, "an option with final punctuation if the question has it, else without"),
    "negated": Rule("negated", True, "an option with a negation"),
    "twin": Rule("twin", True, "the option with two similar counterparts among the others, and no negation"),
    "right_in_train": Rule("right_in_train", True, "the option that is most often correct in train"),
    "not_right_in_train": Rule("right_in_train", False, "an option that is never correct in train"),
    "wrong_in_train": Rule("wrong_in_train", True, "the option that is most often incorrect in train"),
    "not_wrong_in_train": Rule("wrong_in_train", False, "an option that is never incorrect in train"),
    "likely": Rule("likely", True, "the most probable option per word (trigram model of correct options in train)"),
    "unlikely": Rule("likely", False, "the least probable option per word (trigram model of correct options in train)"),
    "near_answers": Rule(
        "near_weighted", True, "the option most similar to the answers of the nearest train questions (SBERT)"
    ),
    "far_from_answers": Rule(
        "near_best_of_20", False, "the option least similar to any answer of the nearest train questions (SBERT)"
    ),
    "like_a_right": Rule("like_a_right", True, "the option most similar to any correct option in train (SBERT)"),
    "unlike_rights": Rule("like_a_right", False, "the option least similar to any correct option in train (SBERT)"),
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
