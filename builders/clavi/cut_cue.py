"""Measure how many questions can be answered from the times of the cuts, without looking at the picture.

A logistic regression predicts whether an action is the first of the two in a video. It knows how often actions of its
class come first in the training pairs and how long they last there, whether the video has cuts, and where.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import fsum, log

import numpy as np
from numpy.typing import NDArray

from ...core.results import Estimate
from ...core.schema import Row
from ...evaluation.blind.fitting import fit
from ...evaluation.metrics.bootstrap import by_source, estimates, tally
from ...templates import QuestionTemplate, load_questions
from .questions import TABLES
from .relations import is_late, relation_of
from .settings import RELATION_STEP, RELATIONS

Query = tuple[str, str]
"""The letters of two actions, of which the first may come first in a video; the second is "" if it is not named."""

QUERIES: dict[str, tuple[Query, ...]] = {
    "sequence": (("a", ""), ("b", ""), ("a", "b")),
    "overlap": (("a", "b"),),
    "contain": (("b", "a"),),
}
TIE = 1e-9


def in_order(pair: Row) -> str:
    """Return the letters of A and B in V's order. A contained B is first if it lies in the first third of A."""
    return "ba" if relation_of(pair) == "contain" and not is_late(pair) else "ab"


class TrainingOrder:
    """How often classes of actions come first in the training pairs, and how long they last.

    Attributes:
        kind: "class" for classes of Charades, "verb" for free phrases, which rarely recur.
        own: Whether pairs of the source video that is asked about count, which they must not if it is in training.
    """

    def __init__(self, pairs: Sequence[Row], kind: str, *, own: bool) -> None:
        self.kind, self.own = kind, own
        self._counts: Counter[tuple[str, ...]] = Counter()
        lengths: dict[str, list[float]] = defaultdict(list)
        for pair in pairs:
            first, second = (self._name(pair, letter) for letter in in_order(pair))
            for event in ((first, "first"), (second, "second")):
                self._counts.update((event, (pair["source_id"], *event)))
            for letter in "ab":
                lengths[self._name(pair, letter)].append(log(pair[f"end_{letter}_s"] - pair[f"start_{letter}_s"]))
        self._lengths = {name: fsum(values) / len(values) for name, values in lengths.items()}
        self._usual = fsum(map(fsum, lengths.values())) / max(1, sum(map(len, lengths.values())))

    def odds(self, pair: Row, query: Query) -> float:
        """Return the log odds that the first action of a query comes first in the source, never exactly 0."""
        names = [self._name(pair, letter) for letter in query if letter]
        odds = [log(self._count(pair, x, "first") + 1) - log(self._count(pair, x, "second") + 1) for x in names]
        if len(names) == 1:
            return odds[0] + TIE
        return odds[0] - odds[1] + (TIE if names[0] < names[1] else -TIE)

    def log_length(self, pair: Row, letter: str) -> float:
        """Return the mean logarithm of the duration of an action's class, or that of all actions."""
        return self._lengths.get(self._name(pair, letter), self._usual) if letter else self._usual

    def _count(self, pair: Row, *event: str) -> int:
        return self._counts[event] - (0 if self.own else self._counts[pair["source_id"], *event])

    def _name(self, pair: Row, letter: str) -> str:
        around = "around: " if letter == "a" and relation_of(pair) == "contain" else ""
        return f"{around}{pair[f'{self.kind}_{letter}']}"


def features(pair: Row, variant: int, query: Query, order: TrainingOrder, *, recut: bool) -> list[float]:
    """Return what is known of a query about a video.

    With `recut`, only V′ has cuts: their number distinguishes the videos, and V shows no times.
    """
    odds = order.odds(pair, query)
    if recut:
        return [-odds if variant else odds]
    lasting = order.log_length(pair, query[0]) - order.log_length(pair, query[1])
    pieces = [pair["in_a"] - pair["out_a"], pair["out_b"] - pair["in_b"]]
    first, last = pieces[::-1] if variant else pieces
    longer = log(first / last)
    return [odds, longer * odds, longer * lasting, longer]


Predictions = dict[tuple[str, int, Query], bool]
"""Whether the first action of a query comes first in a video, by pair id and variant."""


def predict_order(known: Sequence[Row], asked: Sequence[Row], kind: str, *, recut: bool) -> Predictions:
    """Train on pairs, separately for each relation, and answer every query about both videos of other pairs."""
    order, found = TrainingOrder(known, kind, own=known is not asked), Predictions()
    for relation, queries in QUERIES.items():
        groups = [[pair for pair in pairs if relation_of(pair) == relation] for pairs in (known, asked)]
        rows = [
            [(pair, variant, query) for pair in pairs for variant in (0, 1) for query in queries] for pairs in groups
        ]
        learnt, given = (np.array([features(*row, order, recut=recut) for row in some], np.float64) for some in rows)
        if not rows[1]:
            continue
        truth = np.array(
            [(query[0] == in_order(pair)[0]) ^ bool(variant) for pair, variant, query in rows[0]], np.int64
        )
        weights = np.zeros(given.shape[1])
        if rows[0]:
            values = np.stack([np.zeros_like(learnt), learnt], axis=1)
            weights = fit(values, np.ones(values.shape[:2], np.bool_), truth)
        first: NDArray[np.bool_] = given @ weights > 0
        found |= {
            (pair["pair_id"], variant, query): bool(yes)
            for (pair, variant, query), yes in zip(rows[1], first, strict=True)
        }
    return found


def template_of(row: Row) -> QuestionTemplate:
    """Return the template of a question, from its number."""
    templates = load_questions(TABLES[RELATIONS[row["type_id"] // RELATION_STEP]])
    return templates[int(row["question_id"][-2:]) % len(templates)]


def answer_of(row: Row, predictions: Predictions) -> bool | None:
    """Return the answer that follows for a question of the complement subset, and None for other questions."""
    if row["subset"] != "complement":
        return None
    template, variant = template_of(row), int(row["variant"] != "original")
    x, y = template.x.lower(), (template.y or "").lower()
    opposite = template.template_id.endswith(("-end", "-after", "-last"))
    if (row["pair_id"], variant, (x, y)) in predictions:
        return predictions[row["pair_id"], variant, (x, y)] ^ opposite
    return predictions[row["pair_id"], variant, (y, x)] ^ (not opposite)


def consistent_by_relation(rows: Sequence[Row], right: Mapping[str, bool]) -> dict[str, Estimate]:
    """Return CAcc_V on the complement questions of every relation, with intervals over source videos.

    Args:
        rows: The questions.
        right: Whether each question is answered correctly, by id.
    """
    couples = [row for row in rows if row["subset"] == "complement" and row["variant"] == "original"]
    names, where = by_source([row["source_id"] for row in couples])
    both = np.array([right[row["question_id"]] and right.get(row["counterpart_question_id"], False) for row in couples])
    place = np.array([row["type_id"] // RELATION_STEP for row in couples])
    cells = {
        relation: (where[place == number], both[place == number].astype(np.float64))
        for number, relation in enumerate(RELATIONS)
        if (place == number).any()
    }
    return estimates(tally(names, cells), lambda means: dict(means)) if cells else {}
