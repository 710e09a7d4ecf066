"""Whether one answer might be right where another one is: the same effect in other words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from .content_words import NEGATIONS, content_words, says_no_more

COMMON = frozenset(("scared", "angry", "happy", "sad", "hurt", "confuse", "catch", "escape", "trick"))
INTENT = frozenset(
    ("want", "try", "make", "go", "come", "start", "begin", "feel", "become", "think", "know", "inflict")
)


@cache
def effects() -> dict[str, frozenset[str]]:
    """Return the sets that each word belongs to, by the first word of each."""
    path = Path(__file__).parent / "tables" / "same_effect.yaml"
    found: dict[str, set[str]] = {}
    for line in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
        words = str(line).split()
        for word in words:
            found.setdefault(word, set()).add(words[0])
    return {word: frozenset(sets) for word, sets in found.items()}


@cache
def said(text: str) -> frozenset[str]:
    """Return what a text says: its content words without those of mere intent, words for one effect as one."""
    known = effects()
    words = content_words(text) - INTENT
    return frozenset(one for word in words for one in known.get(word, (word,)))


def may_be_right(candidate: str, question: str, right: tuple[str, ...]) -> bool:
    """Return whether a candidate might be right too, as far as words tell.

    Args:
        candidate: A text that may become a wrong option.
        question: The question.
        right: What is known to be right: the text whose place it may take, then others, such as the explanation.
    """
    words, asked = said(candidate), said(question)
    more = words - asked
    if not more:
        return True  # it says no more than the question does
    if _is_common(candidate, asked) and not _is_common(right[0], asked):
        return True  # "Tom was shocked" goes with whatever made him scream
    known = frozenset[str]().union(*(said(text) for text in right))
    if more <= known and not (words ^ known) & NEGATIONS:
        return True
    return any(says_no_more(words, said(text)) for text in right)


def _is_common(text: str, asked: frozenset[str]) -> bool:
    """Return whether a text says how somebody feels, or names an aim that anybody has, and no more."""
    words = said(text)
    return bool(words & COMMON) and len(words - COMMON - asked) <= (not words & asked)  # else it says who
