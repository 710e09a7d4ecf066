"""Look up lemmas and inflected forms of English words with lemminflect, with corrections."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ..core.extras import import_extra
from .lexicon import verb_forms

Tag = Literal["VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "NN", "NNS", "JJ", "JJR", "JJS", "RB"]

_COMMON = frozenset(("find", "see", "leave", "feel", "grind", "lie", "shoot", "fall", "wind", "bind", "bear", "tear"))
BE = {"VB": "be", "VBZ": "is", "VBP": "are", "VBD": "was", "VBN": "been", "VBG": "being"}


@lru_cache(maxsize=1 << 14)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """Return the lemmas of a word, by part of speech ("NOUN", "VERB", "ADJ", "ADV", "AUX")."""
    lemminflect = import_extra("lemminflect")
    lower = word.lower()
    found: dict[str, tuple[str, ...]] = dict(lemminflect.getAllLemmas(lower))
    for lemma, forms in verb_forms().items():
        if lower in forms.values() and lemma not in found.get("VERB", ()):
            found["VERB"] = (*found.get("VERB", ()), lemma)
    return found


@lru_cache(maxsize=1 << 14)
def verb_lemma(word: str) -> str:
    """Return the base form of a verb, or the word itself if it is unknown."""
    lower = word.lower()
    if lower in BE.values() or lower in ("were", "am"):
        return "be"
    lemminflect = import_extra("lemminflect")
    if lower == "lay":  # "lay the sheet on the plate"; the past of "lie" is rare in captions
        return "lay"
    for lemma, forms in verb_forms().items():
        if lower in forms.values():
            return lemma
    known = readings(lower).get("VERB", ())
    found: tuple[str, ...] = known or lemminflect.getLemma(lower, "VERB")
    return min(found, key=lambda lemma: _rank(lemma, lower)) if found else lower


def _rank(lemma: str, form: str) -> int:
    """Rank the more common verb first, so that "found" is a form of "find" and "saw" a form of "see"."""
    return 0 if lemma in _COMMON else 1 if lemma != form else 2


@lru_cache(maxsize=1 << 14)
def inflect(lemma: str, tag: Tag) -> str:
    """Return a form of a lemma. Particles are kept: the "VBG" of "pick up" is "picking up"."""
    lemminflect = import_extra("lemminflect")
    head, _, rest = lemma.partition(" ")
    if head == "be" and tag in BE:
        form = BE[tag]
    elif tag == "VBP":
        form = head
    elif tag in verb_forms().get(head, {}):
        form = verb_forms()[head][tag]
    else:
        found: tuple[str, ...] = lemminflect.getInflection(head, tag)
        form = found[0] if found else head
    return f"{form} {rest}" if rest else form


@lru_cache(maxsize=1 << 14)
def _forms(lemma: str, tag: Tag) -> tuple[str, ...]:
    lemminflect = import_extra("lemminflect")
    found: tuple[str, ...] = lemminflect.getInflection(lemma, tag)
    # The regular form is listed beside the irregular one where both are used; "lied" is never a form of "lie (down)".
    return (*found, inflect(lemma, tag))


@lru_cache(maxsize=1 << 14)
def is_verb_form(word: str, tag: Tag) -> bool:
    """Return whether a word can be the form of a verb that the tag stands for."""
    lower = word.lower()
    return any(lower in _forms(lemma, tag) for lemma in readings(lower).get("VERB", ()))


def can_be_verb(word: str) -> bool:
    """Return whether a word can be any form of a verb."""
    return "VERB" in readings(word)


def is_noun(word: str) -> bool:
    """Return whether a word can be a noun."""
    return "NOUN" in readings(word)


@lru_cache(maxsize=1 << 14)
def is_plural_noun(word: str) -> bool:
    """Return whether a word is a plural noun that differs from its singular."""
    lower = word.lower()
    return any(lower != lemma and inflect(lemma, "NNS") == lower for lemma in readings(lower).get("NOUN", ()))


@lru_cache(maxsize=1 << 14)
def noun_lemma(word: str) -> str:
    """Return the singular of a noun, or the word itself if it is unknown."""
    found = readings(word).get("NOUN", ())
    return next((lemma for lemma in found if lemma != word.lower()), word.lower())


def lemma(word: str, tag: str) -> str:
    """Return the base form of a word in lower case for its Penn tag, or the word itself if it has none."""
    if tag in ("NNS", "NNPS"):
        return noun_lemma(word)
    return verb_lemma(word) if tag.startswith("VB") else word
