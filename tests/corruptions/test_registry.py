import pytest
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import (
    SEVERITIES,
    list_corruptions,
    select_corruptions,
    select_text_corruptions,
    visual_corruptions,
)

PAPER = {  # appendix A.1; "code" where the paper has none, REFERENCE
    "gaussian_noise": [0.08, 0.12, 0.18, 0.26, 0.38],
    "shot_noise": [250, 100, 50, 30, 15],
    "impulse_noise": [0.03, 0.06, 0.09, 0.17, 0.27],
    "speckle_noise": [0.15, 0.2, 0.25, 0.3, 0.35],
    "jpeg": [25, 18, 15, 10, 7],
    "mpeg1": [20, 40, 60, 80, 100],
    "mpeg2": [15, 30, 45, 60, 75],
    "static_rotate": [7.5, 15, 30, 45, 90],
    "sampling": [2, 4, 8, 16, 32],
    "reverse_sampling": [2, 4, 8, 16, 32],
    "jumble": [32, 16, 8, 4, 2],
    "box_jumble": [4, 9, 16, 25, 36],
    "freeze": [0.4, 0.2, 0.1, 0.05, 0.025],
}


def test_written_quantisers_are_at_most_31() -> None:
    mpeg1 = visual_corruptions()["mpeg1"]
    assert [mpeg1.level(s) for s in SEVERITIES] == ["20", "40", "60", "80", "100"]
    assert [mpeg1.written_quantiser(s) for s in SEVERITIES] == [20, 31, 31, 31, 31]
    assert visual_corruptions()["jpeg"].written_quantiser(1) is None


def test_levels_are_the_papers() -> None:
    found = {name: [level for (level, *_) in visual_corruptions()[name].levels] for name in PAPER}
    assert found == PAPER


def test_select_by_name_family_and_all() -> None:
    visual = select_corruptions(["jpeg", "noise", "gaussian_noise"])
    assert [each.name for each in visual] == ["gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "jpeg"]
    text = select_text_corruptions(["drop_last", "bias", "all_male"])
    assert [each.name for each in text] == ["all_female", "all_male", "gender_neutral", "gender_swap", "drop_last"]
    assert (len(select_corruptions(["all"])), len(select_text_corruptions(["all"]))) == (18, 35)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(InputError, match="Did you mean 'gaussian_noise'"):
        select_corruptions(["gausian_noise"])
    with pytest.raises(InputError, match=r"Did you mean 'typos'.*stressreel list text"):
        select_text_corruptions(["typo"])
    with pytest.raises(InputError, match="Choose from visual"):
        list_corruptions("sound")
