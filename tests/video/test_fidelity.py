from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import tampering
from stressreel.video.encode import EncodeSettings, Sound, without_loss
from stressreel.video.fidelity import Loss, differs, measure_loss, unlike

LOSSLESS = EncodeSettings(crf=0, preset="ultrafast")
RNG = np.random.default_rng(0)
SCENE = RNG.integers(0, 256, (1, 4, 6, 3), np.uint8).repeat(16, axis=1).repeat(16, axis=2)
PICTURES = np.concatenate([np.roll(SCENE, 3 * number, axis=2) for number in range(12)])
TONE = Sound((0.3 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)).astype(np.float32)[None, :], 8000)


def loss(pictures: tampering.Pictures, settings: EncodeSettings, sound: Sound | None = None) -> Loss:
    """The loss of pictures that are encoded as `settings` say, against `PICTURES` and the tone."""
    return measure_loss(
        tampering.written(pictures, sound, settings, Fraction(12)), exact(None if sound is None else TONE)
    )


def exact(sound: Sound | None) -> bytes:
    """The pictures and the tone as they are."""
    with without_loss():
        return tampering.written(PICTURES, sound, EncodeSettings(), Fraction(12))


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


def test_better_quality_does_not_pass() -> None:
    better, claimed = EncodeSettings(12, "medium"), EncodeSettings(28, "ultrafast")
    assert "nearer to the source" in unlike(loss(PICTURES, better), loss(PICTURES, claimed))


def video(pictures: tampering.Pictures = PICTURES, sound: Sound | None = TONE, crf: int = 23) -> bytes:
    return tampering.written(pictures, sound, EncodeSettings(crf, "veryfast"), Fraction(12))


def test_another_preset_of_the_same_video_does_not_differ() -> None:
    other = tampering.written(PICTURES, TONE, EncodeSettings(23, "fast"), Fraction(12))
    assert other != video()
    assert differs(other, video(), exact(TONE)) == ""


def later(sound: Sound) -> Sound:
    """The same sound, 20 ms later."""
    return Sound(np.roll(sound.samples, sound.rate // 50, axis=1), sound.rate)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (lambda: video(shift(PICTURES)), "are not those of the source"),
        (lambda: video(PICTURES[:-1]), "11 frames, rendered again 12"),
        (lambda: video(sound=None), "its tracks are"),
        (lambda: video(sound=later(TONE)), "its sound is not that of the source"),
        (lambda: video(crf=5), "nearer to the source"),
        (lambda: tampering.written(PICTURES, TONE, EncodeSettings(23, "veryfast"), Fraction(11)), "other times"),
        (lambda: b"none", ""),
    ],
)
def test_what_no_encoder_makes_differs(found: Callable[[], bytes], words: str) -> None:
    said = differs(found(), video(), exact(TONE))
    assert said
    assert words in said


def test_what_was_not_encoded_is_the_same_or_differs() -> None:
    assert differs(b"changed", b"a file", b"a file") == "it is not the file that it was taken from"


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
    for pictures, words in (
        (PICTURES[:-1], "fewer frames"),
        (PICTURES[[*range(12), 11]], "more frames"),
        (PICTURES[:, :32], "96x32, not 96x64"),
    ):
        with pytest.raises(ValueError, match=words):
            measure_loss(tampering.written(pictures, None, settings), exact(None))
    with pytest.raises(ValueError, match="it has no sound"):
        measure_loss(tampering.written(PICTURES, None, settings), exact(TONE))
    with pytest.raises(ValueError, match="it has sound"):
        measure_loss(tampering.written(PICTURES, TONE, settings), exact(None))
    half = replace(TONE, samples=TONE.samples[:, :3000])
    with pytest.raises(ValueError, match="samples"):
        measure_loss(tampering.written(PICTURES, half, settings), exact(TONE))
