from pathlib import Path

import numpy as np
import pytest
from stressreel.builders.causal.scores import count, measure, score_rows, tables
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.evaluation.metrics.predictions import Predictions
from stressreel.evaluation.metrics.scores import ScoreOptions

KINDS = [{"qid": "other", "kind": kind} for kind in ("right", "hard", "random")]
ROWS = [
    {
        "qid": f"q{number}",
        "episode": f"S01E0{number % 2}",
        "blind_guessable": None,
        "options": ["ran", "hid", "slept"],
        "answer_index": 0,
        "sources": KINDS,
        "explanation_options": ["fear", "joy", "rain"],
        "explanation_index": 1,
        "explanation_sources": [{"qid": "other", "kind": kind} for kind in ("hard", "right", "hard")],
    }
    for number in range(4)
]
SPLITS = ["test"] * 3 + ["train"]


def predict(*answers: tuple[str, ...]) -> Predictions:
    names = ("id", "answer", "explanation")
    return Predictions(Path("p.jsonl"), [dict(zip(names, row, strict=False)) for row in answers])


def test_causal_questions_with_explanations() -> None:
    found = score_rows(
        ROWS, SPLITS, predict(("q0", "A", "joy"), ("q1", "A", "C"), ("q2", "swap?", "joy")), ScoreOptions("test")
    )
    assert {name: each.value for name, each in found.headline.items()} == pytest.approx(
        {"A": 2 / 3, "E": 2 / 3, "A+E": 1 / 3}
    )
    assert found.answers["unreadable"] == 1
    assert found.answers["explanations"]["unreadable"] == 0
    assert {row[:2]: row[2] for row in found.tables[0].rows} == pytest.approx(
        {("A", "hard"): 0, ("A", "random"): 0, ("E", "hard"): 1 / 3}
    )


def test_missing_explanation_is_excluded() -> None:
    given = (("q0", "A", "joy"), ("q1", "A"), ("q2", "A", "perhaps"))
    with pytest.raises(InputError, match=r"1 of 3 ids have no prediction \(q1\)"):
        score_rows(ROWS, SPLITS, predict(*given), ScoreOptions("test"))
    found = score_rows(ROWS, SPLITS, predict(*given), ScoreOptions("test", partial=True))
    assert {name: each.value for name, each in found.headline.items()} == {"A": 1, "E": 0.5, "A+E": 0.5}
    assert found.answers["unreadable"] == 0
    assert found.answers["explanations"]["unreadable"] == 1
    assert found.answers["explanations"]["missing"] == 1


def test_protocol_2_needs_explanations() -> None:
    found = score_rows(ROWS, SPLITS, predict(("q0", "C"), ("q1", "A"), ("q2", "slept")), ScoreOptions("test"))
    assert list(found.headline) == ["A"]
    assert found.tables[0].rows[1] == ("A", "random", pytest.approx(2 / 3), 3)
    assert "protocol 2" in found.footnotes[0]


def test_protocols_and_kinds_of_wrong_options() -> None:
    truth = np.array([0, 1, 2, 3])
    answers = np.array([0, 1, 0, -1])  # the last cannot be read
    explanations = np.array([0, 0, 2, 3])
    kinds = [["hard"] * 4 for _ in range(4)]
    kinds[2][0] = "swap"
    counted = count(["a", "a", "b", "b"], {"A": (answers, truth), "E": (explanations, truth)}, {"A": kinds})
    found = estimates(counted, measure, resamples=100)
    assert {name: each.value for name, each in found.items()} == {"A": 0.5, "E": 0.75, "A+E": 0.25}
    (table,) = tables(counted)
    assert table.rows == (("A", "hard", 0.0, 4), ("A", "swap", 1.0, 1))


def test_twins_of_wrong_options_count_separately() -> None:
    turned = [{"kind": "right", "qid": "q"}, {"kind": "negation", "qid": "q"}, {"kind": "negation", "qid": "other"}]
    rows = [{**row, "qid": f"q{n}", "sources": [{**one, "qid": one["qid"].replace("q", f"q{n}")} for one in turned]}
            for n, row in enumerate(ROWS)]  # fmt: skip
    found = score_rows(
        rows, SPLITS, predict(("q0", "A"), ("q1", "hid"), ("q2", "slept"), ("q3", "slept")), ScoreOptions("all")
    )
    assert found.tables[0].rows == (("A", "negation", 0.25, 4), ("A", "negation of a wrong option", 0.5, 4))


def test_the_balanced_subset_is_scored_on_its_own() -> None:
    given = predict(("q0", "A", "joy"), ("q1", "A", "C"), ("q2", "B", "joy"), ("q3", "A", "A"))
    rows = [{**row, "blind_guessable": number == 0} for number, row in enumerate(ROWS)]
    found = score_rows(rows, SPLITS, given, ScoreOptions("all"))
    assert found.headline["A"].value == 0.75
    table = found.tables[0]
    assert table.name == "balanced"
    assert [(name, pytest.approx(score.value), part, of) for name, score, part, of in table.rows] == [
        ("A", 2 / 3, 3, 4),
        ("E", 1 / 3, 3, 4),
        ("A+E", 0, 3, 4),
    ]
    nothing = score_rows([{**row, "blind_guessable": None} for row in ROWS], SPLITS, given, ScoreOptions("all"))
    assert [table.name for table in nothing.tables] == ["kinds"]


def test_missing_answers_leave_the_balanced_subset_in_step() -> None:
    rows = [{**row, "blind_guessable": number == 1} for number, row in enumerate(ROWS)]
    found = score_rows(rows, SPLITS, predict(("q1", "A"), ("q2", "B"), ("q3", "A")), ScoreOptions("all", partial=True))
    assert [(score.value, part, of) for _, score, part, of in found.tables[0].rows] == [(0.5, 2, 3)]
