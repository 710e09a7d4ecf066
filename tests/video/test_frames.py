from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import stressreel
from datasets import Video, load_dataset
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError, UsageError, VideoError
from stressreel.core.output import open_output
from stressreel.evaluation.models.clip_sources import Sampling, StoredClips
from stressreel.evaluation.models.question_set import Clip
from stressreel.video.decode import decode, upright
from stressreel.video.frames import exact, frames_between, shown_times
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.pyav import to_rgb


@pytest.fixture(scope="module")
def video(tmp_path_factory, bars, look):
    return bars.write(tmp_path_factory.mktemp("frames") / "a.mp4", frames=40, gop=8, look=look(rotation=90))


def test_every_form_gives_the_same_frames(video):
    index = index_frames(video)
    expected = np.stack([to_rgb(upright(frame)) for frame in decode(index, range(index.num_frames))])
    column = {"bytes": video.read_bytes(), "path": None}
    for form in (video, str(video), column["bytes"], column, {"video": column}):
        assert (stressreel.frames(form, indices=[31, 0, 8, 8]) == expected[[31, 0, 8, 8]]).all()
    times = np.arange(0, float(index.seconds(40)), 1 / 4)
    shown = [max(n for n in range(40) if float(index.seconds(n)) <= time + 1e-9) for time in times]
    assert (stressreel.frames(video, fps=4.0) == expected[shown]).all()


def test_count_selects_what_ask_shows(built):
    streamed = load_dataset(str(built), "videos", split="test", streaming=True)
    row = next(iter(streamed.cast_column("video", Video(decode=False))))
    clip = Clip("videos", (("video_id", row["video_id"]),))
    view = StoredClips(open_output(built)).view(clip, Sampling(5, 0), whole=False)
    assert (stressreel.frames(row, count=5) == np.stack(view.pictures)).all()


def test_invalid_options_and_content_are_refused(video, tmp_path):
    for choice in ({}, {"count": 1, "fps": 1}, {"count": 0}, {"fps": -1}, {"fps": 9999}, {"indices": [40]}):
        with pytest.raises(UsageError):
            stressreel.frames(video, **choice)
    (tmp_path / "empty.mp4").touch()
    missing = [tmp_path / "none.mp4", tmp_path, tmp_path / "empty.mp4", "https://example.org/a.mp4", "/dev/null"]
    columns = [{"video": {"bytes": None, "path": str(path)}} for path in missing]
    for content in (*missing, *columns, None, 3, {"bytes": None, "path": None}, b"", b"no video"):
        with pytest.raises((InputError, VideoError)):
            stressreel.frames(content, count=1)


# Intervals


def index_of(pts, end, time_base=Fraction(1, 10)):
    return FrameIndex(Path("a.mp4"), np.array(pts, np.int64), end, time_base, Fraction(0), np.empty(0, np.int64))


LATE = index_of(list(range(20, 100)), 100)  # a picture from 2 s to 10 s
HELD = index_of([*range(50), *range(60, 100)], 100)  # nothing new from 5 s to 6 s


def frames(index, start, end):
    return frames_between(index, exact(start), exact(end), f"the clip x spans {start} to {end} s")


@pytest.mark.parametrize(
    ("index", "interval", "expected"),
    [
        (LATE, (1.5, 10.5), range(80)),
        (LATE, (9.9, 10.4), range(79, 80)),
        (LATE, (1.49, 10), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (2, 10.51), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (10, 10.5), "has a picture from 2.00 to 10.00 s (80 frames)"),
        (LATE, (3.01, 3.09), "has a single frame from 3.00 to 3.10 s"),
        (HELD, (5.5, 6.5), range(50, 55)),
        (HELD, (4, 7), range(40, 60)),
        (HELD, (5.4, 8), "has a single frame from 4.90 to 6.00 s"),
        (index_of([0], 1), (0, 5), "has a picture from 0.00 to 0.10 s (1 frame)"),
        (index_of([0, 50], 100), (0, 1), "has a single frame from 0.00 to 5.00 s"),
    ],
)
def test_half_a_second_may_be_missing(index, interval, expected):
    if isinstance(expected, range):
        assert frames(index, *interval) == expected
        return
    with pytest.raises(VideoError) as caught:
        frames(index, *interval)
    assert caught.value.reason == "too_short"
    assert caught.value.detail == f"a.mp4 {expected}, but the clip x spans {interval[0]} to {interval[1]} s"


@given(
    steps=st.lists(st.integers(180, 9000), min_size=1, max_size=30),
    first=st.integers(0, 50_000),
    sooner=st.integers(-500, 500),
    later=st.integers(-500, 500),
)
def test_shown_times_select_the_same_frames(steps, first, sooner, later):
    pts = np.cumsum([first, *steps]).tolist()
    index = index_of(pts[:-1], pts[-1], Fraction(1, 90_000))
    begin, stop = (float(index.seconds(frame)) for frame in (0, index.num_frames))
    start, end = max(0, round(begin - sooner / 1000, 3)), round(stop + later / 1000, 3)
    try:
        expected = frames(index, start, end)
    except VideoError:
        return
    shown = shown_times(index, start, end)
    assert frames(index, *shown) == expected
    assert max(start, begin - 0.001) <= shown[0] <= max(start, begin)
    assert min(end, stop) <= shown[1] <= min(end, stop + 0.001)
