"""Scores of a suite, by the names of its settings, and their figures."""

import numpy as np
import pytest
from figures import keep_drawn
from stressreel.builders.parts import measure_of
from stressreel.builders.perturbed import score_figures as figures
from stressreel.builders.perturbed.scores import families, read_setting
from stressreel.evaluation.metrics import robustness
from stressreel.evaluation.metrics.bootstrap import estimates, tally
from stressreel.evaluation.metrics.robustness import Setting, Suite
from stressreel.evaluation.metrics.scores import Scores

SETTINGS = (
    *(Setting(), Setting("jpeg", 1), Setting("jpeg", 3), Setting("freeze", 3), Setting(text="typos")),
    *(Setting(text="keyboard"), Setting("jpeg", 3, "typos"), Setting("box_jumble", 3, "all_male")),
)
RECALLS = {"R@1": 0.5, "R@5": 0.8, "R@10": 0.9}


@pytest.mark.parametrize("setting", SETTINGS)
def test_names_of_settings_are_read_back(setting):
    assert read_setting(setting.name) == setting


def test_a_suites_measure_comes_from_its_cells():
    cells = [f"{name} R@1" for name in ("clean", "jpeg-1", "no_verbs", "jpeg-3+no_verbs")]
    scores = measure_of("perturbed", cells)({name: np.array([0.5]) for name in cells})
    assert scores["R@1 γr multimodal"] == 1
    assert "R@1 γa video, digital" in scores


def suite(values, clips=12, settings=SETTINGS):
    """Scores of a suite: the value of each score clean; perturbed it is half of that."""
    cells = {
        robustness.cell(setting, name): (np.arange(8), np.full(8, value if setting == Setting() else value / 2))
        for setting in settings
        for name, value in values.items()
    }
    measured = Suite(settings, tuple(values), families(settings))
    counted = tally([f"s{number}" for number in range(8)], cells)
    scored = estimates(counted, lambda means: robustness.measure(measured, means), resamples=100)
    changed = dict.fromkeys(("typos", "keyboard", "all_male"), 1.0)
    tables = robustness.tables(measured, counted, scored, changed)
    return Scores("perturbed", "test", {"clips": clips}, robustness.headline(scored), tables, counted)


@pytest.mark.parametrize(
    ("values", "clips", "shown"), [(RECALLS, 49, "R@1"), (RECALLS, 50, "R@5"), ({"accuracy": 0.5}, 12, "accuracy")]
)
def test_few_clips_are_shown_by_recall_at_one(monkeypatch, values, clips, shown):
    drawn = keep_drawn(monkeypatch, figures)
    assert list(figures.robustness_figures(suite(values, clips))) == ["severity.png", "text.png", "pairs.png"]
    severity, text, pairs = drawn
    assert {axes.get_ylabel() for axes in severity.axes} == {shown}
    assert text.axes[0].get_title("left") == f"{shown} under text perturbations"
    assert pairs.axes[0].get_title("left") == f"Relative robustness of pairs, {shown}"
    jpeg = next(line for line in severity.axes[0].lines if line.get_label() == "jpeg")
    assert list(jpeg.get_ydata()) == pytest.approx([values[shown] / 2] * 2)


def test_only_what_was_scored_is_drawn_and_nothing_relative_to_nothing():
    assert list(figures.robustness_figures(suite(RECALLS, settings=SETTINGS[:4]))) == ["severity.png"]
    assert list(figures.robustness_figures(suite(RECALLS, settings=(SETTINGS[0], SETTINGS[4])))) == ["text.png"]
    nothing = figures.robustness_figures(suite(dict.fromkeys(RECALLS, 0.0)))  # warnings are errors here
    assert list(nothing) == ["severity.png", "text.png"]
