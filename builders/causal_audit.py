"""What guessers know who see the options and nothing else, or the question besides: never the video.

Each picks one option of every question; with options that give nothing away each is right as often as chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..negatives.mining import COSINE_DIGITS, text_key

Floats = NDArray[np.float32]

GUESSERS = {
    "longest": "the longest option, in letters",
    "shortest": "the shortest option",
    "near_question": "the option nearest to the question (SBERT)",
    "odd_one_out": "the option least like the others (SBERT)",
    "central": "the option most like the others (SBERT)",
    "seen_in_train": "the option that is a right one in `train`; the first, if none or several are",
}


@dataclass(frozen=True, eq=False)
class Asked:
    """A question and its options, as a guesser sees them.

    Attributes:
        question: Embedding of the question, of length 1.
        texts: The options.
        options: Their embeddings, float32 of shape (options, dimensions), each of length 1.
        right: Which is right.
    """

    question: Floats
    texts: Sequence[str]
    options: Floats
    right: int


def guess(asked: Asked, seen: frozenset[str]) -> dict[str, int]:
    """Give the option that each guesser picks; of equal ones the first.

    Args:
        asked: The question.
        seen: The right options of `train`, folded by `negatives.mining.text_key`.
    """
    lengths = [len(text) for text in asked.texts]
    options = asked.options.astype(np.float64)
    to_question = np.round(options @ asked.question.astype(np.float64), COSINE_DIGITS)
    to_others = np.round((options @ options.T).sum(axis=1) - 1, COSINE_DIGITS)
    known = [place for place, text in enumerate(asked.texts) if text_key(text) in seen]
    return {
        "longest": lengths.index(max(lengths)),
        "shortest": lengths.index(min(lengths)),
        "near_question": int(to_question.argmax()),
        "odd_one_out": int(to_others.argmin()),
        "central": int(to_others.argmax()),
        "seen_in_train": known[0] if len(known) == 1 else 0,
    }


def audit(questions: Sequence[Asked], seen: frozenset[str]) -> dict[str, int]:
    """Count how often each guesser is right."""
    right = dict.fromkeys(GUESSERS, 0)
    for asked in questions:
        for name, place in guess(asked, seen).items():
            right[name] += place == asked.right
    return right


def known_share(wrong: Sequence[str], rights: Mapping[str, object] | frozenset[str]) -> tuple[int, int]:
    """Count the wrong options that are right ones in `train`, of all wrong options."""
    return sum(text_key(text) in rights for text in wrong), len(wrong)
