"""Numbers of the CausalChaos card; the card as a whole is built in tests/cli."""

import pytest
from stressreel.builders.causal.card import BaselineShare, blind_png, clips_png, wrong_options
from stressreel.core.schema import Column, Config


@pytest.mark.parametrize(
    ("right", "total", "low", "high", "verdict"),
    [
        (20, 100, 0.1334, 0.2888, "chance"),
        (0, 50, 0.0, 0.0713, "below chance"),
        (50, 50, 0.9287, 1.0, "above chance"),
        (40, 100, 0.3094, 0.4980, "above chance"),
    ],
)
def test_wilson_interval(right: int, total: int, low: float, high: float, verdict: str) -> None:
    guess = BaselineShare("longest", right, total, 0.2)
    assert guess.interval == pytest.approx((low, high), abs=1e-4)
    assert guess.verdict == verdict


def test_wrong_options_are_counted_by_kind() -> None:
    def source(qid: str, kind: str, cosine: float) -> dict[str, object]:
        return {"qid": qid, "kind": kind, "cos_question": 0.5, "cos_text": cosine, "score": None}

    rows = [
        {
            "options": ["ab", "abcd", "abcdef"],
            "answer_index": 0,
            "sources": [source("1", "right", 1), source("2", "hard", 0.4), source("1", "swap", 0.8)],
        }
    ]
    found = wrong_options("ud", "answer", rows)
    assert found.kinds == {"hard": 1, "swap": 1}
    assert found.cos_text is not None
    assert found.cos_text.mean == pytest.approx(0.6)
    assert found.most == ("2", 1)
    assert found.letters == (2, 5)
    assert found.places == {0: 1}


@pytest.mark.usefixtures("paint")
def test_figures_are_the_same_each_time() -> None:
    guesses = {
        "ud": {
            "test": {
                "answer": [BaselineShare("longest", 3, 9, 0.2)],
                "explanation": [BaselineShare("longest", 1, 9, 0.2)],
            }
        }
    }
    assert blind_png(guesses) == blind_png(guesses)
    assert clips_png([20, 30, 400]) == clips_png([20, 30, 400])


def test_records_are_lists_of_structs() -> None:
    import datasets

    column = Column("sources", "records", "m", fields=(Column("qid", "string", "m"), Column("cos", "float64", "m")))
    config = Config("c", "m", (column,))
    features = datasets.Features.from_arrow_schema(config.schema())
    assert features.arrow_schema.types == config.schema().types
    assert config.encode({"sources": [{"qid": "1", "cos": 0.5}]}) == {"sources": [{"qid": "1", "cos": 0.5}]}
