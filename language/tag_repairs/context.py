"""Examine the context of a word in a tagged sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import FINITE
from ..inflection import inflect, is_verb_form
from ..lexicon import words as words_of


def place_before(tags: Sequence[str], number: int) -> int:
    """Return the index of the previous word that is not an adverb, or -1 if there is none."""
    number -= 1
    while number >= 0 and tags[number] == "RB":
        number -= 1
    return number


def is_coordinated(tags: Sequence[str], start: int, place: int) -> bool:
    """Return whether the subject that ends at a word has two conjuncts, as in "a hairdresser and a client speak"."""
    between = tags[start:place]
    return "CC" in between and not any(tag in FINITE or tag in ("VBG", "VB") for tag in between)


def has_other_finite(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Return whether the clause that contains a word has another finite verb."""

    def joins(n: int) -> bool:
        return tags[n] in ("WP", "WDT", "WRB", ",", ":", ".") or words[n] in words_of("joining") or words[n] == "then"

    subjects = ("he", "she", "they", "we", "i")
    start = max((n + (words[n] not in subjects) for n in range(number) if joins(n) or words[n] in subjects), default=0)
    start = max(start, max((n for n in range(number) if tags[n] == "CC"), default=-1) + 1)
    if start and tags[start - 1] == "CC" and not any(tag in FINITE for tag in tags[:start]):
        start = max((n for n in range(start - 1) if joins(n)), default=-1) + 1
    stop = next((n for n in range(number + 1, len(tags)) if joins(n) or tags[n] == "CC"), len(tags))
    return any(tags[n] in FINITE for n in range(start, stop) if n != number)


def third_person(word: str) -> str:
    """Return the third person of a base form. Other forms are returned unchanged."""
    return inflect(word, "VBZ") if is_verb_form(word, "VB") else word
