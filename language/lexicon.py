"""Words by what they do in captions, from `lexicon.yaml`."""

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
    """Return one list of the lexicon."""
    return frozenset(word for word in str(read_lexicon()[name]).split())


def lexicon_hashes(*names: str) -> dict[str, str]:
    """Return the SHA-256 of files of word lists of this folder, by file name; of every file, if none is named."""
    paths = [FOLDER / f"{name}.yaml" for name in names] or sorted(FOLDER.glob("*.yaml"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


class WordLists:
    """The lists of a file by their names there: `word_lists("clipped").people`."""

    def __init__(self, name: str):
        """Split every list that is written as running words."""
        self._file = f"language/{name}.yaml"
        self.__dict__.update(
            {key: frozenset(row.split()) for key, row in read_lexicon(name).items() if isinstance(row, str)}
        )

    def __getattr__(self, name: str) -> frozenset[str]:
        """Refuse a list that the file does not have."""
        raise AttributeError(f"{self._file} has no list {name!r}")


@cache
def word_lists(name: str) -> WordLists:
    """Return the lists of words of one YAML file of this folder."""
    return WordLists(name)


@cache
def phrasal_verbs() -> frozenset[tuple[str, str]]:
    """Return verbs with their particles: ("pick", "up")."""
    return frozenset((verb, particle) for verb, _, particle in (pair.partition("_") for pair in words("phrasal")))


@cache
def verb_forms() -> dict[str, dict[str, str]]:
    """Return the forms of verbs that the dictionary lacks or inflects oddly, by base form and tag."""
    rows = [row.split("/") for row in sorted(words("verb_forms"))]  # sets have no order
    return {row[0]: dict(zip(("VB", "VBZ", "VBD", "VBN", "VBG"), row, strict=True)) for row in rows}


@cache
def read_lexicon(name: str = "lexicon") -> dict[str, Any]:
    """Read one YAML file of word lists of this folder.

    Raises:
        InputError: It is not YAML, or no mapping with a version.
    """
    try:
        content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"language/{name}.yaml is not YAML; it is damaged ({error})") from error
    if not isinstance(content, dict) or "version" not in content:
        raise InputError(f"language/{name}.yaml must be a mapping with a version; it is damaged")
    return content
