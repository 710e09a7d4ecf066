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
    "static_rotate": (7.5, 15, 30, 45, 90),
    "sampling": (2, 4, 8, 16, 32),
    "reverse_sampling": (2, 4, 8, 16, 32),
    "jumble": (32, 16, 8, 4, 2),
    "box_jumble": (4, 9, 16, 25, 36),
    "freeze": (0.4, 0.2, 0.1, 0.05, 0.025),
}


def test_levels_are_those_of_the_paper() -> None:
    assert {name: tuple(level for (level, *_) in visual_corruptions()[name].levels) for name in PAPER} == PAPER
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


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"'gausian_noise'.* 'gaussian_noise'"):
        select_corruptions(["gausian_noise"])
    with pytest.raises(InputError, match="'camera'"):
        select_corruptions(["camra"])
    with pytest.raises(InputError, match=r"'typos'.*text"):
        select_text_corruptions(["typo"])
    with pytest.raises(InputError, match="'typos' is a text perturbation"):
        check_name("typos")
    with pytest.raises(InputError, match=r"'sound'.*visual"):
        list_corruptions("sound")
