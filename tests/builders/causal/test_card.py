import pytest
from stressreel.builders.causal.card import BaselineShare, wrong_options


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
