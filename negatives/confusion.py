"""Represent causal confusion, which makes a correct answer incorrect by negation or by swapping agent and patient.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Unlike the released
options, an option keeps the capitals, apostrophes, final stop and "because" of the correct answer, so that none of
these reveal it. No option merely reorders "Tom and Jerry", which would be a second correct answer.

The word lists and the casts that it depends on are loaded here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from ..core.errors import InputError
from ..core.files import regular
from ..language.cast import Cast
from ..language.lexicon import word_lists

ConfusionKind = Literal["negation", "swap"]
KINDS: tuple[ConfusionKind, ...] = ("negation", "swap")


@dataclass(frozen=True)
class Confusion:
    """A distractor made by confusing the correct option.

    Attributes:
        kind: "negation" or "swap".
        ambiguous: Reason why it may be understood as correct or in another way; "" if it is unambiguous.
    """

    text: str
    kind: ConfusionKind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """The reason why a text cannot be confused in a given way.

    Attributes:
        kind: "negation" or "swap".
    """

    kind: ConfusionKind
    reason: str


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
    for line_number, line in enumerate(lines, 1):
        name, _, gender = (part.strip() for part in line.split("#")[0].partition(","))
        if not name:
            continue
        if gender not in ("", "female", "male"):
            raise InputError(
                f"{path.name}, line {line_number}: gender must be female, male or omitted; got {gender!r}."
            )
        names.append(name)
        if gender:
            genders[name.lower()] = gender
    return Cast(tuple(names), genders)


def join_casts(first: Cast, second: Cast) -> Cast:
    """Merge two casts. If they disagree about a gender, the second takes precedence."""
    return Cast((*first.names, *second.names), {**first.genders, **second.genders})
