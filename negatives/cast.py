"""Load the word lists for causal confusion, and cast files written by users."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError
from ..core.files import regular
from ..language.cast import Cast
from ..language.lexicon import word_lists


@cache
def confusion_table() -> dict[str, Any]:
    """Load the word lists for causal confusion, including those for stories, as sets."""
    path = Path(__file__).parent / "tables" / "confusion.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    own = {
        name: frozenset(value.split()) if isinstance(value, str) and name != "source" else value
        for name, value in content.items()
    }
    stories = word_lists("stories")
    return {"animate": stories.animate, "female": stories.female, "male": stories.male, **own}


def read_cast(path: Path) -> Cast:
    """Read a cast file: one name per line, optionally followed by a comma and "female" or "male". "#" starts a comment.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    try:
        lines = regular(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the cast file {path} cannot be read ({error}). It must contain one name per line."
        ) from error
    names, genders = [], {}
    for number, line in enumerate(lines, 1):
        name, _, gender = (part.strip() for part in line.split("#")[0].partition(","))
        if not name:
            continue
        if gender not in ("", "female", "male"):
            raise InputError(f"{path.name}, line {number}: gender must be female, male or omitted; got {gender!r}.")
        names.append(name)
        if gender:
            genders[name.lower()] = gender
    return Cast(tuple(names), genders)


def join_casts(one: Cast, other: Cast) -> Cast:
    """Merge two casts. If they disagree about a gender, the second takes precedence."""
    return Cast((*one.names, *other.names), {**one.genders, **other.genders})
