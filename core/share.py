"""The share of a plan's units that one of several processes renders: `--shard I/N`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Unit


@dataclass(frozen=True)
class Share:
    """One of several equal parts of the work.

    Attributes:
        number: Which, from 1.
        count: How many there are.
    """

    number: int
    count: int

    def __str__(self) -> str:
        """Write it as the command line has it."""
        return f"{self.number}/{self.count}"

    def of(self, units: Sequence[Unit]) -> list[Unit]:
        """Choose this share's units.

        The longest units are dealt first, as cards are, to and fro: every unit to one share, the same wherever it is
        worked out, and all shares about as much work.

        Args:
            units: All units of the plan.
        """
        ordered = sorted(units, key=lambda unit: (-unit.cost, unit.id))
        turn = 2 * self.count
        mine = {self.number - 1, turn - self.number}
        return [unit for place, unit in enumerate(ordered) if place % turn in mine]


def read_share(text: str) -> Share:
    """Read "3/50".

    Raises:
        ValueError: It is none; the words follow what was given.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(text).strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError("is no share such as 3/50, which is the third of fifty; they count from 1")
    return Share(int(found[1]), int(found[2]))
