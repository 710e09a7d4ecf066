"""Measure how many questions can be answered from the cuts alone, without looking at the picture.

The baseline knows which videos have cuts and how often actions of each class come first in the training pairs. With
`--cuts balanced`, V and V′ have their cuts at the same times, so the baseline gives the same answers about both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from ...core.schema import Row
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


def in_order(pair: Row) -> str:
    """Return the letters of A and B in the order of V. If A contains B, B is first if it is in A's first third."""
    return "ba" if relation_of(pair) == "contain" and not is_late(pair) else "ab"


class TrainingOrder:
    """Counts how often actions of each class come first in the training pairs.

    Attributes:
        kind: "class" for classes of Charades, "verb" for free phrases, which rarely recur.
        own: Whether to count pairs of the source video that is asked about, which must be False if it is in training.
    """

    def __init__(self, pairs: Sequence[Row], kind: str, *, own: bool) -> None:
        self.kind, self.own = kind, own
        self._counts: Counter[tuple[str, ...]] = Counter()
        for pair in pairs:
            for letter, place in zip(in_order(pair), ("first", "second"), strict=True):
                event = (self._name(pair, letter), place)
                self._counts.update((event, (pair["source_id"], *event)))

    def comes_first(self, pair: Row, query: Query) -> bool:
        """Return whether the first action of a query comes first more often than the second or, if alone, than not."""
        names = [self._name(pair, letter) for letter in query if letter]
        odds = [log(self._count(pair, x, "first") + 1) - log(self._count(pair, x, "second") + 1) for x in names]
        if len(names) == 1:
            return odds[0] >= 0
        return odds[0] > odds[1] or (odds[0] == odds[1] and names[0] < names[1])

    def _count(self, pair: Row, *event: str) -> int:
        return self._counts[event] - (0 if self.own else self._counts[pair["source_id"], *event])

    def _name(self, pair: Row, letter: str) -> str:
        around = "around: " if letter == "a" and relation_of(pair) == "contain" else ""
        return f"{around}{pair[f'{self.kind}_{letter}']}"


Predictions = dict[tuple[str, int, Query], bool]
"""Whether the first action of a query comes first in a video, by pair id and variant."""


def predict_order(known: Sequence[Row], asked: Sequence[Row], kind: str, *, recut: bool) -> Predictions:
    """Answer every query about both videos of each pair. With `recut`, only V′ has cuts, which distinguish the two."""
    order = TrainingOrder(known, kind, own=known is not asked)
    return {
        (pair["pair_id"], variant, query): order.comes_first(pair, query) ^ (recut and variant == 1)
        for pair in asked
        for query in QUERIES[relation_of(pair)]
        for variant in (0, 1)
    }


def template_of(row: Row) -> QuestionTemplate:
    """Find the template of a question by its number."""
    templates = load_questions(TABLES[RELATIONS[row["type_id"] // RELATION_STEP]])
    return templates[int(row["question_id"][-2:]) % len(templates)]


def answer_of(row: Row, predictions: Predictions) -> bool | None:
    """Return the answer to a question of the complement subset that follows from the predictions, else None."""
    if row["subset"] != "complement":
        return None
    template, variant = template_of(row), int(row["variant"] != "original")
    x, y = template.x.lower(), (template.y or "").lower()
    opposite = template.template_id.endswith(("-end", "-after", "-last"))
    if (row["pair_id"], variant, (x, y)) in predictions:
        return predictions[row["pair_id"], variant, (x, y)] ^ opposite
    return predictions[row["pair_id"], variant, (y, x)] ^ (not opposite)
