"""Figures of a suite's scores: which are drawn, of which score, and that nothing runs off the paper."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from figures import keep_drawn
from PIL import Image
from stressreel.builders.perturbed import score_figures as figures
from stressreel.builders.perturbed.scores import families
from stressreel.evaluation.metrics import robustness
from stressreel.evaluation.metrics.bootstrap import estimates, tally
from stressreel.evaluation.metrics.robustness import Setting, Suite
from stressreel.evaluation.metrics.scores import Scores

SETTINGS = (
    *(Setting(), Setting("jpeg", 1), Setting("jpeg", 3), Setting("freeze", 3), Setting(text="typos")),
    *(Setting(text="keyboard"), Setting("jpeg", 3, "typos"), Setting("freeze", 3, "keyboard")),
)


def suite(values: Mapping[str, float], clips: int = 12, settings: tuple[Setting, ...] = SETTINGS) -> Scores:
    """Scores of a suite: the value of each score clean; perturbed it is half of that."""
    cells = {
        robustness.cell(setting, name): (np.arange(8), np.full(8, value if setting == Setting() else value / 2))
        for setting in settings
        for name, value in values.items()
    }
    measured = Suite(settings, tuple(values), families(settings))
    counted = tally([f"s{number}" for number in range(8)], cells)
    scored = estimates(counted, lambda means: robustness.measure(measured, means), resamples=100)
    changed = {"typos": 1.0, "keyboard": 1.0}
    tables = robustness.tables(measured, counted, scored, changed)
    return Scores("perturbed", "test", {"clips": clips}, robustness.headline(scored), tables, counted)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return keep_drawn(monkeypatch, figures)


RECALLS = {"R@1": 0.5, "R@5": 0.8, "R@10": 0.9}


@pytest.mark.parametrize(
    ("values", "clips", "shown"),
    [(RECALLS, 12, "R@1"), (RECALLS, 49, "R@1"), (RECALLS, 50, "R@5"), ({"accuracy": 0.5}, 12, "accuracy")],
)
def test_few_clips_are_shown_by_recall_at_one(
    drawn: list[Any], values: dict[str, float], clips: int, shown: str
) -> None:
    found = figures.robustness_figures(suite(values, clips))
    assert list(found) == ["severity.png", "text.png", "pairs.png"]
    severity, text, pairs = drawn
    assert {axes.get_ylabel() for axes in severity.axes} == {shown}
    assert text.axes[0].get_title("left") == f"{shown} under text perturbations"
    assert pairs.axes[0].get_title("left") == f"Relative robustness of pairs, {shown}"
    jpeg = next(line for line in severity.axes[0].lines if line.get_label() == "jpeg")
    assert list(jpeg.get_ydata()) == pytest.approx([values[shown] / 2] * 2)


def test_only_what_was_scored_is_drawn() -> None:
    assert list(figures.robustness_figures(suite(RECALLS, settings=SETTINGS[:4]))) == ["severity.png"]
    assert list(figures.robustness_figures(suite(RECALLS, settings=(SETTINGS[0], SETTINGS[4])))) == ["text.png"]


def test_pairs_are_not_drawn_relative_to_nothing() -> None:
    nothing = figures.robustness_figures(suite(dict.fromkeys(RECALLS, 0.0)))  # warnings are errors here
    assert list(nothing) == ["severity.png", "text.png"]


@pytest.mark.usefixtures("paint")
@pytest.mark.parametrize("settings", [SETTINGS, (*SETTINGS, *(Setting("jpeg", 3, name) for name in ("ocr", "tense")))])
def test_the_heat_map_fills_its_width(settings: tuple[Setting, ...]) -> None:
    values = {setting: 0.9 if setting == Setting() else 0.6 for setting in settings}
    picture = np.asarray(Image.open(io.BytesIO(figures.pairs_png(values, "R@1"))).convert("L"))
    inked = np.flatnonzero((picture < 250).any(axis=0))
    assert inked[0] < 0.02 * picture.shape[1]
    assert inked[-1] > 0.98 * picture.shape[1]
    assert (picture < 250).mean() > 0.3
