import pytest
from stressreel.builders.causal.card import BestBaseline


@pytest.mark.parametrize(
    ("right", "questions", "low", "high"),
    [(20, 100, 0.1334, 0.2888), (0, 50, 0.0, 0.0713), (50, 50, 0.9287, 1.0), (40, 100, 0.3094, 0.4980)],
)
def test_wilson_interval(right: int, questions: int, low: float, high: float) -> None:
    accuracy = BestBaseline("ud", "test", "answer", "", right, questions, 0.2).accuracy
    assert (accuracy.value, accuracy.low, accuracy.high) == pytest.approx((right / questions, low, high), abs=1e-4)
