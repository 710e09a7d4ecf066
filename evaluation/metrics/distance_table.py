"""Compare attention distances of pairs that a model answered correctly with those of other pairs.

Rawal et al. 2024, §B.7 and Table 16, report mean and variance of the distances between attention maps (measured by
`probes`), for pairs with two correct answers and for all others. The intervals over source videos and the difference
are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.errors import InputError
from ...core.results import Estimate, Table, json_value
from .bootstrap import RESAMPLES, Floats, Means, by_source, estimates, tally


@dataclass(frozen=True)
class DistanceMoments:
    """Mean and population variance of the distances in a group of pairs. NaN if there are no pairs."""

    pairs: int
    sources: int
    mean: Estimate
    variance: Estimate


@dataclass(frozen=True)
class DistanceRow:
    """Distances of the pairs of one kind.

    Attributes:
        kind: "video" or "text".
        right: Distances of pairs with two correct answers.
        wrong: Distances of all other pairs.
        difference: Mean of `right` minus that of `wrong`, on the same resamples.
    """

    kind: str
    right: DistanceMoments
    wrong: DistanceMoments
    difference: Estimate


def distance_table(
    distances: ArrayLike,
    right_first: ArrayLike,
    right_second: ArrayLike,
    kinds: Sequence[str],
    sources: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[DistanceRow, ...]:
    """Compute mean and variance of the distances of complement pairs, one row per kind ("video" or "text").

    The arguments have one entry per pair: its distance, whether the first and the second question were answered
    correctly, its kind, and its source video.

    Raises:
        InputError: The arguments differ in length, or a distance is not finite.
    """
    values = np.asarray(distances, np.float64)
    both = np.asarray(right_first, bool) & np.asarray(right_second, bool)
    lengths = {np.shape(each) for each in (values, right_first, right_second)} | {(len(kinds),), (len(sources),)}
    if len(lengths) > 1 or values.ndim != 1:
        raise InputError(
            "distances, answers, kinds and sources must all have the same shape (pairs,); got "
            f"{', '.join(map(str, sorted(lengths)))}."
        )
    if not np.isfinite(values).all():
        raise InputError(f"{np.count_nonzero(~np.isfinite(values))} of {len(values)} distances are not finite.")
    of_kind, of_source = np.asarray(kinds, str), np.asarray(sources, str)
    return tuple(
        _row(kind, values[chosen], both[chosen], of_source[chosen], seed, resamples)
        for kind, chosen in ((kind, of_kind == kind) for kind in dict.fromkeys(kinds))
    )


def _row(
    kind: str, values: Floats, both: NDArray[np.bool_], sources: Sequence[str], seed: int, resamples: int
) -> DistanceRow:
    names, where = by_source(sources)
    middle = values.mean()  # centred to preserve precision in squares
    sides = {"right": both, "wrong": ~both}
    cells = {}
    for side, chosen in sides.items():
        off = values[chosen] - middle
        cells[side] = where[chosen], off
        cells[f"{side}²"] = where[chosen], off**2

    def measure(means: Means) -> dict[str, Floats]:
        found = {"difference": means["right"] - means["wrong"]}
        for side in sides:
            found[side] = means[side] + middle
            found[f"{side}²"] = means[f"{side}²"] - means[side] ** 2
        return found

    scores = estimates(tally(names, cells), measure, seed=seed, resamples=resamples)
    right, wrong = (
        DistanceMoments(int(chosen.sum()), len(set(where[chosen].tolist())), scores[side], scores[f"{side}²"])
        for side, chosen in sides.items()
    )
    return DistanceRow(kind, right, wrong, scores["difference"])


def as_table(rows: Sequence[DistanceRow]) -> Table:
    """Format rows as in the paper's Table 16, with intervals and the difference."""
    lines = []
    for row in rows:
        cells = (cell for part in (row.right, row.wrong) for cell in (part.pairs, part.mean, part.variance))
        lines.append((row.kind, *cells, row.difference))
    columns = ("pairs", "mean", "variance")
    headings = ("complements", *(f"{name}, {which}" for which in ("both right", "not both") for name in columns))
    note = "Divided by the square root of the number of tokens, 0 to 1.41. Difference: both right minus not both."
    title = "Distances between attention maps of complements [95% interval]"
    return Table("distances", title, (*headings, "difference"), tuple(lines), note)


def row_json(row: DistanceRow) -> dict[str, Any]:
    """Return a row as JSON values."""
    parts = {
        name: {field: json_value(value) for field, value in vars(part).items()}
        for name, part in (("both_right", row.right), ("not_both", row.wrong))
    }
    return {"complements": row.kind, **parts, "difference": json_value(row.difference)}
