"""What guessers know who see the options and nothing else, or the question besides: never the video.

Each picks one option of every question; with options that give nothing away each is right as often as chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...negatives.mining import COSINE_DIGITS, text_key
from ...progress import tracked

Floats = NDArray[np.float32]

GUESSERS = {
    "longest": "the longest option, in letters",
    "shortest": "the shortest option",
    "near_question": "the option nearest to the question (SBERT)",
    "odd_one_out": "the option least like the others (SBERT)",
    "central": "the option most like the others (SBERT)",
    "rarest": "the option that is least often an option in the split",
    "seen_in_train": "the option that is a right one in `train`; the first, if none or several are",
    "case": "the first option that begins with a capital or a small letter as the question does",
    "twin": "the option with two near twins among the others: most words in common, likest order, no negation",
}
NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
AUXILIARIES = frozenset(("not", "did", "do", "does", "didnt", "doesnt", "dont"))
ENDINGS = re.compile(r"(?:ing|ed|d|s)$")
STEM = 5


@dataclass(frozen=True, eq=False)
class Asked:
    """A question and its options, as a guesser sees them.

    Attributes:
        asks: The question.
        question: Its embedding, of length 1.
        texts: The options.
        options: Their embeddings, float32 of shape (options, dimensions), each of length 1.
        right: Which is right.
    """

    asks: str
    question: Floats
    texts: Sequence[str]
    options: Floats
    right: int


def guess(asked: Asked, seen: frozenset[str], counts: Mapping[str, int]) -> dict[str, int]:
    """Return the option that each guesser picks; of equal ones the first.

    Args:
        asked: The question.
        seen: The right options of `train`, folded by `negatives.mining.text_key`.
        counts: How often each folded text is an option in the split.
    """
    lengths = [len(text) for text in asked.texts]
    options = asked.options.astype(np.float64)
    to_question = np.round(options @ asked.question.astype(np.float64), COSINE_DIGITS)
    to_others = np.round((options @ options.T).sum(axis=1) - 1, COSINE_DIGITS)
    frequencies = [counts[text_key(text)] for text in asked.texts]
    small = [text[:1].islower() for text in asked.texts]
    alike = [place for place, one in enumerate(small) if one == asked.asks[:1].islower()]
    known = [place for place, text in enumerate(asked.texts) if text_key(text) in seen]
    return {
        "longest": lengths.index(max(lengths)),
        "shortest": lengths.index(min(lengths)),
        "near_question": int(to_question.argmax()),
        "odd_one_out": int(to_others.argmin()),
        "central": int(to_others.argmax()),
        "rarest": frequencies.index(min(frequencies)),
        "seen_in_train": known[0] if len(known) == 1 else 0,
        "case": alike[0] if alike else 0,
        "twin": twin(asked.texts),
    }


def twin(texts: Sequence[str]) -> int:
    """Guess in `causal_confusion`, where the right option is the middle of its negation and its exchange.

    A negation keeps the words and their order, an exchange keeps the words; what is no negation and has the nearest
    twin in words and the likest ones in order is what both were made from.
    """
    stems = [[_stem(word) for word in text_key(text).split() if word not in AUXILIARIES] for text in texts]
    bags = [Counter(words) for words in stems]
    pairs = [Counter(pairwise(words)) for words in stems]

    def score(place: int) -> float:
        others = [other for other in range(len(texts)) if other != place]
        words = max((_dice(bags[place], bags[other]) for other in others), default=0.0)
        order = sorted((_dice(pairs[place], pairs[other]) for other in others), reverse=True)[:2]
        return 10 * round(words, 2) + sum(order) - 0.3 * bool(NEGATED.search(texts[place]))

    scores = [score(place) for place in range(len(texts))]
    return scores.index(max(scores))


def _stem(word: str) -> str:
    return ENDINGS.sub("", word)[:STEM]


def _dice(one: Counter[Any], other: Counter[Any]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def audit(questions: Sequence[Asked], seen: frozenset[str]) -> dict[str, int]:
    """Count how often each guesser is right."""
    right = dict.fromkeys(GUESSERS, 0)
    counts = Counter(text_key(text) for asked in questions for text in asked.texts)
    for asked in tracked(questions, "looking for cues", "question"):
        for name, place in guess(asked, seen, counts).items():
            right[name] += place == asked.right
    return right


def known_share(wrong: Sequence[str], rights: Mapping[str, object] | frozenset[str]) -> tuple[int, int]:
    """Count the wrong options that are right ones in `train`, of all wrong options."""
    return sum(text_key(text) in rights for text in wrong), len(wrong)
