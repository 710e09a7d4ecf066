"""Detect answers that may also be correct because they state the same effect in other words."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import yaml

from .content_words import NEGATIONS, content_words, says_no_more

COMMON = frozenset(("scared", "angry", "happy", "sad", "hurt", "confuse", "catch", "escape", "trick"))
INTENT = frozenset(
    ("want", "try", "make", "go", "come", "start", "begin", "feel", "become", "think", "know", "inflict")
)


@cache
def effects() -> dict[str, frozenset[str]]:
    """Return the synonym groups of each word. A group is named after its first word."""
    path = Path(__file__).parent / "tables" / "same_effect.yaml"
    found: dict[str, set[str]] = {}
    for line in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
        words = str(line).split()
        for word in words:
            found.setdefault(word, set()).add(words[0])
    return {word: frozenset(sets) for word, sets in found.items()}


@lru_cache(maxsize=1 << 16)
def said(text: str) -> frozenset[str]:
    """Return the content words of a text, without words of intent and with synonyms merged."""
    known = effects()
    words = content_words(text) - INTENT
    return frozenset(one for word in words for one in known.get(word, (word,)))


def may_be_right(candidate: str, question: str, right: tuple[str, ...]) -> bool:
    """Return whether a candidate may be correct too, judging by its words.

    `right` contains the text of the same target first, then others such as the explanation.
    """
    words = said(candidate)
    asked, rights, right_is_common = _known(question, right)
    more = words - asked
    if not more:
        return True  # only repeats the question
    if not right_is_common and _is_common(words, asked):
        return True  # "Tom was shocked" is compatible with any reason to scream
    known = frozenset[str]().union(*rights)
    if more <= known and not (words ^ known) & NEGATIONS:
        return True
    return any(says_no_more(words, one) for one in rights)


@lru_cache(maxsize=16)  # candidates are tested question by question
def _known(question: str, right: tuple[str, ...]) -> tuple[frozenset[str], list[frozenset[str]], bool]:
    """Return the words of the question and of each correct text, and whether the first text is common."""
    asked, rights = said(question), [said(text) for text in right]
    return asked, rights, _is_common(rights[0], asked)


def _is_common(words: frozenset[str], asked: frozenset[str]) -> bool:
    """Return whether a text states nothing but a feeling or a common aim."""
    return bool(words & COMMON) and len(words - COMMON - asked) <= (not words & asked)  # otherwise it names a person
