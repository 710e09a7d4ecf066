from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.core.results import Estimate, Spread
from stressreel.evaluation.metrics.bootstrap import Tally
from stressreel.evaluation.metrics.comparison import Comparison, RunScore, compare_models, mean_and_std, verdict
from stressreel.evaluation.metrics.scores import SavedScores

SOURCES = tuple("abcdefgh")
FINE = [
    {"video": "V", "type": "E", "accuracy": 1.0, "questions": 4},
    {"video": "V", "type": "BA", "accuracy": None, "questions": 0},
]


def family(name: str, mean: float, std: float, settings: int) -> dict[str, Any]:
    estimate = {"value": mean, "low": None, "high": None}
    return {"score": "R@5", "family": name, "γr": estimate, "γr std": std, "settings": settings}


def scored(accuracy: float | None, name: str = "a", config: str = "questions", **about: Any) -> SavedScores:
    value = {"value": accuracy, "low": None, "high": None}
    whole = {
        "benchmark": "clavi",
        "config": config,
        "split": "test",
        "output": {"fingerprint": "f" * 64},
        "answers": {"scored_sha256": config},
        "headline": {"accuracy": value, "CAcc_V": {"value": 0.5, "low": 0.4, "high": 0.6}},
        "tables": {"fine": FINE, "families": [family("blur", 0.5, 0.1, 2), family("noise", 0.3, 0.2, 2)]},
    }
    right = np.full((len(SOURCES), 1), 10 * (accuracy or 0)) + np.arange(len(SOURCES))[:, None] % 2
    return SavedScores(name, whole | about, Tally(SOURCES, ("accuracy",), right, np.full_like(right, 10)))


def combined(models: dict[str, list[SavedScores]], *args: Any, **options: Any) -> Comparison:
    """Compare models by the mean of each cell."""
    return compare_models(models, lambda benchmark, cells: dict, *args, **options)


def test_mean_and_deviation_over_runs() -> None:
    """0.6, 0.7 and 0.8: mean 0.7, deviations ±0.1 and 0, divided by n - 1: 0.1."""
    table = combined({"A": [scored(0.6), scored(0.7), scored(0.8)], "B": [scored(0.9)]})
    assert table.scores == ("accuracy", "CAcc_V")
    assert table.cells["accuracy", "A"] == Spread(pytest.approx(0.7), pytest.approx(0.1), 3)
    assert table.cells["CAcc_V", "A"] == Spread(0.5, 0, 3)
    assert isnan(table.cells["accuracy", "B"].std)
    assert "accuracy  0.700 ± 0.100  0.900" in str(table)
    assert "| A | 0.700 ± 0.100 | 0.500 ± 0.000 |" in replace(table, transposed=True).render("markdown")
    assert "accuracy              –" in str(combined({"A": [scored(None), scored(0.5)]}))


@given(st.lists(st.lists(st.floats(0, 2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_deviation_over_settings_pools_all_runs(runs: list[list[float]]) -> None:
    found = mean_and_std([RunScore(float(np.mean(run)), float(np.std(run)), len(run)) for run in runs])
    assert (found.mean, found.std) == pytest.approx((np.mean(runs), np.std(runs)), abs=1e-7)


def test_shared_labels_move_to_the_title() -> None:
    table = combined({"A": [scored(0.5)]}, "fine")
    assert table.scores == ("E", "BA")  # counts are no scores
    assert table.title == "clavi, questions, test, V, accuracy"
    families = combined({"A": [scored(0.5), scored(0.5)]}, "families", ["noise"])
    assert families.over_settings
    assert families.cells == {("γr", "A"): Spread(0.3, pytest.approx(0.2), 2)}


def test_two_models_have_paired_differences() -> None:
    """Two tallies that differ by 0.2 in every source differ by 0.2 in every resample."""
    models = {"A": [scored(0.5)], "B": [scored(0.7, "b")]}
    found = combined(models)
    (gap,) = found.differences
    assert (gap.score, gap.a, gap.b, gap.verdict) == ("accuracy", pytest.approx(0.55), pytest.approx(0.75), "B higher")
    assert vars(gap.difference) == pytest.approx({"value": 0.2, "low": 0.2, "high": 0.2})
    assert found.as_tables()[0].headings == ("score", "A", "B", "B - A [95% interval]", "verdict")
    turned = combined(dict(reversed(models.items())), seed=3).differences[0]
    assert (turned.difference.high, turned.verdict) == (pytest.approx(-0.2), "B higher")
    assert combined({"A": models["A"], "B": models["A"]}).differences[0].verdict == "equal"
    assert verdict(Estimate(0.1, -0.1, 0.3), "A", "B") == "no difference shown"
    for others, of, only in (
        (models, "headline", ["CAcc_V"]),
        (models, "fine", []),
        ({"A": [scored(0.5)], "B": [scored(0.5), scored(0.6)]}, "headline", []),
    ):
        assert combined(others, of, only).differences == ()


def test_incomparable_scores_are_refused() -> None:
    for about, says in (
        ({"split": "train"}, "one belongs to split test, the other to train"),
        ({"output": {"fingerprint": "e" * 64}}, "one belongs to output ffff"),
        ({"config": "un", "answers": {"scored_sha256": "un"}}, "different questions .tables questions and un"),
        ({"headline": {"accuracy": {}}}, "is damaged"),
    ):
        with pytest.raises(InputError, match=says):
            combined({"A": [scored(0.5)], "B": [scored(0.5, "b", **about)]})
