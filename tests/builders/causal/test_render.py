from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stressreel.builders.causal.render import clip_frames
from stressreel.core.errors import VideoError
from stressreel.core.plan import Unit
from stressreel.video.index import FrameIndex

INDEX = FrameIndex(Path("E.mp4"), np.arange(100) * 40, 4000, Fraction(1, 1000), Fraction(0), np.array([0]))


def frames(start: int, end: int, offset: int = 0, rate: str | None = None) -> range:
    payload = {"start_frame": start, "end_frame": end, "offset": offset, "rate": rate}
    return clip_frames(INDEX, Unit("E_1", "clips", "E", payload))


@pytest.mark.parametrize(
    ("clip", "expected"),
    [
        ((10, 20), range(10, 20)),
        ((90, 100), range(90, 100)),
        ((10, 20, -3), range(7, 17)),
        ((50, 100, 0, "50"), range(25, 50)),  # by time where the rate is known
        ((0, 200, 0, "50"), range(100)),
        # Half a second may be missing.
        ((95, 112), range(95, 100)),
        ((5, 20, -17), range(3)),
        ((0, 225, 0, "50"), range(100)),
        ((0, 100, -25, "50"), range(38)),
    ],
)
def test_frames_of_a_clip(clip: tuple[int, int], expected: range) -> None:
    assert frames(*clip) == expected


@pytest.mark.parametrize(
    "clip",
    [(95, 113), (5, 20, -18), (101, 109), (1, 9, -10), (300, 310, 0, "50"), (0, 226, 0, "50"), (0, 99, -26, "50")],
)
def test_frames_that_are_not_there(clip: tuple[int, int]) -> None:
    with pytest.raises(VideoError, match=r"from 0\.00 to 4\.00 s \(100 frames\).*--offsets and --fps-map") as error:
        frames(*clip)
    assert error.value.reason == "too_short"
