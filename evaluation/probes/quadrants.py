"""Define the names of modalities, quadrants, short-circuits and operators.

See Rawal et al. 2024, §2.2 and §2.3. A quadrant is a pair (label of the queries, label of the keys). For example, "VT"
contains the weights of video queries on text keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...core.errors import UsageError

NEITHER, VIDEO, TEXT = 0, 1, 2
"""Labels of tokens. The paper has two modalities, and higher integers stand for others."""

Quadrant = tuple[int, int]
Quadrants = frozenset[Quadrant]

LETTERS: Mapping[str, int] = {"V": VIDEO, "T": TEXT}
SHORT_CIRCUITS: Mapping[str, tuple[str, ...]] = {
    "unimodal": ("VV", "TT"),
    "crossmodal": ("VT", "TV"),
    "video": ("VV", "TV"),
    "text": ("TT", "VT"),
    "all": ("VV", "VT", "TV", "TT"),
}
"""The paper's four short-circuits, and all quadrants at once."""
OPERATORS = ("average", "knockout", "merge")


def quadrants_of(what: str | Iterable[str | Quadrant]) -> Quadrants:
    """Parse the name of a short-circuit, or one or more quadrants.

    Args:
        what: A name in `SHORT_CIRCUITS`, a quadrant such as "VT", or several quadrants, each given by letters or as a
            pair of labels (query, key). Pairs can include further modalities, which have no letters.

    Raises:
        UsageError: A name or quadrant is unknown, a label is below 1, or no quadrant is given.
    """
    if isinstance(what, str):
        found = frozenset(map(_pair, SHORT_CIRCUITS.get(what, (what,))))
    else:
        found = frozenset(map(_pair, what))
    if not found:
        raise UsageError("no quadrants were given. Allowed: " + _allowed())
    return found


def quadrant_name(quadrant: Quadrant) -> str:
    """Return the name of a quadrant, such as "VT", or "3-2" if a label has no letter."""
    letters = {label: letter for letter, label in LETTERS.items()}
    if all(label in letters for label in quadrant):
        return "".join(letters[label] for label in quadrant)
    return "-".join(map(str, quadrant))


def checked_operator(operator: str) -> str:
    """Return the operator unchanged, or raise UsageError if it is unknown."""
    if operator not in OPERATORS:
        raise UsageError(f"unknown operator {operator!r}. Allowed: {', '.join(OPERATORS)}.")
    return operator


def _pair(given: str | Quadrant) -> Quadrant:
    if isinstance(given, str):
        if len(given) == 2 and set(given) <= set(LETTERS):
            return LETTERS[given[0]], LETTERS[given[1]]
    elif len(given) == 2 and all(int(label) == label and label > NEITHER for label in given):
        return int(given[0]), int(given[1])
    raise UsageError(f"unknown quadrant {given!r}. Allowed: {_allowed()}")


def _allowed() -> str:
    names = ", ".join((*SHORT_CIRCUITS, *SHORT_CIRCUITS["all"]))
    return f"{names}; or pairs of labels (query, key) of 1 or more."
