"""Compute statistics that cards show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt


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
    plain = {name: name.replace("_left_out_", " left out: ").replace("_", " ") for name in order}
    return {words.get(name, plain[name]): counts[name] for name in order if counts[name]}
