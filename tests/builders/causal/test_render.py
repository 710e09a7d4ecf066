from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stressreel.builders.causal.render import clip_frames
from stressreel.core.errors import VideoError
from stressreel.core.plan import Unit
from stressreel.video.index import FrameIndex

INDEX = FrameIndex(Path("E.mp4"), np.arange(100) * 40, 4000, Fraction(1, 1000), Fraction(0), np.array([0]))


def unit(start: int, end: int, offset: int = 0, rate: str | None = None) -> Unit:
    payload = {"start_frame": start, "end_frame": end, "offset": offset, "rate": rate}
    return Unit("E_1", "clips", "E", payload)


def test_half_open_and_exact() -> None:
    assert clip_frames(INDEX, unit(10, 20)) == range(10, 20)
    assert clip_frames(INDEX, unit(90, 100)) == range(90, 100)
    assert clip_frames(INDEX, unit(10, 20, offset=-3)) == range(7, 17)


def test_by_time_where_the_rate_is_known() -> None:
    assert clip_frames(INDEX, unit(50, 100, rate="50")) == range(25, 50)
    assert clip_frames(INDEX, unit(0, 200, rate="50")) == range(100)


@pytest.mark.parametrize(
    ("start", "end", "offset", "rate"),
    [
        *((95, 113, 0, None), (5, 20, -18, None), (101, 109, 0, None), (1, 9, -10, None)),
        *((0, 300, 0, "50"), (300, 310, 0, "50"), (0, 226, 0, "50"), (0, 100, -26, "50")),
    ],
)
def test_frames_that_are_not_there(start: int, end: int, offset: int, rate: str | None) -> None:
    with pytest.raises(VideoError, match=r"from 0\.00 to 4\.00 s \(100 frames\).*--offsets and --fps-map") as error:
        clip_frames(INDEX, unit(start, end, offset, rate))
    assert error.value.reason == "too_short"


def test_half_second_may_be_missing() -> None:
    assert clip_frames(INDEX, unit(95, 112)) == range(95, 100)
    assert clip_frames(INDEX, unit(5, 20, offset=-17)) == range(3)
    assert clip_frames(INDEX, unit(0, 225, rate="50")) == range(100)
    assert clip_frames(INDEX, unit(0, 100, offset=-25, rate="50")) == range(38)
