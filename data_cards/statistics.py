"""Compute statistics shared by cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt


@dataclass(frozen=True)
class Distribution:
    """Distribution of numbers: mean, population standard deviation, minimum and maximum."""

    count: int
    mean: float
    sd: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Distribution:
        """Measure a non-empty sequence of numbers."""
        mean = fsum(values) / len(values)
        variance = fsum((value - mean) ** 2 for value in values) / len(values)
        return cls(len(values), mean, sqrt(variance), min(values), max(values))


def named(counts: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    """Return the non-zero counts by description, in the order of `words`, then those without a description."""
    order = sorted(counts, key=lambda name: (list(words).index(name) if name in words else len(words), name))
    plain = {name: name.replace("_left_out_", " left out: ").replace("_", " ") for name in order}
    return {words.get(name, plain[name]): counts[name] for name in order if counts[name]}
