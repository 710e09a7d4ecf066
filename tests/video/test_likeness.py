from fractions import Fraction

import numpy as np
import pytest
from stressreel.video.compare import compare_videos
from stressreel.video.encode import EncodeSettings, Sound
from tampering import beeping, marked, written

FAST = EncodeSettings(crf=20, preset="ultrafast")
LOSSLESS = EncodeSettings(lossless=True)
Y, X = np.mgrid[:48, :64]
PICTURES = np.uint8([np.stack([60 + 2 * X % 128, 60 + Y + 4 * n, 120 - X // 2 + Y], axis=2) for n in range(12)])
SOUND = Sound(np.sin(np.arange(48_000) / 20, dtype=np.float32)[None] * 0.3, 48_000)
CHANGED, REDDER = PICTURES.copy(), PICTURES.copy()
CHANGED[7] = 255 - CHANGED[7]
REDDER[..., 2] = 255 - REDDER[..., 2]


@pytest.mark.parametrize(
    ("one", "other", "kind", "detail"),
    [
        ((PICTURES, None, FAST), (PICTURES, None, EncodeSettings(crf=35, preset="ultrafast")), "alike", ""),
        ((PICTURES, None, FAST), (CHANGED, None, FAST), "pictures", ""),
        ((PICTURES, None, FAST), (marked(PICTURES), None, FAST), "pictures", ""),
        ((PICTURES, None, FAST), (PICTURES[:-2], None, FAST), "frames", "12 → 10 frames"),
        ((PICTURES, None, FAST), (PICTURES[:, :32], None, FAST), "size", "64x48 → 64x32"),
        ((PICTURES, None, FAST), (PICTURES, None, FAST, Fraction(22)), "times", "frames up to 0.500 s apart"),
        ((PICTURES, None, LOSSLESS), (PICTURES, None, FAST), "alike", ""),
        ((PICTURES, None, LOSSLESS), (REDDER, None, LOSSLESS), "pictures", ""),
    ],
)
def test_what_differs_is_told(one, other, kind, detail):
    found = compare_videos(written(*one), written(*other))
    assert found.kind == kind
    assert found.detail == detail or kind == "pictures"
    if kind == "alike":
        assert 30 <= found.decibels < 60
    elif other[1] is None and other[0] is CHANGED:
        assert found.decibels < 20  # that of the worst frame


def test_other_sound_is_told_beside_the_pictures():
    heard = written(PICTURES, SOUND, FAST)
    for other in (written(PICTURES, None, FAST), written(PICTURES, beeping(SOUND), FAST)):
        found = compare_videos(heard, other)
        assert (found.kind, found.same_sound) == ("alike", False)
    assert compare_videos(heard, written(PICTURES, SOUND, EncodeSettings(crf=30, preset="ultrafast"))).same_sound


def test_what_cannot_be_decoded_is_said():
    good = written(PICTURES, None, FAST)
    for pair in ((good, b""), (b"no video", good)):
        found = compare_videos(*pair)
        assert (found.kind, bool(found.detail)) == ("undecodable", True)
