"""Compute statistics that cards show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from ..core.left_out import in_words


@dataclass(frozen=True)
class Distribution:
    """The mean, population standard deviation, minimum and maximum of numbers."""

    count: int
    mean: float
    sd: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Distribution:
        """Compute the statistics of a non-empty sequence."""
        mean = fsum(values) / len(values)
        variance = fsum((value - mean) ** 2 for value in values) / len(values)
        return cls(len(values), mean, sqrt(variance), min(values), max(values))


def named(counts: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    """Return the nonzero counts under their descriptions in `words` and in that order, followed by all others."""
    order = sorted(counts, key=lambda name: (list(words).index(name) if name in words else len(words), name))
    return {words.get(name, in_words(name)): counts[name] for name in order if counts[name]}
