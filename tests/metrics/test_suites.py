"""Names of a suite's settings."""

import pytest
from stressreel.builders.perturbed.scores import read_setting
from stressreel.metrics.robustness import Setting


@pytest.mark.parametrize(
    "setting", [Setting(), Setting("jpeg", 3), Setting(text="no_verbs"), Setting("box_jumble", 3, "all_male")]
)
def test_names_of_settings_are_read_back(setting: Setting) -> None:
    assert read_setting(setting.name) == setting
