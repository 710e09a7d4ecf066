"""Figures that every score has: what is drawn, and what their titles promise."""

from typing import Any

import numpy as np
import pytest
from figures import keep_drawn
from stressreel.data_cards import score_figures as figures
from stressreel.metrics.bootstrap import Estimate, tally
from stressreel.metrics.scores import Scores

NONE = float("nan")


def scores(benchmark: str, headline: dict[str, Estimate]) -> Scores:
    counted = tally(["s"], {"A": (np.zeros(1, np.intp), np.ones(1))})
    return Scores(benchmark, "test", {}, headline, (), counted)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return keep_drawn(monkeypatch, figures)


def test_scores_above_one_are_drawn_as_shares_of_their_best(drawn: list[Any]) -> None:
    headline = {
        "A BLEU-1": Estimate(0.5, 0.4, 0.6),
        "A CIDEr": Estimate(7.5, 5.0, 8.0),
        "CapsMIX": Estimate(17.0, NONE, NONE),
        "normalised mean": Estimate(NONE, NONE, NONE),
    }
    found = scores("open-ended", headline)
    assert list(figures.score_figures(found)) == ["scores.png"]
    axes = drawn[0].axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *("A BLEU-1", "A CIDEr / 10", "CapsMIX / 34", "normalised mean")
    ]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.5, 0.75, 0.5, 0])
    assert [text.get_text() for text in axes.texts] == ["0.500", "0.750", "0.500", "–"]
    assert [list(line.get_xdata()) for line in axes.lines] == [[0.4, 0.6], [0.5, 0.8]]
    assert axes.get_title("left") == "Scores, 95 % intervals"


def test_a_title_promises_no_intervals_where_there_are_none(drawn: list[Any]) -> None:
    figures.score_figures(scores("causal", {"A": Estimate(0.5, NONE, NONE)}))
    assert drawn[0].axes[0].get_title("left") == "Scores"
