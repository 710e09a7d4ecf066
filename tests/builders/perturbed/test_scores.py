"""Scores of a suite, by the names of its settings."""

import numpy as np
import pytest
from stressreel.builders.parts import measure_of
from stressreel.builders.perturbed.scores import read_setting
from stressreel.evaluation.metrics.robustness import Setting


@pytest.mark.parametrize(
    "setting", [Setting(), Setting("jpeg", 3), Setting(text="no_verbs"), Setting("box_jumble", 3, "all_male")]
)
def test_names_of_settings_are_read_back(setting: Setting) -> None:
    assert read_setting(setting.name) == setting


def test_a_suites_measure_comes_from_its_cells() -> None:
    cells = [f"{name} R@1" for name in ("clean", "jpeg-1", "no_verbs", "jpeg-3+no_verbs")]
    scores = measure_of("perturbed", cells)({name: np.array([0.5]) for name in cells})
    assert scores["R@1 γr multimodal"] == 1
    assert "R@1 γa video, digital" in scores
