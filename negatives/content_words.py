"""Reduce texts to their content words, and detect by them answers that may be correct too.

Content words are lemmas without articles, pronouns, auxiliaries and other function words. A text repeats part of
another if its content words are a subset, as in "Jerry was scared" and "Tom and Jerry were scared of the dog".
Embeddings do not detect this, because the longer text has additional content.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..core.documents import package_table
from ..language.lexicon import readings, verb_lemma

WORD = re.compile(r"\w+(?:['’]\w+)*")
NEGATED = re.compile(r"n['’]?t$")
NEGATIONS = frozenset(("not", "no", "never", "nobody", "nothing", "none", "without"))
PARTS = ("NOUN", "ADJ", "ADV")
COMMON = frozenset(("scared", "angry", "happy", "sad", "hurt", "confuse", "catch", "escape", "trick"))
INTENT = frozenset(
    ("want", "try", "make", "go", "come", "start", "begin", "feel", "become", "think", "know", "inflict")
)


def content_words(text: str) -> frozenset[str]:
    """Return the lemmas of the content words in a text ("not" for "n't"). In other languages, return all words."""
    return frozenset(content_lemmas(text))


def content_lemmas(text: str) -> tuple[str, ...]:
    """Return the content words of a text as lemmas, in order and with repetitions."""
    return tuple(lemma for word in WORD.findall(text.casefold()) for lemma in _lemmas(word))


def says_no_more(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether the content words of one text are a subset of those of the other.

    The result is False if a text has no content words, or if only one of them is negated and so states the opposite.
    """
    return bool(first and second) and (first <= second or second <= first) and not (first ^ second) & NEGATIONS


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


def read_table(name: str) -> dict[str, Any]:
    """Load `<name>.yaml` of this folder, which callers must not modify."""
    content: dict[str, Any] = package_table(Path(__file__).with_name(f"{name}.yaml"))
    return content


@cache
def function_words() -> frozenset[str]:
    """Return the function words of English."""
    return frozenset(read_table("function_words")["words"].split())


@cache
def effects() -> dict[str, frozenset[str]]:
    """Return the synonym groups of each word. A group is named after its first word."""
    groups: dict[str, set[str]] = {}
    for line in read_table("same_effect")["groups"]:
        words = str(line).split()
        for word in words:
            groups.setdefault(word, set()).add(words[0])
    return {word: frozenset(sets) for word, sets in groups.items()}


@lru_cache(maxsize=1 << 16)
def meaning(text: str) -> frozenset[str]:
    """Return the content words of a text, without words of intent and with synonyms merged."""
    known = effects()
    words = content_words(text) - INTENT
    return frozenset(synonym for word in words for synonym in known.get(word, (word,)))


def may_be_right(candidate: str, question: str, right: tuple[str, ...]) -> bool:
    """Return whether a candidate may be correct too, judging by its words.

    `right` contains the text of the same target first, then others such as the explanation.
    """
    words = meaning(candidate)
    of_question, rights, right_is_common = _known(question, right)
    more = words - of_question
    if not more:
        return True  # only repeats the question
    if not right_is_common and _is_common(words, of_question):
        return True  # "Tom was shocked" is compatible with any reason to scream
    known = frozenset[str]().union(*rights)
    if more <= known and not (words ^ known) & NEGATIONS:
        return True
    return any(says_no_more(words, of_right) for of_right in rights)


@lru_cache(maxsize=16)  # candidates are tested question by question
def _known(question: str, right: tuple[str, ...]) -> tuple[frozenset[str], list[frozenset[str]], bool]:
    """Return the words of the question and of each correct text, and whether the first text is common."""
    of_question, rights = meaning(question), [meaning(text) for text in right]
    return of_question, rights, _is_common(rights[0], of_question)


def _is_common(words: frozenset[str], of_question: frozenset[str]) -> bool:
    """Return whether a text states nothing but a feeling or a common aim."""
    return bool(words & COMMON) and len(words - COMMON - of_question) <= (
        not words & of_question
    )  # otherwise it names a person
