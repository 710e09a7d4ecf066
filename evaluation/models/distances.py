"""Measure a model's attention distances on complement pairs, and compare them by its answers.

Rawal et al. 2024, §B.7 and Table 16, report mean and variance of the distances between attention maps (measured by
`probes`), for pairs with two correct answers and for all others. The intervals over source videos and the difference
are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.errors import InputError
from ...core.numerics import rng_for
from ...core.progress import Progress
from ...core.results import Estimate, Table, json_value
from ..metrics.answers import read_answer
from ..metrics.bootstrap import RESAMPLES, Floats, Means, by_source, estimates, tally
from ..metrics.items import Items
from ..probes import captured_attention
from ..probes.attention_distances import attention_distance
from ..probes.labels import as_array, labels_for
from . import Reply, Request
from .probed import Session


@dataclass(frozen=True)
class Complement:
    """A pair of questions that have opposite correct answers.

    Attributes:
        kind: "video" for one question about a video and its complement, "text" for two questions about one video.
    """

    kind: str
    first: str
    second: str


def drawn(pairs: Sequence[Complement], asked_ids: Sequence[str], most: int) -> list[Complement]:
    """Sample up to `most` pairs of each kind, among those whose questions are both asked."""
    ids = set(asked_ids)
    sampled: list[Complement] = []
    for kind in sorted({pair.kind for pair in pairs}):
        usable = [pair for pair in pairs if pair.kind == kind and {pair.first, pair.second} <= ids]
        order = rng_for(0, "attention-distances", kind).permutation(len(usable))[:most]
        sampled += [usable[index] for index in sorted(order.tolist())]
    return sampled


def measure_distances(
    session: Session, pairs: Sequence[Complement], rounds: int | None
) -> dict[Complement, Mapping[str, float]]:
    """Measure the attention distances of complement pairs that the journal does not contain yet.

    `rounds` is explained at `attention_distance`.

    Returns:
        For each pair `value` (divided by √tokens), `lowest`, `undivided`, `settled` and `tokens`.

    Raises:
        VideoError: A clip cannot be decoded.
        InputError: The modalities of tokens are unknown, or the model keeps them in separate sequences.
        ProbeError: A layer was not reached.
    """
    local, journal, calls = session.model.local, session.journal, session.baseline()

    def maps(name: str) -> tuple[Sequence[NDArray[Any]], NDArray[Any]]:
        call = calls[name]
        view = None if call.clip is None else session.clips.view(call.clip, session.settings.sampling, whole=False)
        inputs = local.inputs(Request(call.text, view, 1))
        labels = labels_for(local.model.config, inputs)
        if isinstance(labels, list):
            raise InputError(
                "--attention-distances needs a model with one sequence of video and text tokens; this one keeps its "
                "modalities in separate sequences."
            )
        with captured_attention(local.model, session.model.layers) as captured:
            local.read(inputs)
        return captured.maps(), as_array(labels)[0]

    with Progress("comparing attention", len(pairs), "pair", shown=session.progress) as bar:
        for pair in pairs:
            key = _key(pair, rounds)
            if key not in journal.replies:
                (first, first_labels), (second, second_labels) = maps(pair.first), maps(pair.second)
                distance = attention_distance(first, second, first_labels, second_labels, rounds=rounds)
                names = ("value", "lowest", "undivided", "settled", "tokens")
                journal.add(key, Reply("", effect={name: float(getattr(distance, name)) for name in names}))
            bar.advance()
    return {pair: journal.replies[_key(pair, rounds)].effect or {} for pair in pairs}


def table_of(
    distances: Mapping[Complement, Mapping[str, float]],
    answers: Mapping[str, str],
    items: Items,
    *,
    seed: int,
    resamples: int,
) -> tuple[DistanceRow, ...]:
    """Compare the distances of pairs with two correct answers with those of all other pairs."""
    rows = {name: row for row, name in enumerate(items.ids)}

    def right(name: str) -> bool:
        row = rows[name]
        return bool(read_answer(answers[name], items.options[row]) == items.truth[row])

    pairs = list(distances)
    return distance_table(
        [distances[pair]["value"] for pair in pairs],
        [right(pair.first) for pair in pairs],
        [right(pair.second) for pair in pairs],
        [pair.kind for pair in pairs],
        [items.sources[rows[pair.first]] for pair in pairs],
        seed=seed,
        resamples=resamples,
    )


def _key(pair: Complement, rounds: int | None) -> str:
    return f"distance, {rounds} rounds|{pair.kind}|{pair.first}|{pair.second}"


# Table 16


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
    lengths = {np.shape(array) for array in (values, right_first, right_second)} | {
        (len(kinds),),
        (len(sources),),
    }
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
        result = {"difference": means["right"] - means["wrong"]}
        for side in sides:
            result[side] = means[side] + middle
            result[f"{side}²"] = means[f"{side}²"] - means[side] ** 2
        return result

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
