"""Checks of a finished output, and the types of their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """A property that a check could not verify.

    Attributes:
        reason: One line that names the property and the input that would allow its verification.
        name: Name for `--allow-unverified`; the output counts as unverified unless the option lists it. Empty if the
            check was not requested.
    """

    reason: str
    name: str = ""


@dataclass(frozen=True)
class Note:
    """One line of information about an output that is not a fault."""

    text: str


@dataclass(frozen=True)
class Compared:
    """The extent of a check, such as "1,204 rows of 3 tables"."""

    text: str


Finding = str | NotChecked | Note | Compared
Check = Callable[[FinishedOutput], Iterable[Finding]]
"""Yields a line per problem, and `NotChecked`, `Note` and `Compared` objects."""


@dataclass(frozen=True)
class Chosen:
    """Choices that depend on floating-point rounding, and so may differ on another engine (`core.version.ENGINE`).

    Attributes:
        columns: Columns that contain such choices, by table.
        check: Check of the rules that any valid choice must satisfy.
    """

    columns: Mapping[str, Collection[str]]
    check: Check
