"""Words by what they do in captions, from `lexicon.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml


@cache
def words(name: str) -> frozenset[str]:
    """Give one list of the lexicon."""
    return frozenset(word for word in str(_content()[name]).split())


@cache
def phrasal_verbs() -> frozenset[tuple[str, str]]:
    """Give verbs with their particles: ("pick", "up")."""
    return frozenset((verb, particle) for verb, _, particle in (pair.partition("_") for pair in words("phrasal")))


@cache
def verb_forms() -> dict[str, dict[str, str]]:
    """Give the forms of verbs that the dictionary lacks or inflects oddly, by base form and tag."""
    rows = [row.split("/") for row in sorted(words("verb_forms"))]  # sets have no order
    return {row[0]: dict(zip(("VB", "VBZ", "VBD", "VBN", "VBG"), row, strict=True)) for row in rows}


@cache
def _content() -> dict[str, object]:
    content: dict[str, object] = yaml.safe_load((Path(__file__).parent / "lexicon.yaml").read_text(encoding="utf-8"))
    return content
