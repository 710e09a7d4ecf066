"""Define what a check of a finished output can report: problems, notes, and what it could not verify or did not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """A property that a check could not verify.

    Attributes:
        reason: One line that names the property and the input required to verify it.
        name: Name for `--allow-unverified`. Unless the option lists the name, the output counts as unverified.
    """

    reason: str
    name: str


@dataclass(frozen=True)
class NotRun:
    """A check, or a part of one, that requires an optional package or was excluded by an option."""

    reason: str


@dataclass(frozen=True)
class Note:
    """Information about an output that is not a fault."""

    text: str


@dataclass(frozen=True)
class Compared:
    """How much data a check covered, such as "1,204 rows of 3 tables"."""

    text: str


DAMAGED = "not checked: see the damaged or missing files above"
"""Problem of a check that needs files which another check has reported as damaged or missing."""
Finding = str | NotChecked | NotRun | Note | Compared
Check = Callable[["FinishedOutput"], Iterable[Finding]]
"""A check yields one string per problem, and may also yield the objects above."""
