"""Measure cues, which are numbers computed for each option without the video, and choose options by a single cue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...language.lexicon import CLOSED
from ...language.people import derive_cast
from ...language.words import name_pattern, text_key
from .baselines import features
from .blind_questions import Arranged, Embed, Embedded, Floats, embedded

Names = re.Pattern[str] | None
"""Pattern of the names of characters (`words.name_pattern`), or None if there are none."""

DIGITS = 4  # digits of a cosine, so that rounding errors have no effect
SCORE_DIGITS = 9
NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
AUXILIARIES = frozenset(("not", "did", "do", "does", "didnt", "doesnt", "dont"))
ENDINGS = re.compile(r"(?:ing|ed|d|s)$")
STEM = 5
LETTERS = 3
MARKS = (".", "?", "!", "…", ";", ":")
GRAMMAR = {"pronouns": ("PRP", "PRP$"), "articles": ("DT",), "prepositions": ("IN", "TO")}
LEXICAL = (
    *("letters", "frequency", "small_letter", "final_mark", "shared_words", "shared_share", "shared_letters"),
    *("rare_word", "case", "mark", "words", "commas", "apostrophes", "capitals", *GRAMMAR, "negated", "twin"),
    *("shared_names", "other_names"),
)
"""Cues that require no sentence encoder."""
EMBEDDED = ("like_others", "like_one", "unlike_one", "near_question")
"""Cues that require a sentence encoder."""
ASKING = (
    *("near_question", "shared_words", "shared_share", "shared_letters", "rare_word"),
    *("shared_names", "other_names", "case", "mark"),
)
"""Cues that compare options with the question, and are omitted if there is none."""


def cues(rows: Arranged, vectors: Embedded | None = None, names: Names = None) -> dict[str, Floats]:
    """Compute all cues that need no training questions. Without `vectors`, those in `EMBEDDED` are omitted.

    Args:
        rows: Questions with their options.
        vectors: Their embeddings.
        names: Pattern of the names of characters.

    Returns:
        For each cue, an array of shape (questions, most options), which is 0 where an option is missing.
    """
    asks = any(question.question for question in rows.questions)
    frequency = Counter(rows.keys[rows.exists].tolist())
    weights = rarity(question.question for question in rows.questions)
    letters = _letter_weights(rows)
    of_options: list[dict[str, float]] = []
    for question, texts in zip(rows.questions, rows.texts(), strict=True):
        unique, twins = _only_with_rare_word(question.question, texts, weights), twin_scores(texts)
        for index, text in enumerate(texts):
            of_set = {"frequency": frequency[text_key(text)], "rare_word": index == unique, "twin": twins[index]}
            compared = _compared(question.question, text, weights, letters, names)
            of_options.append(_of_text(text) | compared | of_set)
    values = {
        name: rows.as_array([float(of_option[name]) for of_option in of_options])
        for name in LEXICAL
        if asks or name not in ASKING
    }
    return values | (_of_embeddings(rows, vectors, asks) if vectors else {})


def _of_text(text: str) -> dict[str, float]:
    """Compute the cues that depend on the text of an option only."""
    tags = [CLOSED.get(word) for word in text.lower().split()]
    return {
        "letters": len(text),
        "small_letter": _begins_small(text),
        "final_mark": _has_final_mark(text),
        "words": len(tags),
        "commas": text.count(","),
        "apostrophes": text.count("'") + text.count("’"),
        "capitals": sum(map(str.isupper, text)),
        **{name: sum(tag in of_name for tag in tags) for name, of_name in GRAMMAR.items()},
        "negated": bool(NEGATED.search(text)),
    }


def _compared(
    question: str, text: str, weights: Mapping[str, float], letters: Mapping[str, float], names: Names
) -> dict[str, float]:
    """Compute the cues in `ASKING` of an option, except those that depend on other options or on embeddings."""
    asked, words = set(stems(question)), stems(text)
    asked_names, own_names = named(names, question), named(names, text)
    vector = _letter_vector(question, letters)
    cosine = sum(vector.get(key, 0.0) * value for key, value in _letter_vector(text, letters).items())
    return {
        "shared_words": sum(weights[stem] for stem in sorted(asked & set(words))),
        "shared_share": sum(word in asked for word in words) / max(1, len(words)),
        "shared_letters": round(float(cosine), DIGITS),
        "case": _begins_small(text) == _begins_small(question),
        "mark": _has_final_mark(text) == _has_final_mark(question),
        "shared_names": len(own_names & asked_names),
        "other_names": len(own_names - asked_names),
    }


def _of_embeddings(rows: Arranged, vectors: Embedded, asks: bool) -> dict[str, Floats]:
    """Compute the cues in `EMBEDDED`."""
    options, questions = vectors.options.astype(np.float64), vectors.questions.astype(np.float64)
    sums = options.sum(axis=1, keepdims=True)
    others = np.maximum(rows.exists.sum(axis=1) - 1, 1)[:, None]
    nearest, farthest = np.full(rows.exists.shape, -1.0), np.full(rows.exists.shape, 1.0)
    for index in range(options.shape[1]):
        cosines = np.round(np.einsum("nkd,nd->nk", options, options[:, index]), DIGITS)
        pairs = rows.exists & rows.exists[:, index, None] & (np.arange(options.shape[1]) != index)
        nearest = np.where(pairs, np.maximum(nearest, cosines), nearest)
        farthest = np.where(pairs, np.minimum(farthest, cosines), farthest)
    values = {
        "like_others": np.round(((options * sums).sum(axis=2) - (options**2).sum(axis=2)) / others, DIGITS),
        "like_one": np.where(rows.exists, nearest, 0),
        "unlike_one": np.where(rows.exists, farthest, 0),
    }
    if asks:
        values["near_question"] = np.round(np.einsum("nkd,nd->nk", options, questions), DIGITS)
    return values


def _begins_small(text: str) -> bool:
    return text[:1].islower()


def _has_final_mark(text: str) -> bool:
    return text.rstrip().endswith(MARKS)


@lru_cache(maxsize=1 << 16)
def _letters(text: str) -> Counter[str]:
    key = f" {text_key(text)} "
    return Counter(key[start : start + LETTERS] for start in range(len(key) - LETTERS + 1))


def _letter_weights(rows: Arranged) -> dict[str, float]:
    """Return the inverse document frequency of each sequence of three letters in the options."""
    options = [text for texts in rows.texts() for text in texts]
    counts = Counter(letters for text in options for letters in _letters(text))
    return {letters: float(np.log((1 + len(options)) / count)) for letters, count in counts.items()}


def _letter_vector(text: str, weights: Mapping[str, float]) -> dict[str, float]:
    """Return the TF-IDF of each sequence of three letters in a text, with Euclidean norm 1."""
    values = {letters: count * weights[letters] for letters, count in _letters(text).items() if letters in weights}
    norm = np.sqrt(sum(value * value for value in values.values())) or 1.0
    return {letters: value / norm for letters, value in values.items()}


def named(names: Names, text: str) -> frozenset[str]:
    """Return the names of characters in a text, in lower case."""
    return frozenset(match[0].lower() for match in names.finditer(text)) if names else frozenset()


def names_in(*parts: Arranged) -> Names:
    """Return a pattern of the names of characters in questions and options."""
    questions = [question for rows in parts for question in rows.questions]
    texts = {text for question in questions for text in (question.question, *question.options)}
    return name_pattern(derive_cast(sorted(texts)).names)


def _only_with_rare_word(question: str, texts: Sequence[str], weights: Mapping[str, float]) -> int | None:
    """Return the index of the only option that repeats the rarest word of the question that just one repeats."""
    bags = [set(stems(text)) for text in texts]
    by_rarity = sorted(set(stems(question)), key=lambda stem: (-weights[stem], stem))
    holders = ([index for index, bag in enumerate(bags) if stem in bag] for stem in by_rarity)
    return next((indices[0] for indices in holders if len(indices) == 1), None)


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

    def score(index: int) -> float:
        others = [other for other in range(len(texts)) if other != index]
        words = max((_dice(bags[index], bags[other]) for other in others), default=0.0)
        order = sorted((_dice(pairs[index], pairs[other]) for other in others), reverse=True)[:2]
        return 10 * round(words, 2) + sum(order) - 0.3 * bool(NEGATED.search(texts[index]))

    return [score(index) for index in range(len(texts))]


@lru_cache(maxsize=1 << 16)
def stems(text: str) -> tuple[str, ...]:
    """Return the words of a text without common endings, cut to five letters."""
    return tuple(ENDINGS.sub("", word)[:STEM] for word in text_key(text).split())


@lru_cache(maxsize=1 << 16)
def _twin_stems(text: str) -> tuple[str, ...]:
    return tuple(ENDINGS.sub("", word)[:STEM] for word in text_key(text).split() if word not in AUXILIARIES)


def _dice(first: Counter[Any], second: Counter[Any]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


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
    masked = np.where(rows.exists, np.round(scores, SCORE_DIGITS), -np.inf)
    best = masked == masked.max(axis=1, keepdims=True)
    right: Floats = best[np.arange(len(best)), rows.right] / best.sum(axis=1)
    return best.argmax(axis=1), right


@dataclass(frozen=True, eq=False)
class Measured:
    """Arranged questions with the inputs of trained baselines.

    Attributes:
        vectors: Embeddings of questions and options, or None if there is no sentence encoder.
        cues: The cues that need no training questions, by name.
        embed: Function that embeds texts, or None if there is no sentence encoder.
        names: Pattern of the names of characters.
    """

    rows: Arranged
    vectors: Embedded | None
    cues: Mapping[str, Floats]
    embed: Embed | None
    names: Names

    def take(self, rows: NDArray[np.int64]) -> Measured:
        """Return only the questions with these indices."""
        vectors = self.vectors and Embedded(self.vectors.questions[rows], self.vectors.options[rows])
        values = {name: of_cue[rows] for name, of_cue in self.cues.items()}
        return Measured(self.rows.take(rows), vectors, values, self.embed, self.names)

    def features(self, *names: str) -> Floats:
        """Return the features (`baselines.features`) of some cues, shape (questions, most options, features)."""
        empty = np.zeros((*self.rows.exists.shape, 0))
        known = [features(self.rows.exists, self.cues[name]) for name in names if name in self.cues]
        return np.concatenate([empty, *known], axis=2)

    @property
    def of_options(self) -> tuple[str, ...]:
        """Names of the cues that depend only on the options."""
        return tuple(name for name in self.cues if name not in ASKING)


def measure(rows: Arranged, embed: Embed | None, names: Names, *, with_cues: bool = True) -> Measured:
    """Compute the embeddings and, unless they are not needed, the cues of questions."""
    vectors = embedded(rows, embed) if embed else None
    return Measured(rows, vectors, cues(rows, vectors, names) if with_cues else {}, embed, names)
