"""Perturbations of edited web videos, which are not part of the paper's 18."""

import numpy as np
import pytest
from stressreel.corruptions.registry import EXTRA, list_corruptions, select_corruptions
from stressreel.corruptions.visual.engine import corrupt
from stressreel.corruptions.visual.extra import overlay_emoji, overlay_text, padding, speed

NAMES = [c.name for c in list_corruptions() if c.family == EXTRA]
GREY = np.full((120, 160, 3), 90, np.uint8)


def test_all_selects_the_papers_perturbations_alone() -> None:
    assert len(select_corruptions(["all"])) == 18
    assert [c.name for c in select_corruptions(["extra"])] == NAMES
    assert len(select_corruptions(["all", "speed"])) == 19


def test_text_is_white_on_black_in_the_middle() -> None:
    shown = overlay_text(GREY, 0.16)
    rows, columns = np.nonzero((shown == 255).all(-1))
    assert rows.max() - rows.min() + 1 == round(0.16 * 120)
    assert abs(rows.mean() - 59.5) < 5
    assert abs(columns.mean() - 79.5) < 5
    assert set(np.unique(shown)) == {0, 90, 255}
    assert not np.array_equal(shown, overlay_text(GREY, 0.12))


def test_face_has_the_diameter_of_its_level() -> None:
    changed = (overlay_emoji(GREY, 0.5) != 90).any(-1)
    assert np.ptp(np.nonzero(changed)[0]) == pytest.approx(60, abs=2)
    assert np.ptp(np.nonzero(changed)[1]) == pytest.approx(60, abs=2)


def test_padding_shrinks_the_whole_frame() -> None:
    shown = padding(GREY, 0.25)
    assert (shown[30:90, 40:120] == 90).all()
    assert shown.astype(int).sum() == 90 * 60 * 80 * 3


def test_speed_holds_the_last_frame() -> None:
    assert speed(8, 2).tolist() == [0, 2, 4, 6, 7, 7, 7, 7]
    assert speed(6, 1.25).tolist() == [0, 1, 2, 3, 5, 5]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(4, 1, 1, 3), (4, 3, 200), (2, 200, 3, 1), (1, 33, 57, 3)])
def test_any_shape_keeps_its_size(name: str, shape: tuple[int, ...]) -> None:
    frames = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    before = frames.copy()
    for severity in (1, 5):
        assert corrupt(frames, name, severity=severity).shape == shape
    assert np.array_equal(frames, before)
