"""Reduce texts to their content words: lemmas without articles, pronouns, auxiliaries and other function words.

A text repeats part of another if its content words are a subset, as in "Jerry was scared" and "Tom and Jerry were
scared of the dog". Embeddings do not detect this, because the longer text has additional content.
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
    """Return the lemmas of the content words in a text ("not" for "n't"). In other languages, return all words."""
    return frozenset(content_lemmas(text))


def content_lemmas(text: str) -> tuple[str, ...]:
    """Return the content words of a text as lemmas, in order and with repetitions."""
    return tuple(lemma for word in WORD.findall(text.casefold()) for lemma in _lemmas(word))


def says_no_more(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the content words of one text are a subset of those of the other.

    The result is False if a text has no content words, or if only one of them is negated and so states the opposite.
    """
    return bool(one and other) and (one <= other or other <= one) and not (one ^ other) & NEGATIONS


@lru_cache(maxsize=1 << 16)
def _lemmas(word: str) -> tuple[str, ...]:
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
    """Return the function words of English."""
    content = yaml.safe_load((Path(__file__).parent / "tables" / "function_words.yaml").read_text(encoding="utf-8"))
    return frozenset(str(content["words"]).split())
