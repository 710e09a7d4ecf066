"""Confidence intervals for scores: a paired bootstrap over source videos.

Questions about one source video stand or fall together, so the video is what is drawn, not the question (a cluster
bootstrap). Every score here is a function of means, and a mean over a drawn sample of videos is a ratio of sums: all
resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.results import Estimate
from ...core.seeds import rng_for

Floats = NDArray[np.float64]


class Means(dict[str, Floats]):
    """The mean of every cell in each resample; NaN where the cell is empty there.

    Attributes:
        expanded: The same to first order in the weights: m + (Σ w s − m Σ w n) / Σ n, with m the mean of the sample. A
            score that is a mean over cells, some of them about few videos, is made from these. A cell that drops out of
            a resample would leave the mean over the others, which is another score: rare classes that a model gets
            wrong drop out most, so that all resamples may lie above the sample. And to leave out the resamples where
            one drops out would draw from those alone that are like the sample. Expanded (Taylor linearisation, as of
            ratios in sample surveys), every cell stays in every resample, one that drops out with its own mean; and the
            score is a sum of independent draws whose expected value is that of the sample, which the interval thus
            holds. A cell about one video does not vary: nothing says how it would.
    """

    def __init__(self, means: Mapping[str, Floats], expanded: Mapping[str, Floats]) -> None:
        """Hold both."""
        super().__init__(means)
        self.expanded = expanded


Measure = Callable[[Means], dict[str, Floats]]
"""Turns the means of cells into scores; works on the whole sample (number 0) and all resamples at once."""

RESAMPLES = 1000
LEVEL = 0.95
MOST_UNDEFINED = 0.05
FEWEST = 6
"""Source videos that an interval needs: of five, all five agreeing on a sign happens by chance in 6 % of cases."""
FEW = 20
"""With fewer source videos, intervals are too narrow, and a reader is told."""


@dataclass(frozen=True)
class Tally:
    """Sums of what was right, by source video and cell: all that means, and so scores, are made from.

    Attributes:
        sources: The source videos.
        cells: Names of the cells, such as "BA" or "jpeg-3 R@5".
        sums: What was right, shape (sources, cells).
        counts: Out of how many, the same shape.
    """

    sources: tuple[str, ...]
    cells: tuple[str, ...]
    sums: Floats
    counts: Floats

    def means(self, weights: Floats) -> Means:
        """Return the mean of every cell for each row of weights (`resample`); NaN where a cell is empty."""
        with np.errstate(invalid="ignore", divide="ignore"):
            sums, counts, total = weights @ self.sums, weights @ self.counts, self.counts.sum(axis=0)
            whole = self.sums.sum(axis=0) / total
            means, expanded = sums / counts, whole + (sums - whole * counts) / total
        return Means(*({cell: of[:, number] for number, cell in enumerate(self.cells)} for of in (means, expanded)))

    def answered(self) -> Tally:
        """Leave out source videos that no answer is about: they are not drawn from."""
        there: NDArray[np.bool_] = np.any(self.counts > 0, axis=1)
        names = tuple(name for name, kept in zip(self.sources, there, strict=True) if kept)
        return Tally(names, self.cells, self.sums[there], self.counts[there])

    def totals(self) -> dict[str, int]:
        """Count what each cell's mean is over."""
        return {cell: round(total) for cell, total in zip(self.cells, self.counts.sum(axis=0), strict=True)}


def tally(sources: Sequence[str], cells: Mapping[str, tuple[NDArray[np.intp], Floats]]) -> Tally:
    """Sum values by source video.

    Args:
        sources: The source videos' names.
        cells: For each cell, the source (its position in `sources`) and the value of every item in it.
    """
    sums = np.zeros((len(sources), len(cells)))
    counts = np.zeros_like(sums)
    for number, (where, values) in enumerate(cells.values()):
        sums[:, number] = np.bincount(where, weights=values, minlength=len(sources))
        counts[:, number] = np.bincount(where, minlength=len(sources))
    return Tally(tuple(sources), tuple(cells), sums, counts).answered()


def by_source(sources: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the source videos of items, sorted, and the place of each item's own among them."""
    names, where = np.unique(np.asarray(sources, str), return_inverse=True)
    return names.tolist(), where


def resample(sources: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Draw how often each source video is in each resample.

    The draw depends on the number of videos and the seed alone, so two models scored on one output share it: that makes
    their comparison a paired one.

    Args:
        sources: Number of source videos.
        seed: Seed of the draw.
        resamples: Number of resamples.

    Returns:
        Weights of shape (1 + resamples, sources); row 0 is all ones, the sample itself.
    """
    rng = rng_for(seed, "bootstrap", sources)
    drawn = rng.multinomial(sources, np.full(sources, 1 / sources), size=resamples)
    return np.vstack([np.ones(sources), drawn])


def estimate(values: Floats) -> Estimate:
    """Take value 0 and the percentile interval of the others."""
    value, drawn = float(values[0]), values[1:]
    undefined = np.isnan(drawn)
    if np.isnan(value) or not drawn.size or undefined.mean() > MOST_UNDEFINED:
        return Estimate(value, np.nan, np.nan)
    low, high = np.quantile(drawn[~undefined], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high))


def estimates(counted: Tally, measure: Measure, *, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Estimate]:
    """Score a tally, with intervals.

    Args:
        counted: The sums.
        measure: The scores as a function of means.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.
    """
    drawn = resamples if len(counted.sources) >= FEWEST else 0
    scores = measure(counted.means(resample(len(counted.sources), seed, drawn)))
    return {name: estimate(values) for name, values in scores.items()}


def differences(
    first: Tally, second: Tally, measure: Measure, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Score `second` minus `first` on the same resamples of the same source videos.

    Args:
        first: One model.
        second: The other, on the same source videos.
        measure: The scores as a function of means.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        ValueError: The two are not about the same source videos.
    """
    if first.sources != second.sources:
        raise ValueError("two tallies over different source videos cannot be paired")
    drawn = resamples if len(first.sources) >= FEWEST else 0
    weights = resample(len(first.sources), seed, drawn)
    one, other = measure(first.means(weights)), measure(second.means(weights))
    return {name: estimate(other[name] - one[name]) for name in one if name in other}
