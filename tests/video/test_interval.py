from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.frames import exact, frames_between, shown_times
from stressreel.video.index import FrameIndex


def index_of(pts: list[int], end: int, time_base: Fraction = Fraction(1, 10)) -> FrameIndex:
    return FrameIndex(Path("a.mp4"), np.array(pts, np.int64), end, time_base, Fraction(0), np.empty(0, np.int64))


LATE = index_of(list(range(20, 100)), 100)  # a picture from 2 s to 10 s
HELD = index_of([*range(50), *range(60, 100)], 100)  # nothing new from 5 s to 6 s


def frames(index: FrameIndex, start: float, end: float) -> range:
    return frames_between(index, exact(start), exact(end), f"the clip x spans {start} to {end} s")


@pytest.mark.parametrize(
    ("index", "interval", "expected"),
    [
        (LATE, (2, 10), range(80)),
        (LATE, (1.5, 10.5), range(80)),
        (LATE, (1.5, 2.1), range(1)),
        (LATE, (9.9, 10.4), range(79, 80)),
        (HELD, (5.5, 6.5), range(50, 55)),
        (HELD, (1, 5.5), range(10, 50)),
        (HELD, (4, 7), range(40, 60)),
    ],
)
def test_half_a_second_may_be_missing_at_either_side(
    index: FrameIndex, interval: tuple[float, float], expected: range
) -> None:
    assert frames(index, *interval) == expected


@pytest.mark.parametrize(
    ("index", "interval", "says"),
    [
        (LATE, (1.49, 10), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (2, 10.51), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (1.6, 2), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (10, 10.5), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (20, 100), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (9.91, 10.4), "has a single frame from 9.90 to 10.00 s"),
        (LATE, (3.01, 3.09), "has a single frame from 3.00 to 3.10 s"),
        (HELD, (5.4, 8), "has a single frame from 4.90 to 6.00 s"),
        (HELD, (1, 5.4), "has a single frame from 4.90 to 6.00 s"),
        (index_of([0], 1), (0, 5), "has a picture from 0.00 to 0.10 s (1 frame)"),
        (index_of([0, 50], 100), (0, 1), "has a single frame from 0.00 to 5.00 s"),
    ],
)
def test_more_is_refused_and_the_message_says_where_the_picture_is(
    index: FrameIndex, interval: tuple[float, float], says: str
) -> None:
    with pytest.raises(VideoError) as caught:
        frames(index, *interval)
    assert caught.value.reason == "too_short"
    assert caught.value.detail == f"a.mp4 {says}, but the clip x spans {interval[0]} to {interval[1]} s"


@given(
    steps=st.lists(st.integers(180, 9000), min_size=1, max_size=30),
    first=st.integers(0, 50_000),
    times=st.tuples(st.integers(0, 4000), st.integers(1, 4000)),
)
@settings(max_examples=200)
def test_shown_times_select_the_same_frames_and_lie_within_the_picture(
    steps: list[int], first: int, times: tuple[int, int]
) -> None:
    pts = np.cumsum([first, *steps]).tolist()
    index = index_of(pts[:-1], pts[-1], Fraction(1, 90_000))
    start, end = times[0] / 1000, sum(times) / 1000
    try:
        expected = frames(index, start, end)
    except VideoError:
        return
    shown = shown_times(index, start, end)
    assert frames(index, *shown) == expected
    assert start <= shown[0] < shown[1] <= end
    assert shown[0] > float(index.seconds(0)) - 0.001 or shown[0] == start
    assert shown[1] < float(index.seconds(index.num_frames)) + 0.001 or shown[1] == end
