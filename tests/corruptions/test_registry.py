from collections.abc import Callable
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import (
    SEVERITIES,
    check_name,
    list_corruptions,
    select_corruptions,
    select_text_corruptions,
    visual_corruptions,
)

PAPER = {  # appendix A.1; from the released code where the paper has none
    "gaussian_noise": (0.08, 0.12, 0.18, 0.26, 0.38),
    "shot_noise": (250, 100, 50, 30, 15),
    "impulse_noise": (0.03, 0.06, 0.09, 0.17, 0.27),
    "speckle_noise": (0.15, 0.2, 0.25, 0.3, 0.35),
    "jpeg": (25, 18, 15, 10, 7),
    "mpeg1": (20, 40, 60, 80, 100),
    "mpeg2": (15, 30, 45, 60, 75),
    "zoom_blur": ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
    "defocus_blur": ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    "motion_blur": ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    "static_rotate": (7.5, 15, 30, 45, 90),
    "sampling": (2, 4, 8, 16, 32),
    "reverse_sampling": (2, 4, 8, 16, 32),
    "jumble": (32, 16, 8, 4, 2),
    "box_jumble": (4, 9, 16, 25, 36),
    "freeze": (0.4, 0.2, 0.1, 0.05, 0.025),
}


def test_levels_are_those_of_the_paper() -> None:
    levels = {name: visual_corruptions()[name].levels for name in PAPER}
    assert {name: tuple(level if level[1:] else level[0] for level in levels[name]) for name in PAPER} == PAPER
    mpeg1 = check_name("mpeg1")
    assert [mpeg1.level(severity) for severity in SEVERITIES] == ["20", "40", "60", "80", "100"]
    assert [mpeg1.written_quantiser(severity) for severity in SEVERITIES] == [20, 31, 31, 31, 31]
    assert check_name("jpeg").written_quantiser(1) is None


def test_select_by_name_family_and_all() -> None:
    visual = [corruption.name for corruption in select_corruptions(["jpeg", "noise", "gaussian_noise"])]
    assert visual == ["gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "jpeg"]
    text = [corruption.name for corruption in select_text_corruptions(["drop_last", "bias", "all_male"])]
    assert text == ["all_female", "all_male", "gender_neutral", "gender_swap", "drop_last"]
    assert (len(select_corruptions(["all"])), len(select_text_corruptions(["all"]))) == (18, 35)


@pytest.mark.parametrize(
    ("select", "name", "suggestion"),
    [
        (select_corruptions, ["gausian_noise"], "'gaussian_noise'"),
        (select_corruptions, ["camra"], "'camera'"),
        (select_text_corruptions, ["typo"], "'typos'"),
        (check_name, "typos", "'typos' is a text perturbation"),
        (list_corruptions, "sound", "visual"),
    ],
)
def test_unknown_names_get_a_suggestion(select: Callable[[Any], object], name: Any, suggestion: str) -> None:
    with pytest.raises(InputError, match=suggestion):
        select(name)
