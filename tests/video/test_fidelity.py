from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import tampering
from stressreel.video.encode import EncodeSettings, Sound
from stressreel.video.fidelity import Loss, measure_loss, unlike

LOSSLESS = EncodeSettings(crf=0, preset="ultrafast")
RNG = np.random.default_rng(0)
SCENE = RNG.integers(0, 256, (1, 4, 6, 3), np.uint8).repeat(16, axis=1).repeat(16, axis=2)
PICTURES = np.concatenate([np.roll(SCENE, 3 * number, axis=2) for number in range(12)])
TONE = Sound((0.3 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)).astype(np.float32)[None, :], 8000)


def loss(pictures: tampering.Pictures, settings: EncodeSettings, sound: Sound | None = None) -> Loss:
    """The loss of pictures that are encoded as `settings` say, against `PICTURES` and the tone."""
    return measure_loss(
        tampering.written(pictures, sound, settings, Fraction(12)),
        tampering.written(PICTURES, None, LOSSLESS, Fraction(12)),
        None if sound is None else TONE,
    )


def test_nothing_is_lost_without_loss() -> None:
    found = loss(PICTURES, LOSSLESS)
    assert found.frames.tolist() == found.blocks.tolist() == [0.0] * 12
    assert found.decibels == 100.0


def test_loss_grows_with_the_rate_factor() -> None:
    decibels = [loss(PICTURES, EncodeSettings(crf, "ultrafast")).decibels for crf in (10, 25, 40)]
    assert decibels == sorted(decibels, reverse=True)


def test_another_preset_of_the_same_quality_passes() -> None:
    assert unlike(loss(PICTURES, EncodeSettings(23, "fast")), loss(PICTURES, EncodeSettings(23, "veryfast"))) == ""


def shift(pictures: tampering.Pictures) -> tampering.Pictures:
    return pictures[[*range(1, len(pictures)), -1]]


@pytest.mark.parametrize("repaint", [*tampering.REPAINTS.values(), shift], ids=[*tampering.REPAINTS, "a frame later"])
@pytest.mark.parametrize("crf", [18, 30])
def test_other_pictures_do_not_pass(repaint: Callable[[tampering.Pictures], tampering.Pictures], crf: int) -> None:
    settings = EncodeSettings(crf, "ultrafast")
    assert unlike(loss(repaint(PICTURES), settings), loss(PICTURES, settings))


def test_worse_quality_does_not_pass() -> None:
    assert "dB" in unlike(
        loss(PICTURES, EncodeSettings(35, "ultrafast")), loss(PICTURES, EncodeSettings(23, "ultrafast"))
    )


@pytest.mark.parametrize("name", ["silent", "louder", "a beep"])
def test_other_sound_does_not_pass(name: str) -> None:
    settings = EncodeSettings(preset="ultrafast")
    again = loss(PICTURES, settings, TONE)
    assert unlike(again, again) == ""
    assert "sound" in unlike(loss(PICTURES, settings, tampering.SOUNDS[name](TONE)), again)


def test_other_frames_sizes_and_tracks_are_said() -> None:
    settings = EncodeSettings(preset="ultrafast")
    original = tampering.written(PICTURES, None, LOSSLESS)
    for pictures, words in (
        (PICTURES[:-1], "fewer frames"),
        (PICTURES[[*range(12), 11]], "more frames"),
        (PICTURES[:, :32], "96x32, not 96x64"),
    ):
        with pytest.raises(ValueError, match=words):
            measure_loss(tampering.written(pictures, None, settings), original)
    with pytest.raises(ValueError, match="it has no sound"):
        measure_loss(tampering.written(PICTURES, None, settings), original, TONE)
    with pytest.raises(ValueError, match="it has sound"):
        measure_loss(tampering.written(PICTURES, TONE, settings), original)
    half = replace(TONE, samples=TONE.samples[:, :3000])
    with pytest.raises(ValueError, match="samples"):
        measure_loss(tampering.written(PICTURES, half, settings), original, TONE)
