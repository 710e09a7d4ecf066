"""Guessers that have learnt nothing, or nothing but which texts are right in train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .asked import Arranged, Floats
from .asked import Asked as Asked


@dataclass(frozen=True)
class Rule:
    """A guesser that takes the option with the largest, or the smallest, number of a cue.

    Attributes:
        cue: The cue, of `cues.cues`.
        most: Whether it takes the largest.
        meaning: What it takes, in words.
    """

    cue: str
    most: bool
    meaning: str


DIGITS = 9  # noise in the last places decides nothing

RULES = {
    "longest": Rule("letters", True, "the longest option, in letters"),
    "shortest": Rule("letters", False, "the shortest option, in letters"),
    "rarest": Rule("frequency", False, "the option that is least often an option in the split"),
    "commonest": Rule("frequency", True, "the option that is most often an option in the split"),
    "central": Rule("like_others", True, "the option most like the others (SBERT)"),
    "odd_one_out": Rule("like_others", False, "the option least like the others (SBERT)"),
    "near_question": Rule("near_question", True, "the option nearest to the question (SBERT)"),
    "far_from_question": Rule("near_question", False, "the option farthest from the question (SBERT)"),
    "shared_words": Rule("shared_words", True, "the option that shares most words with the question, rare ones first"),
    "few_shared_words": Rule("shared_words", False, "the option that shares fewest words with the question"),
    "rare_word": Rule("rare_word", True, "the only option that repeats the rarest word of the question"),
    "case": Rule("case", True, "an option that begins with a capital or a small letter as the question does"),
    "mark": Rule("mark", True, "an option that ends with or without a mark as the question does"),
    "negated": Rule("negated", True, "an option with a negation"),
    "twin": Rule("twin", True, "the option with two near twins among the others, and no negation"),
    "right_in_train": Rule("right_in_train", True, "the option that is most often right in train"),
    "not_right_in_train": Rule("right_in_train", False, "an option that is not right in train"),
    "wrong_in_train": Rule("wrong_in_train", True, "the option that is most often wrong in train"),
    "not_wrong_in_train": Rule("wrong_in_train", False, "an option that is not wrong in train"),
}


def pick(rows: Arranged, scores: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Take the option with the largest score.

    Args:
        rows: The questions.
        scores: A number for each option, shape (questions, most options).

    Returns:
        The place of the option, of equally good ones the first, which is any; and whether it is right, shape
        (questions,): of equally good options one is right with equal chance, so of two that is 1/2.
    """
    masked = np.where(rows.there, np.round(scores, DIGITS), -np.inf)
    best = masked == masked.max(axis=1, keepdims=True)
    right: Floats = best[np.arange(len(best)), rows.right] / best.sum(axis=1)
    return best.argmax(axis=1), right
