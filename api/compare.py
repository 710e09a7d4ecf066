"""Compare the scores of two models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ..core.functions import public
from ..core.results import Result, Table, json_value
from ..core.rows import AnyPath
from ..core.settings import IN_MEMORY, Resamples, Seed

PathOrScores = Annotated[AnyPath | Result, IN_MEMORY]


@dataclass(frozen=True)
class Comparison(Result):
    """Result of `compare`, with the differences between the scores of two models.

    Attributes:
        table: Score, A, B, the difference B - A with its interval, and a verdict.
        interval: Number of sources and resamples, and the seed of the intervals.
        remarks: Notes on how the questions of the two models were paired.
    """

    a: str
    b: str
    table: Table
    interval: dict[str, Any]
    remarks: tuple[str, ...]

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table of differences as the only element of a tuple."""
        return (self.table,)

    def __str__(self) -> str:
        from ..evaluation.metrics.scores import interval_line

        last = "Each line is a separate test at the 5% level. Among many tests, some show a difference by chance."
        return "\n".join([super().__str__(), "", *self.remarks, interval_line(self.interval), last])

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as JSON values, as printed by --json."""
        keys = ("score", "a", "b", "difference", "verdict")
        listed = [dict(zip(keys, map(json_value, row), strict=True)) for row in self.table.rows]
        return {"a": self.a, "b": self.b, "interval": self.interval, "scores": listed, "notes": list(self.remarks)}


@public
def compare(a: PathOrScores, b: PathOrScores, *, seed: Seed = 0, resamples: Resamples = 1000) -> Comparison:
    """Compare the scores of two models, with paired confidence intervals of the differences B - A.

    `a` and `b` are folders written by `stressreel score`. They may belong to different tables with the same questions,
    such as hard negatives and causal confusion, because answers are paired by question id.

    For example::

        stressreel compare llava.scores qwen.scores

    Args:
        a: Scores of model A. From Python, `Scores` can also be passed.
        b: Scores of model B.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.

    Raises:
        UsageError: A folder does not exist.
        InputError: The scores cannot be compared.
    """
    from ..builders.parts import measure_of
    from ..core.errors import InputError
    from ..evaluation.metrics.bootstrap import differences, estimates
    from ..evaluation.metrics.folder import pair_up, saved_scores

    one, other = (saved_scores(scores) for scores in (a, b))
    first, second, notes = pair_up(one, other)
    try:
        measure = measure_of(one.about["benchmark"], first.cells)
        left = estimates(first, measure, seed=seed, resamples=resamples)
        right = estimates(second, measure, seed=seed, resamples=resamples)
        difference = differences(first, second, measure, seed=seed, resamples=resamples)
    except (LookupError, ValueError) as error:
        raise InputError(
            f"{one.name} and {other.name} cannot be compared ({type(error).__name__}: {error}): no score of "
            f"{one.about['benchmark']} can be computed from the counts that both contain. Score both again."
        ) from error
    rows = tuple(
        (name, left[name].value, right[name].value, gap, verdict(gap.low, gap.high)) for name, gap in difference.items()
    )
    title = f"{one.about['benchmark']}, {one.about['split']}: A {one.name}, B {other.name}"
    table = Table("compare", title, ("score", "A", "B", "B - A [95% interval]", "verdict"), rows)
    interval = {"sources": len(first.sources), "resamples": resamples, "seed": seed}
    return Comparison(one.name, other.name, table, interval, tuple(notes))


def verdict(low: float, high: float) -> str:
    """Return a verdict such as "B higher" for the confidence interval of B - A."""
    if low > 0:
        return "B higher"
    if high < 0:
        return "A higher"
    if low == high == 0:
        return "equal"
    return "no difference shown" if low <= high else "–"
