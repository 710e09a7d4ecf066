"""Load the word lists that the language rules use from the YAML files in this folder."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError

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
