"""The words of a text that say something: lemmas without articles, pronouns, auxiliaries and the like.

What one text says is part of what another says if its content words are among the other's: "Jerry was scared" and "Tom
and Jerry were scared of the dog". Embeddings alone miss this, because the longer text says more besides.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

import yaml

from ..language.inflection import readings, verb_lemma

WORD = re.compile(r"\w+(?:['’]\w+)*")
NEGATED = re.compile(r"n['’]?t$")
NEGATIONS = frozenset(("not", "no", "never", "nobody", "nothing", "none", "without"))
PARTS = ("NOUN", "ADJ", "ADV")


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text as lemmas, "n't" as "not"; of a language other than English, its words."""
    return frozenset(content_lemmas(text))


def content_lemmas(text: str) -> tuple[str, ...]:
    """Return the content words of a text as `content_words` does, in their order and as often as they stand there."""
    return tuple(lemma for word in WORD.findall(text.casefold()) for lemma in _lemmas(word))


def says_no_more(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the content words of one of two texts are all among the other's.

    A text without any says nothing here, and one that is negated says no part of what the other says, but its opposite.
    """
    return bool(one and other) and (one <= other or other <= one) and not (one ^ other) & NEGATIONS


@lru_cache(maxsize=1 << 16)
def _lemmas(word: str) -> tuple[str, ...]:
    """Return the lemma of a word, always the same whatever stands around it; nothing for a function word."""
    if word in function_words():
        return ()
    if word == "cannot" or (NEGATED.search(word) and ("'" in word or "’" in word)):
        return ("not",)
    word = re.sub(r"['’]\w*$", "", word)  # Jerry's
    if word in function_words():
        return ()
    known = readings(word)
    if "VERB" in known:
        return (verb_lemma(word),)
    return (next((known[part][0] for part in PARTS if part in known), word),)


@cache
def function_words() -> frozenset[str]:
    """Return the list."""
    content = yaml.safe_load((Path(__file__).parent / "tables" / "function_words.yaml").read_text(encoding="utf-8"))
    return frozenset(str(content["words"]).split())
