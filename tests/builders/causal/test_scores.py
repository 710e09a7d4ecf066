from pathlib import Path
from typing import Any

import pytest
from stressreel.builders.causal.card import BestBaseline
from stressreel.builders.causal.scores import score_rows
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.predictions import Predictions
from stressreel.evaluation.metrics.scores import ScoreOptions, Scores

ROW: dict[str, Any] = {
    "blind_guessable": None,
    "options": ["ran", "hid", "slept"],
    "answer_index": 0,
    "sources": [{"qid": "other", "kind": kind} for kind in ("right", "hard", "random")],
    "explanation_options": ["fear", "joy", "rain"],
    "explanation_index": 1,
    "explanation_sources": [{"qid": "other", "kind": kind} for kind in ("hard", "right", "hard")],
}
ROWS = [{**ROW, "qid": f"q{number}", "episode": f"S01E0{number % 2}"} for number in range(4)]


def score(*answers: tuple[str, ...], rows: list[dict[str, Any]] = ROWS, split: str = "test", **more: bool) -> Scores:
    given = [dict(zip(("id", "answer", "explanation"), row, strict=False)) for row in answers]
    options = ScoreOptions(split, **more)
    return score_rows(rows, ["test"] * 3 + ["train"], Predictions(Path("p.jsonl"), given), options)


def headline(found: Scores) -> dict[str, float]:
    return {name: each.value for name, each in found.headline.items()}


def test_causal_questions_with_explanations() -> None:
    found = score(("q0", "A", "joy"), ("q1", "A", "C"), ("q2", "swap?", "joy"))
    assert headline(found) == pytest.approx({"A": 2 / 3, "E": 2 / 3, "A+E": 1 / 3})
    assert (found.answers["unreadable"], found.answers["explanations"]["unreadable"]) == (1, 0)
    assert {row[:2]: row[2] for row in found.tables[0].rows} == pytest.approx(
        {("A", "hard"): 0, ("A", "random"): 0, ("E", "hard"): 1 / 3}
    )


def test_missing_explanation_is_excluded() -> None:
    given = (("q0", "A", "joy"), ("q1", "A"), ("q2", "A", "perhaps"))
    with pytest.raises(InputError, match=r"1 of 3 .*q1"):
        score(*given)
    found = score(*given, partial=True)
    assert headline(found) == {"A": 1, "E": 0.5, "A+E": 0.5}
    explained = found.answers["explanations"]
    assert (found.answers["unreadable"], explained["unreadable"], explained["missing"]) == (0, 1, 1)


def test_protocol_2_needs_explanations() -> None:
    found = score(("q0", "C"), ("q1", "A"), ("q2", "slept"))
    assert list(found.headline) == ["A"]
    assert found.tables[0].rows[1] == ("A", "random", pytest.approx(2 / 3), 3)
    assert "protocol 2" in found.footnotes[0]


def test_twins_of_wrong_options_count_separately() -> None:
    kinds = (("right", ""), ("negation", ""), ("negation", "other"))
    rows = [{**row, "sources": [{"kind": kind, "qid": qid or row["qid"]} for kind, qid in kinds]} for row in ROWS]
    found = score(("q0", "A"), ("q1", "hid"), ("q2", "slept"), ("q3", "slept"), rows=rows, split="all")
    assert found.tables[0].rows == (("A", "negation", 0.25, 4), ("A", "negation of a wrong option", 0.5, 4))


def test_the_balanced_subset_is_scored_on_its_own() -> None:
    given = (("q0", "A", "joy"), ("q1", "A", "C"), ("q2", "B", "joy"), ("q3", "A", "A"))
    rows = [{**row, "blind_guessable": number == 0} for number, row in enumerate(ROWS)]
    found = score(*given, rows=rows, split="all")
    assert found.headline["A"].value == 0.75
    of_subset = [(name, part, of) for name, _, part, of in found.tables[0].rows]
    assert of_subset == [("A", 3, 4), ("E", 3, 4), ("A+E", 3, 4)]
    assert [row[1].value for row in found.tables[0].rows] == pytest.approx([2 / 3, 1 / 3, 0])
    assert [table.name for table in score(*given, split="all").tables] == ["kinds"]
    found = score(*[row[:2] for row in given[1:]], rows=rows, split="all", partial=True)  # without the easy one
    assert [(row[1].value, *row[2:]) for row in found.tables[0].rows] == [(pytest.approx(2 / 3), 3, 3)]


@pytest.mark.parametrize(
    ("right", "questions", "low", "high"), [(20, 100, 0.1334, 0.2888), (0, 50, 0.0, 0.0713), (50, 50, 0.9287, 1.0)]
)
def test_wilson_interval_of_a_baseline(right: int, questions: int, low: float, high: float) -> None:
    accuracy = BestBaseline("ud", "test", "answer", "", right, questions, 0.2).accuracy
    assert (accuracy.value, accuracy.low, accuracy.high) == pytest.approx((right / questions, low, high), abs=1e-4)
