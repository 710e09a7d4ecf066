"""Checks of a finished output, and the kinds of their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """Something that a check could not verify.

    Attributes:
        reason: What is not verified and which input would allow it, in one line.
        name: Its name for `--allow-unverified`; the output then counts as not verified unless that is given. Empty if
            the check was not requested.
    """

    reason: str
    name: str = ""


@dataclass(frozen=True)
class Note:
    """One line about an output that its users should know about, although nothing is wrong."""

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
    """Choices that depend on floating-point rounding, so that another engine (`core.version.ENGINE`) may differ.

    Attributes:
        columns: Columns with such choices, by table.
        check: Checks the rules that hold for any valid choice.
    """

    columns: Mapping[str, Collection[str]]
    check: Check
