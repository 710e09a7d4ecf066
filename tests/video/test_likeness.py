"""Two encodings of the same pictures are alike, and whatever else differs is told."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from stressreel.video.encode import EncodeSettings, Sound
from stressreel.video.likeness import compare_videos
from tampering import Pictures, beeping, marked, written

SETTINGS = EncodeSettings(crf=20, preset="ultrafast")


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    """Twelve frames of smooth colours that move."""
    y, x = np.mgrid[:48, :64]
    frames = [np.stack([60 + 2 * x % 128, 60 + y + 4 * number, 120 - x // 2 + y], axis=2) for number in range(12)]
    return np.stack(frames).astype(np.uint8)


@pytest.fixture(scope="module")
def sound() -> Sound:
    return Sound(np.sin(np.arange(48_000) / 20, dtype=np.float32)[None] * 0.3, 48_000)


def test_another_quality_is_alike_and_its_worst_frame_is_measured(pictures: Pictures) -> None:
    fine, coarse = (written(pictures, None, EncodeSettings(crf=crf, preset="ultrafast")) for crf in (10, 35))
    assert fine != coarse
    found = compare_videos(fine, coarse)
    assert found.kind == "alike"
    assert found.decibels is not None
    assert 30 <= found.decibels < 60
    assert compare_videos(fine, fine).decibels == 100


def test_one_other_frame_is_enough(pictures: Pictures) -> None:
    changed = pictures.copy()
    changed[7] = 255 - changed[7]
    found = compare_videos(written(pictures, None, SETTINGS), written(changed, None, SETTINGS))
    assert found.kind == "pictures"
    assert found.decibels is not None
    assert found.decibels < 20


def test_a_mark_in_a_corner_is_seen(pictures: Pictures) -> None:
    assert (
        compare_videos(written(pictures, None, SETTINGS), written(marked(pictures), None, SETTINGS)).kind == "pictures"
    )


def test_frames_size_and_times(pictures: Pictures) -> None:
    whole = written(pictures, None, SETTINGS)
    found = compare_videos(whole, written(pictures[:-2], None, SETTINGS))
    assert (found.kind, found.detail) == ("frames", "12 → 10 frames")
    found = compare_videos(whole, written(pictures[:, :32], None, SETTINGS))
    assert (found.kind, found.detail) == ("size", "64x48 → 64x32")
    found = compare_videos(whole, written(pictures, None, SETTINGS, rate=Fraction(22)))
    assert (found.kind, found.detail) == ("times", "frames up to 0.500 s apart")


def test_lossless_rgb_is_compared_with_what_the_codec_made_of_it(pictures: Pictures) -> None:
    lossless = written(pictures, None, EncodeSettings(lossless=True))
    assert compare_videos(lossless, written(pictures, None, SETTINGS)).kind == "alike"
    changed = pictures.copy()
    changed[..., 2] = 255 - changed[..., 2]
    assert compare_videos(lossless, written(changed, None, EncodeSettings(lossless=True))).kind == "pictures"


def test_other_sound_is_told_beside_the_pictures(pictures: Pictures, sound: Sound) -> None:
    silent, heard = written(pictures, None, SETTINGS), written(pictures, sound, SETTINGS)
    for other in (silent, written(pictures, beeping(sound), SETTINGS)):
        found = compare_videos(heard, other)
        assert (found.kind, found.same_sound) == ("alike", False)
    assert compare_videos(heard, written(pictures, sound, EncodeSettings(crf=30, preset="ultrafast"))).same_sound


@pytest.mark.parametrize("damaged", [b"", b"no video"])
def test_what_cannot_be_decoded_is_said(pictures: Pictures, damaged: bytes) -> None:
    good = written(pictures, None, SETTINGS)
    for pair in ((good, damaged), (damaged, good)):
        found = compare_videos(*pair)
        assert found.kind == "undecodable"
        assert found.detail
