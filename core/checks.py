"""Types of the checks of a finished output, and of their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """A property that a check could not verify.

    Attributes:
        reason: One line that names the property and the input required to verify it.
        name: Name for `--allow-unverified`; empty if the check was not requested. Unless the option lists the name, the
            output counts as unverified.
    """

    reason: str
    name: str = ""


@dataclass(frozen=True)
class Note:
    """Information about an output that is not a fault."""

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
    """Columns whose values depend on floating-point rounding, and so may differ on another `core.version.ENGINE`.

    Attributes:
        columns: Names of these columns, by table.
        check: Check of the rules that all valid values satisfy.
    """

    columns: Mapping[str, Collection[str]]
    check: Check
