"""Divide the units of a plan among several processes, for `--shard I/N`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .results import Result

if TYPE_CHECKING:
    from .plan import Unit


@dataclass(frozen=True)
class WorkShare:
    """One of `count` equal parts of the work, numbered from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units of a plan that belong to this share.

        Units are dealt out in order of decreasing cost, alternately forward and backward, so that all shares have
        about the same amount of work.
        """
        ordered = sorted(units, key=lambda unit: (-unit.cost, unit.id))
        turn = 2 * self.count
        mine = {self.number - 1, turn - self.number}
        return [unit for place, unit in enumerate(ordered) if place % turn in mine]


@dataclass(frozen=True)
class Unfinished(Result):
    """A build in shares, of which one is finished and others are not. `print` shows what remains.

    Attributes:
        path: The output folder.
        share: The finished share, such as "1/4".
        remaining: Number of units that are not rendered yet.
        total: Number of units that the build renders.
        noun: Noun for a unit, such as "pair".
        running: The shares that other processes are rendering.
    """

    path: Path
    share: str
    remaining: int
    total: int
    noun: str
    running: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = f"share {self.share} is finished; {self.remaining:,} of {self.total:,} {self.noun}s remain"
        if self.running:
            names = ", ".join(self.running[:5]) + ", …" * (len(self.running) > 5)
            return (
                f"{done}, and {len(self.running)} more are running ({names}). The last one to finish writes the tables."
            )
        return (
            f"{done}, in shares that have not started or not finished. Run them; the last one to finish writes the "
            "tables."
        )


def read_share(text: str) -> WorkShare:
    """Parse a share such as "3/50", or raise ValueError with a message that can follow the text."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(text).strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError("is not in the form I/N, such as 3/50 for the third of 50 parts, with I from 1 to N")
    return WorkShare(int(found[1]), int(found[2]))
