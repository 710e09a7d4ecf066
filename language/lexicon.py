"""Look up English words: word lists from the YAML files in this folder, closed classes, lemmas and inflected forms.

Lemmas and forms are those of lemminflect, with corrections.
"""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from ..core.errors import InputError
from ..core.extras import import_extra

FOLDER = Path(__file__).parent


@cache
def words(name: str) -> frozenset[str]:
    """Return one of the lists in `lexicon.yaml`."""
    return frozenset(word for word in str(read_lexicon()[name]).split())


def lexicon_hashes(*names: str) -> dict[str, str]:
    """Return the SHA-256 of word-list files by file name. If no names are given, all files are included."""
    paths = [FOLDER / f"{name}.yaml" for name in names] or sorted(FOLDER.glob("*.yaml"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


class WordLists:
    """Gives access to the lists in a file as attributes, such as `word_lists("people").people`."""

    def __init__(self, name: str):
        self._file = f"language/{name}.yaml"
        self.__dict__.update(
            {key: frozenset(row.split()) for key, row in read_lexicon(name).items() if isinstance(row, str)}
        )

    def __getattr__(self, name: str) -> frozenset[str]:
        raise AttributeError(f"{self._file} has no list {name!r}")


@cache
def word_lists(name: str) -> WordLists:
    """Return the word lists of a YAML file."""
    return WordLists(name)


@cache
def phrasal_verbs() -> frozenset[tuple[str, str]]:
    """Return phrasal verbs as pairs such as ("pick", "up")."""
    return frozenset((verb, particle) for verb, _, particle in (pair.partition("_") for pair in words("phrasal")))


@cache
def verb_forms() -> dict[str, dict[str, str]]:
    """Return the forms of verbs that the dictionary lacks or gets wrong, by base form and tag."""
    rows = [row.split("/") for row in sorted(words("verb_forms"))]  # a set has no order
    return {row[0]: dict(zip(("VB", "VBZ", "VBD", "VBN", "VBG"), row, strict=True)) for row in rows}


@cache
def read_lexicon(name: str = "lexicon") -> dict[str, Any]:
    """Read a YAML file of word lists.

    Raises:
        InputError: It is not YAML, or not a mapping with a version.
    """
    try:
        content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"language/{name}.yaml is damaged: it is not YAML ({error})") from error
    if not isinstance(content, dict) or "version" not in content:
        raise InputError(f"language/{name}.yaml is damaged: expected a mapping with a version")
    return content


AUXILIARIES = {
    **dict.fromkeys(("is", "'s", "has", "does"), "VBZ"),
    **dict.fromkeys(("are", "am", "have", "do", "'re", "'ve", "'m"), "VBP"),
    **dict.fromkeys(("was", "were", "had", "did"), "VBD"),
    **dict.fromkeys(
        ("will", "would", "can", "could", "shall", "should", "may", "might", "must", "ca", "wo", "'ll", "cannot"), "MD"
    ),
}
CLOSED = {
    **dict.fromkeys(("a", "an", "the", "this", "these", "those", "each", "every", "another", "some"), "DT"),
    **dict.fromkeys(("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"), "PRP"),
    **dict.fromkeys(("himself", "herself", "itself", "themselves", "themself", "yourself", "myself"), "PRP"),
    **dict.fromkeys(("my", "your", "his", "its", "our", "their"), "PRP$"),
    **dict.fromkeys(("and", "or", "but", "nor"), "CC"),
    **dict.fromkeys(
        ("of", "into", "onto", "with", "from", "at", "towards", "toward", "while", "during", "among"), "IN"
    ),
    **dict.fromkeys(("until", "till", "because", "if", "although", "unless", "whether"), "IN"),
    **dict.fromkeys(("when", "where", "why"), "WRB"),
    **dict.fromkeys(("who", "whom"), "WP"),
    "which": "WDT",
    **dict.fromkeys(("not", "n't"), "RB"),
    "be": "VB",
    "been": "VBN",
    "being": "VBG",
    "to": "TO",
    "ted": "NNP",
    **dict.fromkeys(("ping", "pong"), "NN"),
}
BE = frozenset({"be", "is", "are", "am", "was", "were", "been", "being", "'s", "'re", "'m"})
HAVE = frozenset({"have", "has", "had", "having", "'ve", "'s", "'d"})
DO = frozenset({"do", "does", "did"})
NEGATIONS = frozenset({"not", "n't", "never"})
SUBORDINATORS = words("joining")
FINITE = ("VBZ", "VBP", "VBD", "MD")
PLURAL_SUBJECTS = frozenset(("they", "we", "you", "i", "people", "men", "women", "children", "some", "many", "others"))


Tag = Literal["VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "NN", "NNS", "JJ", "JJR", "JJS", "RB"]

_COMMON = frozenset(("find", "see", "leave", "feel", "grind", "lie", "shoot", "fall", "wind", "bind", "bear", "tear"))
_FORMS_OF_BE = {"VB": "be", "VBZ": "is", "VBP": "are", "VBD": "was", "VBN": "been", "VBG": "being"}


@lru_cache(maxsize=1 << 14)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """Return the lemmas of a word, by part of speech ("NOUN", "VERB", "ADJ", "ADV", "AUX")."""
    lemminflect = import_extra("lemminflect")
    lower = word.lower()
    lemmas: dict[str, tuple[str, ...]] = dict(lemminflect.getAllLemmas(lower))
    for lemma, forms in verb_forms().items():
        if lower in forms.values() and lemma not in lemmas.get("VERB", ()):
            lemmas["VERB"] = (*lemmas.get("VERB", ()), lemma)
    return lemmas


@lru_cache(maxsize=1 << 14)
def verb_lemma(word: str) -> str:
    """Return the base form of a verb, or the word itself if it is unknown."""
    lower = word.lower()
    if lower in _FORMS_OF_BE.values() or lower in ("were", "am"):
        return "be"
    lemminflect = import_extra("lemminflect")
    if lower == "lay":  # "lay the sheet on the plate"; the past of "lie" is rare in captions
        return "lay"
    for lemma, forms in verb_forms().items():
        if lower in forms.values():
            return lemma
    known = readings(lower).get("VERB", ())
    lemmas: tuple[str, ...] = known or lemminflect.getLemma(lower, "VERB")
    return min(lemmas, key=lambda lemma: _rank(lemma, lower)) if lemmas else lower


def _rank(lemma: str, form: str) -> int:
    """Rank the more common verb first, so that "found" is a form of "find" and "saw" a form of "see"."""
    return 0 if lemma in _COMMON else 1 if lemma != form else 2


@lru_cache(maxsize=1 << 14)
def inflect(lemma: str, tag: Tag) -> str:
    """Return a form of a lemma. Particles are kept: the "VBG" of "pick up" is "picking up"."""
    lemminflect = import_extra("lemminflect")
    head, _, rest = lemma.partition(" ")
    if head == "be" and tag in _FORMS_OF_BE:
        form = _FORMS_OF_BE[tag]
    elif tag == "VBP":
        form = head
    elif tag in verb_forms().get(head, {}):
        form = verb_forms()[head][tag]
    else:
        forms: tuple[str, ...] = lemminflect.getInflection(head, tag)
        form = forms[0] if forms else head
    return f"{form} {rest}" if rest else form


@lru_cache(maxsize=1 << 14)
def _forms(lemma: str, tag: Tag) -> tuple[str, ...]:
    lemminflect = import_extra("lemminflect")
    forms: tuple[str, ...] = lemminflect.getInflection(lemma, tag)
    # The regular form is listed beside the irregular one where both are used; "lied" is never a form of "lie (down)".
    return (*forms, inflect(lemma, tag))


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
    lemmas = readings(word).get("NOUN", ())
    return next((lemma for lemma in lemmas if lemma != word.lower()), word.lower())


def lemma(word: str, tag: str) -> str:
    """Return the base form of a word in lower case for its Penn tag, or the word itself if it has none."""
    if tag in ("NNS", "NNPS"):
        return noun_lemma(word)
    return verb_lemma(word) if tag.startswith("VB") else word
