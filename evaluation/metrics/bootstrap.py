"""Compute confidence intervals of scores by a paired cluster bootstrap over source videos.

Answers about the same source video are correlated, so videos are resampled rather than questions. Every score is a
function of means, and a mean over a resample is a ratio of sums, so all resamples are computed as one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.numerics import rng_for
from ...core.results import Estimate

Floats = NDArray[np.float64]


class Means(dict[str, Floats]):
    """The mean of every cell in each resample, which is NaN for empty cells.

    Attributes:
        expanded: Means to first order in the weights (Taylor linearization): m + (Σ w s − m Σ w n) / Σ n, where m is
            the mean of the sample. They are for scores that average over cells, some of which have few videos. With
            plain means, a cell that drops out of a resample changes the definition of the score. Since rare classes
            that a model answers incorrectly drop out most often, all resamples may lie above the sample. With expanded
            means, every cell remains in every resample, and the interval contains the score of the sample. A cell with
            a single video does not vary.
    """

    def __init__(self, means: Mapping[str, Floats], expanded: Mapping[str, Floats]) -> None:
        super().__init__(means)
        self.expanded = expanded


Measure = Callable[[Means], dict[str, Floats]]
"""Function that computes scores from the means of cells, for the sample (index 0) and all resamples at once."""

RESAMPLES = 1000
LEVEL = 0.95
MOST_UNDEFINED = 0.05
FEWEST = 6
"""Minimum number of source videos for an interval. With five, all agree on a sign by chance in 6% of cases."""
FEW = 20
"""Number of source videos below which reports warn that intervals are too narrow."""


@dataclass(frozen=True)
class Tally:
    """Sums by source video and cell, from which all scores are computed.

    Attributes:
        cells: Names of the cells, such as "BA" or "jpeg-3 R@5".
        sums: Sums of the values, shape (sources, cells). `counts` has the same shape.
    """

    sources: tuple[str, ...]
    cells: tuple[str, ...]
    sums: Floats
    counts: Floats

    def means(self, weights: Floats) -> Means:
        """Return the mean of every cell for each row of weights from `resample`."""
        with np.errstate(invalid="ignore", divide="ignore"):
            sums, counts, total = weights @ self.sums, weights @ self.counts, self.counts.sum(axis=0)
            whole = self.sums.sum(axis=0) / total
            means, expanded = sums / counts, whole + (sums - whole * counts) / total
        return Means(*({cell: of[:, column] for column, cell in enumerate(self.cells)} for of in (means, expanded)))

    def whole(self) -> dict[str, float]:
        """Return the mean of every cell over all source videos."""
        return {cell: float(of[0]) for cell, of in self.means(np.ones((1, len(self.sources)))).items()}

    def answered(self) -> Tally:
        """Return the tally without source videos that have no answers, which should not be resampled."""
        there: NDArray[np.bool_] = np.any(self.counts > 0, axis=1)
        names = tuple(name for name, kept in zip(self.sources, there, strict=True) if kept)
        return Tally(names, self.cells, self.sums[there], self.counts[there])

    def totals(self) -> dict[str, int]:
        """Return the number of values in each cell."""
        return {cell: round(total) for cell, total in zip(self.cells, self.counts.sum(axis=0), strict=True)}


def tally(sources: Sequence[str], cells: Mapping[str, tuple[NDArray[np.intp], Floats]]) -> Tally:
    """Sum values by source video. `cells` holds the index in `sources` and the value of every item, by cell."""
    sums = np.zeros((len(sources), len(cells)))
    counts = np.zeros_like(sums)
    for column, (where, values) in enumerate(cells.values()):
        sums[:, column] = np.bincount(where, weights=values, minlength=len(sources))
        counts[:, column] = np.bincount(where, minlength=len(sources))
    return Tally(tuple(sources), tuple(cells), sums, counts).answered()


def by_source(sources: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the sorted names of the source videos, and the index of each item's source."""
    names, where = np.unique(np.asarray(sources, str), return_inverse=True)
    return names.tolist(), where


def resample(sources: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Draw how often each source video occurs in each resample, shape (1 + resamples, sources).

    Row 0 is all ones, for the original sample. The draw depends only on the number of videos and the seed, which makes
    comparisons of models on the same output paired.
    """
    rng = rng_for(seed, "bootstrap", sources)
    drawn = rng.multinomial(sources, np.full(sources, 1 / sources), size=resamples)
    return np.vstack([np.ones(sources), drawn])


def estimate(values: Floats) -> Estimate:
    """Return the first value as an estimate, with the percentile interval of the others."""
    value, drawn = float(values[0]), values[1:]
    undefined = np.isnan(drawn)
    if np.isnan(value) or not drawn.size or undefined.mean() > MOST_UNDEFINED:
        return Estimate(value, np.nan, np.nan)
    low, high = np.quantile(drawn[~undefined], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high))


def estimates(counted: Tally, measure: Measure, *, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Estimate]:
    """Compute scores with bootstrap intervals."""
    drawn = resamples if len(counted.sources) >= FEWEST else 0
    scores = measure(counted.means(resample(len(counted.sources), seed, drawn)))
    return {name: estimate(values) for name, values in scores.items()}


def differences(
    first: Tally, second: Tally, measure: Measure, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Compute scores of `second` minus scores of `first`, on the same resamples.

    Raises:
        ValueError: The source videos differ.
    """
    if first.sources != second.sources:
        raise ValueError("results over different source videos cannot be paired")
    drawn = resamples if len(first.sources) >= FEWEST else 0
    weights = resample(len(first.sources), seed, drawn)
    scores_first, scores_second = measure(first.means(weights)), measure(second.means(weights))
    return {name: estimate(scores_second[name] - scores_first[name]) for name in scores_first if name in scores_second}
