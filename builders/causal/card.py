"""Fill in the dataset card of a CausalChaos build, whose text is in `card.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.results import Estimate
from ...core.schema import Row
from ...core.source import source_of
from ...data_cards.card import Card, Cell
from ...data_cards.statistics import Distribution
from ...evaluation.blind.option_baselines import MEANINGS
from ...negatives.options import REFUSALS
from ...negatives.settings import strict
from .settings import SCHEMES, settings_of
from .tables import CLIPS, CONFUSED, NAMES, OPEN, RIGHT

Z95 = 1.959963984540054
EXAMPLES = 3

NOTES = {
    "rows": "rows read",
    "episodes": "episodes",
    "rows_that_overlap_another": "rows whose clip overlaps that of another row",
    "rows_with_the_frames_of_another": "rows with the same clip as an earlier row",
    "questions_repeated": "rows with the same question as an earlier row, word for word",
    "answers_repeated": "rows with the same answer as an earlier row, word for word",
    "explanations_repeated": "rows with the same explanation as an earlier row, word for word",
    "explanations_equal_to_their_answer": "rows whose explanation repeats the answer",
    "rows_left_out_empty": "empty rows, left out",
    "rows_left_out_of_zero_length": "rows whose end frame is their start frame, left out",
    "texts_with_runs_of_spaces": "rows in which runs of spaces were replaced by one",
}
for _target in NAMES:
    NOTES[f"{_target}s_with_fewer_options"] = f"questions (over all divisions) with too few {_target} options"
    NOTES |= {
        f"{_target}s_kept_from_these_{reason.replace(' ', '_')}": f"excluded {_target}s for these questions: {reason}"
        for reason in REFUSALS
    }
    NOTES[f"{_target}s_that_needed_more_candidates"] = (
        f"questions (over all divisions) whose first candidates gave too few {_target} options, so more were searched"
    )


@dataclass(frozen=True)
class BaselineShare:
    """The accuracy of a blind baseline.

    Attributes:
        right: Expected number of correct answers; ties between options are broken at random.
    """

    name: str
    right: float
    total: int
    chance: float

    @property
    def share(self) -> float:
        """Return the accuracy of the baseline."""
        return self.right / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95% confidence interval of the accuracy, by Wilson's score (binomial)."""
        middle = (self.right + Z95**2 / 2) / (self.total + Z95**2)
        half = Z95 / (self.total + Z95**2) * sqrt(self.right * (self.total - self.right) / self.total + Z95**2 / 4)
        return max(0.0, middle - half), min(1.0, middle + half)

    @property
    def verdict(self) -> str:
        """Describe whether the interval is above, below or around chance."""
        low, high = self.interval
        return "above chance" if low > self.chance else "below chance" if high < self.chance else "chance"


@dataclass(frozen=True)
class Wrong:
    """Statistics on the distractors in one table, for one target.

    Attributes:
        target: "answer" or "explanation".
        kinds: Number of distractors of each kind.
        cos_text: Cosines of distractors with the correct option.
        cos_question: Cosines of the questions, for mined distractors.
        places: Number of questions by the index of the correct option.
        most: The most frequent donor, and its number of uses.
        letters: Mean number of characters of correct options and of distractors.
    """

    table: str
    target: str
    kinds: dict[str, int]
    cos_text: Distribution | None
    cos_question: Distribution | None
    places: dict[int, int]
    most: tuple[str, int]
    letters: tuple[float, float]


@dataclass(frozen=True)
class CausalStatistics:
    """All statistics on the card.

    Attributes:
        frames: Length of each distinct clip, in frames.
        words: Numbers of words of questions, answers and explanations.
        wrong: Statistics of the distractors, by table and target.
        episodes: Number of episodes in each split, by division.
        examples: The first rows of the test split.
        confused: Example rows of `causal_confusion`.
    """

    frames: list[int]
    words: dict[str, Distribution]
    wrong: list[Wrong]
    episodes: dict[str, dict[str, int]]
    examples: list[Row]
    confused: list[Row]
    questions: int


def measure_causal(output: FinishedOutput) -> CausalStatistics:
    """Compute the statistics on the card from the tables of an output."""
    every = list(output.whole(OPEN))
    clips = {row["clip_id"]: row["end_frame"] - row["start_frame"] for row in every}
    texts = ("question", "answer", "explanation")
    tables = [name for name in (*SCHEMES, CONFUSED) if name in output.info["counts"]]
    first = tables[0]
    shown = "test" if "test" in output.splits(first) else output.splits(first)[-1]
    confused = [row for row in output.whole(CONFUSED) if _shows(row)] if CONFUSED in tables else []
    episodes: dict[str, dict[str, int]] = {}
    for scheme in tables:
        if scheme in SCHEMES:
            episodes[scheme] = {
                split: len({row["episode"] for row in output.whole(scheme, ["episode"], split)})
                for split in output.splits(scheme)
            }
    return CausalStatistics(
        frames=list(clips.values()),
        words={name: Distribution.of([len(row[name].split()) for row in every]) for name in texts},
        wrong=[wrong_options(table, target, list(output.whole(table))) for table in tables for target in NAMES],
        episodes=episodes,
        examples=list(output.whole(first, None, shown))[:EXAMPLES],
        confused=confused[:EXAMPLES],
        questions=len(every),
    )


def _shows(row: Row) -> bool:
    return sum(result["place"] is not None for result in row["confusions"] if result["target"] == "answer") == 2


def wrong_options(table: str, target: Any, rows: Sequence[Row]) -> Wrong:
    """Compute the statistics on the distractors in one table, for one target."""
    options, index, sources = NAMES[target]
    wrong = [
        (text, source)
        for row in rows
        for text, source in zip(row[options], row[sources], strict=True)
        if source["kind"] != RIGHT
    ]
    mined = [source for _, source in wrong if source["kind"] in ("hard", "random", "carried")]
    donors = Counter(source["qid"] for source in mined)
    return Wrong(
        table,
        target,
        dict(sorted(Counter(source["kind"] for _, source in wrong).items())),
        Distribution.of([source["cos_text"] for _, source in wrong]) if wrong else None,
        Distribution.of([source["cos_question"] for source in mined]) if mined else None,
        dict(sorted(Counter(row[index] for row in rows).items())),
        max(donors.items(), key=lambda one: (one[1], one[0]), default=("", 0)),
        (
            sum(len(row[options][row[index]]) for row in rows) / len(rows),
            sum(len(text) for text, _ in wrong) / max(len(wrong), 1),
        ),
    )


def guesses(info: Mapping[str, Any]) -> dict[str, dict[str, dict[str, list[BaselineShare]]]]:
    """Return the accuracies of blind baselines by table, split and target."""
    return {
        table: {
            split: {
                target: [
                    BaselineShare(name, found["right"][name], found["questions"], found["chance"])
                    for name in MEANINGS
                    if name in found["right"]
                ]
                for target, found in targets.items()
            }
            for split, targets in splits.items()
            if split in info["counts"].get(table, {})
        }
        for table, splits in info["notes"]["blind"].items()
        if table in info["counts"]
    }


def best_baselines(info: Mapping[str, Any]) -> dict[str, dict[str, Cell]]:
    """Return the cells of the table of the best blind baselines: one row for each table and target."""
    rows: dict[str, dict[str, Cell]] = {}
    for table, targets in _shown_guesses(info).items():
        for target, shares in targets.items():
            if shares:
                best = max(shares, key=lambda each: each.share)
                rows[f"{table}, {target}"] = {
                    "chance": best.chance,
                    "best baseline": MEANINGS[best.name],
                    "accuracy": Estimate(best.share, *best.interval),
                    "against chance": best.verdict,
                }
    return rows


def blind_tables(info: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Cell]]]:
    """Return the cells of the tables of all blind baselines by target: rows are baselines, columns are tables."""
    guessed = _shown_guesses(info)
    found: dict[str, dict[str, dict[str, Cell]]] = {}
    for target in NAMES:
        rows: dict[str, dict[str, Cell]] = {}
        for name in ("chance", *MEANINGS):
            cells: dict[str, Cell] = {}
            for table, targets in guessed.items():
                shares = {each.name: each for each in targets.get(target, ())}
                if name == "chance" and shares:
                    cells[table] = next(iter(shares.values())).chance
                elif name in shares:
                    cells[table] = Estimate(shares[name].share, *shares[name].interval)
                else:
                    cells[table] = None
            if any(cell is not None for cell in cells.values()):
                rows[MEANINGS.get(name, name)] = cells
        if rows:
            found[target] = rows
    return found


def _shown_guesses(info: Mapping[str, Any]) -> dict[str, dict[str, list[BaselineShare]]]:
    """Return the accuracies on the test split or, if there is none, the last split, by table and split, and target."""
    found = {}
    for table, splits in guesses(info).items():
        split = "test" if "test" in splits else list(splits)[-1]
        found[f"{table}, {split}"] = splits[split]
    return found


TITLES = {
    "sample": "CausalChaos on the built-in sample of stressreel",
    "causalchaos": "CausalChaos, built with stressreel",
    "rows": "Causal questions, built with stressreel",
}


def card() -> Card:
    """Return the benchmark's part of the card."""
    template = Path(__file__).parent / "card.md.j2"
    return Card(template, measure_causal, context, front_matter, biases=biases, notes=NOTES)


def biases(output: FinishedOutput, measured: CausalStatistics) -> list[str]:
    """Describe how accurate the best blind baseline is for every table, split and target."""
    found = []
    for table, parts in guesses(output.info).items():
        for split, targets in parts.items():
            for target, blind in targets.items():
                if not blind:
                    continue
                best = max(blind, key=lambda guess: guess.share)
                found.append(
                    f"{table}, {split}, {target}s: the best untrained blind baseline ({MEANINGS[best.name]}) has an "
                    f"accuracy of {best.share:.1%}; chance is {best.chance:.1%}."
                )
    return found


def front_matter(output: FinishedOutput) -> dict[str, Any]:
    """Return the fields of the YAML header that are specific to this benchmark."""
    return {
        "pretty_name": TITLES[source_of(output.info).key],
        "language": ["en"],
        "task_categories": ["video-text-to-text", "visual-question-answering", "multiple-choice"],
        "tags": ["video", "video-question-answering", "causal-reasoning", "diagnostic", "causalchaos", "stressreel"],
    }


def context(output: FinishedOutput, measured: CausalStatistics) -> dict[str, Any]:
    """Return the values for the card template."""
    info = output.info
    settings = settings_of(info)
    return {
        "origin": source_of(output.info).key,
        "stats": measured,
        "settings": settings,
        "schemes": [scheme for scheme in SCHEMES if scheme in info["counts"]],
        "rendered": CLIPS in info["counts"],
        "confused": CONFUSED in info["counts"],
        "balanced": strict(settings),
        "frames": Distribution.of(measured.frames),
        "blind": blind_tables(info),
        "best": best_baselines(info),
    }
