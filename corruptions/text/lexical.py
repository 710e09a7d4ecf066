"""Inflect words, and load the word lists for word swaps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from ...language.inflection import Tag, inflect
from ...language.wordnet import Pos
from ...language.words import Caption
from .tables import read_table

T = TypeVar("T")
LEAST, MOST = 1, 10
SAME_STEM = 4
POSES: dict[str, tuple[str, Pos]] = {
    **dict.fromkeys(("NN", "NNS"), ("NOUN", "n")),
    **dict.fromkeys(("VB", "VBZ", "VBP", "VBD", "VBN", "VBG"), ("VERB", "v")),
    "JJ": ("ADJ", "a"),
    "RB": ("ADV", "r"),
}
PARTS: dict[Pos, str] = {pos: part for part, pos in POSES.values()}


def related(word: str, other: str) -> bool:
    """Return whether two lemmas are equal or one is derived from the other, like "singer" from "sing"."""
    short, long = sorted((word, other), key=len)
    stem = short[: max(SAME_STEM, len(short) - 2)] if len(short) >= SAME_STEM else short
    return word == other or (len(short) > 2 and long.startswith(stem))


def is_plain(word: str) -> bool:
    """Return whether a word consists of at least three lower-case ASCII letters and nothing else."""
    return len(word) > 2 and word.isascii() and word.isalpha() and word.islower()


def inflected(lemma: str, tag: str) -> str:
    """Inflect a lemma for a tag. In a phrase, inflect the first word of a verb or the last word of a noun."""
    if tag in ("JJ", "RB", "NN", "VB", "VBP"):
        return lemma
    if tag == "NNS":
        *others, head = lemma.split()
        return " ".join([*others, inflect(head, "NNS")])
    return inflect(lemma, cast(Tag, tag))


def word_count(caption: Caption, share: float) -> int:
    """Return how many words of a caption to change for a given share, between 1 and 10."""
    return min(max(int(share * len(caption.tokens)), LEAST), MOST)


def shuffled(numbers: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Return the numbers in random order."""
    return [numbers[place] for place in rng.permutation(len(numbers))]


def draw_one(values: Sequence[T], rng: np.random.Generator) -> T:
    """Choose one of the values at random."""
    return values[int(rng.integers(len(values)))]


@cache
def names(*path: str) -> frozenset[str]:
    """Return a word list from `swap_text.yaml` as a set. `path` gives the keys that lead to it."""
    part: Any = swap_table()
    for name in path:
        part = part[name]
    return frozenset(str(part["words"]).split())


def swap_table() -> dict[str, Any]:
    """Load `swap_text.yaml`."""
    return read_table("swap_text")
