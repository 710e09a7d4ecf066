"""Forms of English words: lemmas and inflections of lemminflect, with what it gets wrong mended."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

Tag = Literal["VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "NN", "NNS", "JJ", "JJR", "JJS", "RB"]

BE = {"VB": "be", "VBZ": "is", "VBP": "are", "VBD": "was", "VBN": "been", "VBG": "being"}


@lru_cache(maxsize=1 << 14)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """Give the lemmas that a word can have as "NOUN", "VERB", "ADJ", "ADV" and "AUX", from lemminflect's dictionary."""
    import lemminflect

    found: dict[str, tuple[str, ...]] = lemminflect.getAllLemmas(word.lower())
    return found


@lru_cache(maxsize=1 << 14)
def verb_lemma(word: str) -> str:
    """Give the base form of a verb form; the word itself if it is unknown."""
    lower = word.lower()
    if lower in BE.values() or lower in ("were", "am"):
        return "be"
    import lemminflect

    found: tuple[str, ...] = lemminflect.getLemma(lower, "VERB")
    return found[0] if found else lower


@lru_cache(maxsize=1 << 14)
def inflect(lemma: str, tag: Tag) -> str:
    """Give a form of a lemma; particles stay ("pick up", "VBG" gives "picking up")."""
    import lemminflect

    head, _, rest = lemma.partition(" ")
    if head == "be" and tag in BE:
        form = BE[tag]
    elif tag == "VBP":
        form = head
    else:
        found: tuple[str, ...] = lemminflect.getInflection(head, tag)
        form = found[0] if found else head
    return f"{form} {rest}" if rest else form


@lru_cache(maxsize=1 << 14)
def is_verb_form(word: str, tag: Tag) -> bool:
    """Tell whether a word can be this form of a verb in the dictionary."""
    return any(inflect(lemma, tag) == word.lower() for lemma in readings(word).get("VERB", ()))


def can_be_verb(word: str) -> bool:
    """Tell whether the dictionary has a word as a verb form."""
    return "VERB" in readings(word)


def is_only_verb(word: str) -> bool:
    """Tell whether the dictionary has a word as the base of a verb and as nothing else but an auxiliary."""
    return is_verb_form(word, "VB") and set(readings(word)) <= {"VERB", "AUX"}
