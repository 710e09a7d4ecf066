"""Score baselines that do not see the content of the videos.

The last one measures how many questions can be answered from the cuts alone: it knows which videos have cuts and how
often actions of each class come first in the training pairs. With `--cuts balanced`, V and V′ have their cuts at the
same times, so it gives the same answers about both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import Any

import numpy as np

from ...core.schema import Row
from ...evaluation.metrics.bootstrap import estimates
from ...templates import QuestionTemplate, load_questions
from .pairs import is_late, relation_of
from .questions import TABLES
from .scores import COLUMNS, NO, YES, count, measure, questions_from
from .settings import RELATION_STEP, RELATIONS, ClaviSettings

EARLY = ("BE-beginning", "BA-before")
EXACT, CUTS = (
    "the most frequent answer to the exact question",
    "knows which videos have cuts, and which actions tend to come first",
)
SHOWN_SCORES = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced accuracy",
    "CAcc_V complement": "CAcc_V, complement",
    "CAcc_T complement": "CAcc_T, complement",
}

Query = tuple[str, str]
"""The letters of two actions, of which the first may come first in a video; the second is "" if it is not named."""

QUERIES: dict[str, tuple[Query, ...]] = {
    "sequence": (("a", ""), ("b", ""), ("a", "b")),
    "overlap": (("a", "b"),),
    "contain": (("b", "a"),),
}
Predictions = dict[tuple[str, int, Query], bool]
"""Whether the first action of a query comes first in a video, by pair id and variant."""


def splits_of_baselines(splits: Iterable[str]) -> tuple[str, str]:
    """Choose the splits on which baselines are trained and tested."""
    names = list(splits)
    others = [name for name in ("test", "validation") if name in names]
    return ("train", others[0]) if "train" in names and others else (names[0], names[0])


def blind_scores(
    training: Sequence[Row],
    questions_asked: Sequence[Row],
    known_pairs: Sequence[Row],
    asked_pairs: Sequence[Row],
    settings: ClaviSettings,
) -> dict[str, Any]:
    """Score baselines that do not see the content of the videos.

    Baselines that learn answers learn them from other source videos. The last one is `predict_order`.

    Returns:
        "guessed", the scores of each baseline; "by_text", the accuracy of the most frequent answer to the exact
        question on existence (E and E-NC), or None; and "cuts", CAcc_V of the last baseline by relation.
    """
    usual = usual_answers(training, questions_asked)
    classes = settings.collection == "charades" and settings.source == "actions"
    order = predict_order(known_pairs, asked_pairs, "class" if classes else "verb", recut=settings.cuts == "release")
    flips = (answer_of(row, order) for row in questions_asked)
    guesses = {
        "no to everything": [NO for _ in questions_asked],
        "yes, except about the negative control": [int(not row["type"].endswith("-NC")) for row in questions_asked],
        "yes to beginning and before, no to the rest": [int(row["template_id"] in EARLY) for row in questions_asked],
        EXACT: usual,
        CUTS: [usual_answer if flip is None else int(flip) for flip, usual_answer in zip(flips, usual, strict=True)],
    }
    questions = questions_from({name: [row[name] for row in questions_asked] for name in COLUMNS})
    tallies = {name: count(questions, np.array(picks, np.int64)) for name, picks in guesses.items()}
    scores = {name: estimates(tallied, measure) for name, tallied in tallies.items()}
    existence = estimates(tallies[EXACT], lambda means: {name: means[name] for name in ("E", "E-NC") if name in means})
    return {
        "guessed": {
            name: {shown: estimated[key] for key, shown in SHOWN_SCORES.items()} for name, estimated in scores.items()
        },
        "by_text": sum(score.value for score in existence.values()) / 2 if len(existence) == 2 else None,
        "cuts": {
            relation: scores[CUTS][name]
            for relation in RELATIONS
            if (name := "CAcc_V complement" if relation == RELATIONS[0] else f"CAcc_V {relation}") in scores[CUTS]
        },
    }


def usual_answers(training: Sequence[Row], questions: Sequence[Row]) -> list[int]:
    """Predict the most frequent answer to the exact question in other source videos, or else to its wording.

    Ties are resolved in favour of the more frequent answer overall.
    """
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in training:
        for text in (row["question"], row["template_id"]):
            counts.update([(text, row["answer"]), (text, row["answer"], row["source_id"])])
    common = int(sum(row["answer"] == YES for row in training) > len(training) / 2)
    guesses = []
    for row in questions:
        for text in (row["question"], row["template_id"]):
            no, yes = (counts[text, answer] - counts[text, answer, row["source_id"]] for answer in (NO, YES))
            if no or yes:
                break
        guesses.append(common if no == yes else int(yes > no))
    return guesses


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
            for letter, position in zip(in_order(pair), ("first", "second"), strict=True):
                event = (self._name(pair, letter), position)
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


def in_order(pair: Row) -> str:
    """Return the letters of A and B in the order of V. If A contains B, B is first if it is in A's first third."""
    return "ba" if relation_of(pair) == "contain" and not is_late(pair) else "ab"


def predict_order(training: Sequence[Row], pairs: Sequence[Row], kind: str, *, recut: bool) -> Predictions:
    """Answer every query about both videos of each pair. With `recut`, only V′ has cuts, which distinguish the two."""
    order = TrainingOrder(training, kind, own=training is not pairs)
    return {
        (pair["pair_id"], variant, query): order.comes_first(pair, query) ^ (recut and variant == 1)
        for pair in pairs
        for query in QUERIES[relation_of(pair)]
        for variant in (0, 1)
    }


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


def template_of(row: Row) -> QuestionTemplate:
    """Find the template of a question by its number."""
    templates = load_questions(TABLES[RELATIONS[row["type_id"] // RELATION_STEP]])
    return templates[int(row["question_id"][-2:]) % len(templates)]
