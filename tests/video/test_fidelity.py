from fractions import Fraction

import numpy as np
import pytest
import tampering
from stressreel.video.compare import differs, measure_loss, unlike
from stressreel.video.encode import EncodeSettings, Sound, without_loss

RNG = np.random.default_rng(0)
SCENE = RNG.integers(0, 256, (1, 4, 6, 3), np.uint8).repeat(16, axis=1).repeat(16, axis=2)
PICTURES = np.concatenate([np.roll(SCENE, 3 * number, axis=2) for number in range(12)])
TONE = Sound((0.3 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)).astype(np.float32)[None, :], 8000)
FAST = EncodeSettings(preset="ultrafast")


def exact(sound=TONE):
    with without_loss():
        return tampering.written(PICTURES, sound, EncodeSettings(), Fraction(12))


def loss(pictures, settings, sound=None):
    return measure_loss(tampering.written(pictures, sound, settings, Fraction(12)), exact(sound and TONE))


def test_loss_grows_with_the_rate_factor_from_none() -> None:
    nothing = loss(PICTURES, EncodeSettings(crf=0, preset="ultrafast"))
    assert nothing.frames.tolist() == nothing.blocks.tolist() == [0.0] * 12
    decibels = [nothing.decibels, *(loss(PICTURES, EncodeSettings(crf, "ultrafast")).decibels for crf in (10, 25, 40))]
    assert decibels == sorted(decibels, reverse=True)
    assert decibels[0] == 100.0


def shift(pictures):
    return pictures[[*range(1, len(pictures)), -1]]


REPAINTS = {**tampering.REPAINTS, "a frame later": shift}


def test_other_pictures_and_sound_do_not_pass():
    settings = EncodeSettings(30, "ultrafast")
    again = loss(PICTURES, settings, TONE)
    assert unlike(again, again) == ""
    passed = [name for name, change in REPAINTS.items() if not unlike(loss(change(PICTURES), settings, TONE), again)]
    sounds = [later(TONE), *(tampering.SOUNDS[name](TONE) for name in ("silent", "louder", "a beep"))]
    passed += [sound for sound in sounds if not unlike(loss(PICTURES, settings, sound), again)]
    assert passed == []
    found = again.__class__(again.frames, again.blocks + 5 * again.blocks.max() * (np.arange(12) == 7), 0.0)
    assert unlike(found, again).startswith("in 1 of 12 frames (first: frame 7) a part of the picture")


def video(pictures=PICTURES, sound=TONE, crf=23, rate=12, preset="veryfast"):
    return tampering.written(pictures, sound, EncodeSettings(crf, preset), Fraction(rate))


def later(sound):
    return Sound(np.roll(sound.samples, sound.rate // 50, axis=1), sound.rate)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (lambda: video(shift(PICTURES)), "do not match the source"),
        (lambda: video(PICTURES[:-1]), "11 frames; rendered again: 12"),
        (lambda: video(sound=None), "its tracks are"),
        (lambda: video(crf=5), "closer to the source"),
        (lambda: video(rate=11), "differ from a new rendering"),
        (lambda: b"none", ""),
    ],
)
def test_what_no_encoder_makes_differs(found, words):
    said = differs(found(), video(), exact())
    assert said
    assert words in said
    assert differs(video(preset="fast"), video(), exact()) == ""
    assert differs(b"changed", b"a file", b"a file") == "it should be an exact copy of its source but is not"


@pytest.mark.parametrize(
    ("pictures", "sound", "meant", "words"),
    [
        (PICTURES[:-1], None, None, "fewer frames"),
        (PICTURES[[*range(12), 11]], None, None, "more frames"),
        (PICTURES[:, :32], None, None, "96x32, not 96x64"),
        (PICTURES, None, TONE, "it has no sound"),
        (PICTURES, TONE, None, "it has sound"),
        (PICTURES, Sound(TONE.samples[:, :3000], 8000), TONE, "samples"),
    ],
)
def test_other_frames_sizes_and_tracks_are_said(pictures, sound, meant, words):
    with pytest.raises(ValueError, match=words):
        measure_loss(tampering.written(pictures, sound, FAST), exact(meant))
