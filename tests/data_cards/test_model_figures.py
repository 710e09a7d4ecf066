"""Figures of several models: what is drawn."""

from typing import Any

import pytest
from figures import keep_drawn
from stressreel.core.errors import UsageError
from stressreel.core.results import Spread
from stressreel.data_cards import model_figures
from stressreel.evaluation.metrics.model_table import ModelTable

NONE = float("nan")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return keep_drawn(monkeypatch, model_figures)


def test_models_are_bars_beside_one_another(drawn: list[Any]) -> None:
    cells = {
        ("E", "A"): Spread(0.5, 0.1, 2),
        ("E", "B"): Spread(1.1, NONE, 1),
        ("BA", "A"): None,
        ("BA", "B"): Spread(0.25, 0.5, 2),
    }
    model_figures.models_png(ModelTable("title", ("A", "B"), ("E", "BA"), cells, over_settings=False))
    axes = drawn[0].axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["E", "BA"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0, 1.1, 0.25]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["A", "B"]
    assert [list(line.get_xdata()) for line in axes.lines] == [pytest.approx([0.4, 0.6]), [0, 0.75]]
    assert axes.get_xlim()[1] > 1.1
    names = tuple(map(str, range(200)))
    many = ModelTable("", ("A",), names, {(name, "A"): None for name in names}, over_settings=False)
    with pytest.raises(UsageError, match="200 bars are too many"):
        model_figures.models_png(many)


def test_scores_against_one_of_them(drawn: list[Any]) -> None:
    cells = {
        ("clean", "A"): Spread(0.5, NONE, 1),
        ("clean", "B"): Spread(0.7, 0.1, 2),
        ("γr", "A"): Spread(0.9, 0.2, 1),
        ("γr", "B"): Spread(0.8, 0.0, 2),
        ("γa", "A"): None,
        ("γa", "B"): Spread(1.0, NONE, 1),
    }
    table = ModelTable("title", ("A", "B"), ("clean", "γr", "γa"), cells, over_settings=False)
    model_figures.against_png(table, "clean")
    first, second, *_ = drawn[0].axes
    assert (first.get_xlabel(), first.get_ylabel(), second.get_ylabel()) == ("clean", "γr", "γa")
    points = [(float(dot[0].get_xdata()[0]), float(dot[0].get_ydata()[0])) for dot in first.containers]
    assert points == [(0.5, 0.9), (0.7, 0.8)]
    assert [text.get_text() for text in second.texts] == ["B"]
    with pytest.raises(UsageError, match="--against x: give one of the scores shown"):
        model_figures.against_png(table, "x")
