"""What a check of a finished output is, and what it may find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """What a check could not look at, which is no problem of the output.

    Attributes:
        reason: What is left open and what to give so that it can be checked, in one line.
        name: What `--allow-unverified` calls it, if nobody asked for it to be left open; the output is then not
            verified. Empty for what was not asked for.
    """

    reason: str
    name: str = ""


@dataclass(frozen=True)
class Note:
    """What users of an output should know although nothing is wrong with it.

    Attributes:
        text: One line.
    """

    text: str


@dataclass(frozen=True)
class Compared:
    """What a check looked at, and how much of it.

    Attributes:
        text: A few words, such as "1,204 rows of 3 tables".
    """

    text: str


Finding = str | NotChecked | Note | Compared
Check = Callable[[FinishedOutput], Iterable[Finding]]
"""Yields one line for each problem, a `NotChecked` for what it had to leave open, a `Note`, and what it compared."""


@dataclass(frozen=True)
class Chosen:
    """What floating point decides: another engine (`core.version.ENGINE`) rounds and may choose otherwise.

    Attributes:
        columns: What was chosen, by table.
        check: Yields what the choices of another engine break: rules that hold whatever was chosen.
    """

    columns: Mapping[str, Collection[str]]
    check: Check
