"""Fill in the dataset card of a CausalChaos build, whose text is in `card.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from ...core.output import FinishedOutput
from ...core.results import Estimate
from ...core.schema import Row
from ...core.source import source_of
from ...data_cards.card import Card, Distribution
from ...evaluation.blind.option_baselines import MEANINGS
from ...negatives.options import REFUSALS
from ...negatives.settings import strict
from .settings import SCHEMES, settings_of
from .tables import CLIPS, CONFUSED, NAMES, OPEN, RIGHT

Z95 = 1.959963984540054
EXAMPLES = 3


class BestBaseline(NamedTuple):
    """The most accurate untrained baseline on a table, split and target ("answer" or "explanation").

    Attributes:
        right: Expected number of correct answers; ties between options are broken at random.
    """

    table: str
    split: str
    target: str
    meaning: str
    right: float
    questions: int
    chance: float

    @property
    def accuracy(self) -> Estimate:
        """Return the accuracy with its 95% confidence interval by Wilson's score (binomial)."""
        middle = (self.right + Z95**2 / 2) / (self.questions + Z95**2)
        variance = self.right * (self.questions - self.right) / self.questions
        half = Z95 / (self.questions + Z95**2) * sqrt(variance + Z95**2 / 4)
        return Estimate(self.right / self.questions, max(0.0, middle - half), min(1.0, middle + half))


def best_baselines(info: Mapping[str, Any]) -> Iterator[BestBaseline]:
    """Yield the best untrained baseline on every table, split and target, as measured by the build."""
    for table, splits in info["notes"]["blind"].items():
        for split, targets in splits.items():
            for target, measured in targets.items():
                right = {name: measured["right"][name] for name in MEANINGS if name in measured["right"]}
                if right and split in info["counts"].get(table, {}):
                    best = max(right, key=lambda name: right[name])
                    counted = right[best], measured["questions"], measured["chance"]
                    yield BestBaseline(table, split, target, MEANINGS[best], *counted)


class CausalCard(Card):
    """The card of a CausalChaos build."""

    folder = Path(__file__).parent

    @property
    def notes(self) -> dict[str, str]:
        """Describe the counts from loading and planning, among them those of options, which exist for each target."""
        notes = dict(super().notes)
        for target in NAMES:
            notes[f"{target}s_with_fewer_options"] = f"questions (over all divisions) with too few {target} options"
            for reason in REFUSALS:
                kept = f"{target}s_kept_from_these_{reason.replace(' ', '_')}"
                notes[kept] = f"excluded {target}s for these questions: {reason}"
            notes[f"{target}s_that_needed_more_candidates"] = (
                f"questions (over all divisions) whose first candidates gave too few {target} options, so more were "
                "searched"
            )
        return notes

    def fields(self, output: FinishedOutput) -> dict[str, Any]:
        """Compute the fields of the template."""
        info, settings = output.info, settings_of(output.info)
        questions = list(output.whole(OPEN))
        lengths = {row["clip_id"]: row["end_frame"] - row["start_frame"] for row in questions}
        schemes = [scheme for scheme in SCHEMES if scheme in info["counts"]]
        tables = [*schemes, *([CONFUSED] if CONFUSED in info["counts"] else [])]
        tested = {table: last_split(output, table) for table in tables}
        confused = [row for row in output.whole(CONFUSED) if _has_two_confusions(row)] if CONFUSED in tables else []
        return {
            "origin": source_of(info).key,
            "settings": settings,
            "schemes": schemes,
            "rendered": CLIPS in info["counts"],
            "confused": CONFUSED in tables,
            "balanced": strict(settings),
            "questions": len(questions),
            "clips": len(lengths),
            "frames": Distribution.of(list(lengths.values())),
            "words": {
                name: Distribution.of([len(row[name].split()) for row in questions])
                for name in ("question", "answer", "explanation")
            },
            "episodes": {
                scheme: {
                    split: len({row["episode"] for row in output.whole(scheme, ["episode"], split)})
                    for split in output.splits(scheme)
                }
                for scheme in schemes
            },
            "distractors": [row for table in tables for row in count_distractors(output, table)],
            "examples": list(output.whole(tables[0], None, tested[tables[0]]))[:EXAMPLES],
            "confused_examples": confused[:EXAMPLES],
            "best": {
                f"{best.table}, {best.split}, {best.target}": {
                    "chance": best.chance,
                    "best baseline": best.meaning,
                    "accuracy": best.accuracy,
                }
                for best in best_baselines(info)
                if tested.get(best.table) == best.split
            },
        }

    def biases(self, output: FinishedOutput, fields: Mapping[str, Any]) -> list[str]:
        """Describe how accurate the best blind baseline is for every table, split and target."""
        return [
            f"{best.table}, {best.split}, {best.target}s: the best untrained blind baseline ({best.meaning}) has an "
            f"accuracy of {best.accuracy.value:.1%}; chance is {best.chance:.1%}."
            for best in best_baselines(output.info)
        ]


def last_split(output: FinishedOutput, table: str) -> str:
    """Return test or, if the table has no such split, the last one."""
    splits = output.splits(table)
    return "test" if "test" in splits else splits[-1]


def _has_two_confusions(row: Row) -> bool:
    return sum(result["place"] is not None for result in row["confusions"] if result["target"] == "answer") == 2


def count_distractors(output: FinishedOutput, table: str) -> Iterator[dict[str, Any]]:
    """Count the distractors in a table by kind, and its questions by the index of the correct option, by target."""
    rows = list(output.whole(table, [name for names in NAMES.values() for name in names[1:]]))
    for target, (_, index, sources) in NAMES.items():
        kinds = Counter(source["kind"] for row in rows for source in row[sources] if source["kind"] != RIGHT)
        positions = Counter(row[index] for row in rows)
        yield {"table": table, "target": target, "kinds": dict(sorted(kinds.items())), "places": positions}
