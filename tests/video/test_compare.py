from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from stressreel.video.compare import compare_videos, encoder_difference, loss_difference, measure_loss
from stressreel.video.encode import EncodeSettings, Sound, without_loss
from stressreel.video.thumbnails import frames_of
from tampering import REPAINTS, SOUNDS, beeping, marked, written

SCENE = np.random.default_rng(0).integers(0, 256, (1, 4, 6, 3), np.uint8).repeat(16, axis=1).repeat(16, axis=2)
PICTURES = np.concatenate([np.roll(SCENE, 3 * number, axis=2) for number in range(12)])
TONE = Sound((0.3 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)).astype(np.float32)[None, :], 8000)
LATER = PICTURES[[*range(1, 12), 11]]
INVERTED = np.where(np.arange(12)[:, None, None, None] == 7, 255 - PICTURES, PICTURES)
REDDER = PICTURES ^ np.uint8([0, 0, 255])


def video(pictures=PICTURES, sound=None, rate=12, **settings):
    return written(pictures, sound, EncodeSettings(**{"preset": "ultrafast", **settings}), Fraction(rate))


def exact(sound=TONE):
    with without_loss():
        return video(sound=sound)


@pytest.mark.parametrize(
    ("first", "second", "kind", "detail"),
    [
        ({}, {"crf": 26}, "alike", ""),
        ({"lossless": True}, {"crf": 18}, "alike", ""),
        ({}, {"pictures": INVERTED}, "pictures", "dB"),
        ({}, {"pictures": marked(PICTURES)}, "pictures", "dB"),
        ({"lossless": True}, {"pictures": REDDER, "lossless": True}, "pictures", "dB"),
        ({}, {"pictures": PICTURES[:-2]}, "frames", "12 → 10 frames"),
        ({}, {"pictures": PICTURES[:, :32]}, "size", "96x64 → 96x32"),
        ({}, {"rate": 24}, "times", "0.458 s"),
    ],
)
def test_differences_of_videos_are_named(first, second, kind, detail):
    likeness = compare_videos(video(**first), video(**second))
    assert (likeness.kind, detail in likeness.detail) == (kind, True)
    if likeness.decibels is not None:  # of the worst frame
        assert (likeness.decibels >= 30) == (kind != "pictures")
    assert compare_videos(b"no video", video(**second)).kind == "undecodable"


def test_sound_is_compared_separately():
    original = video(sound=TONE)
    for sound in (None, beeping(TONE)):
        likeness = compare_videos(original, video(sound=sound))
        assert (likeness.kind, likeness.same_sound) == ("alike", False)
    assert compare_videos(original, video(sound=TONE, crf=26)).same_sound


def test_loss_grows_with_the_rate_factor():
    losses = [measure_loss(video(crf=crf), exact(None)) for crf in (0, 25, 40)]
    assert losses[0].frames.tolist() == losses[0].blocks.tolist() == [0.0] * 12
    assert losses[0].decibels == 100.0
    assert losses[1].decibels > losses[2].decibels
    shown, meant = (
        np.stack([frame.to_ndarray() for frame in frames_of(content)]).astype(float)
        for content in (video(crf=25), exact(None))
    )
    assert losses[1].frames == pytest.approx(((shown - meant) ** 2).mean(axis=(1, 2)))


def test_other_pictures_and_sound_are_unlike():
    again = measure_loss(video(sound=TONE, crf=30), exact())
    assert loss_difference(again, again) == ""
    later = Sound(np.roll(TONE.samples, TONE.rate // 50, axis=1), TONE.rate)
    changed = [(change(PICTURES), TONE) for change in REPAINTS.values()] + [(LATER, TONE), (PICTURES, later)]
    changed += [(PICTURES, SOUNDS[name](TONE)) for name in ("silent", "louder", "a beep")]
    for pictures, sound in changed:
        assert loss_difference(measure_loss(video(pictures, sound, crf=30), exact()), again)
    spot = replace(again, blocks=again.blocks + 5 * again.blocks.max() * (np.arange(12) == 7))
    assert "1 of 12 frames (first: frame 7)" in loss_difference(spot, again)
    assert "exact copy" in encoder_difference(b"changed", b"a file", b"a file")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pictures": LATER}, "do not match the source"),
        ({"pictures": PICTURES[:-1]}, "11 frames; rendered again: 12"),
        ({"sound": None}, "tracks"),
        ({"crf": 5}, "closer to the source"),
        ({"rate": 11}, "times"),
        ({"preset": "fast"}, ""),
    ],
)
def test_other_encoders_pass_and_other_content_differs(changes, message):
    same = {"sound": TONE, "preset": "veryfast"}
    difference = encoder_difference(video(**{**same, **changes}), video(**same), exact())
    assert message in difference
    assert bool(message) == bool(difference)


def test_loss_requires_the_same_frames_and_sound():
    short = Sound(TONE.samples[:, :3000], 8000)
    for content, message in (
        (video(PICTURES[:-1], TONE), "fewer frames"),
        (video(PICTURES[:, :32], TONE), "96x32, not 96x64"),
        (video(PICTURES), "no sound"),
        (video(PICTURES, short), "samples"),
    ):
        with pytest.raises(ValueError, match=message):
            measure_loss(content, exact())
