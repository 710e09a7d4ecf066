from pathlib import Path

import numpy as np
import pytest
import stressreel
from datasets import Video, load_dataset
from stressreel.core.errors import InputError, UsageError, VideoError
from stressreel.core.output import open_output
from stressreel.evaluation.models.clip_sources import Sampling, StoredClips
from stressreel.evaluation.models.question_set import Clip
from stressreel.video.decode import decode, upright
from stressreel.video.index import index_frames
from stressreel.video.pyav import to_rgb


@pytest.fixture(scope="module")
def video(tmp_path_factory, bars, look):
    return bars.write(tmp_path_factory.mktemp("frames") / "a.mp4", frames=40, gop=8, look=look(rotation=90))


@pytest.fixture(scope="module")
def expected(video):
    index = index_frames(video)
    return np.stack([to_rgb(upright(frame)) for frame in decode(index, range(index.num_frames))])


def test_every_form_gives_the_same(video, expected) -> None:
    column = {"bytes": video.read_bytes(), "path": None}
    for form in (video, str(video), column["bytes"], column, {"video": column}):
        found = stressreel.frames(form, indices=[31, 0, 8, 8])
        assert found.dtype == np.uint8
        assert (found == expected[[31, 0, 8, 8]]).all()


def test_frames_by_rate_are_those_shown(video, expected) -> None:
    index = index_frames(video)
    rate = 4.0
    times = np.arange(0, float(index.seconds(40)), 1 / rate)
    shown = [max(n for n in range(40) if float(index.seconds(n)) <= time + 1e-9) for time in times]
    assert (stressreel.frames(video, fps=rate) == expected[shown]).all()


def test_the_count_selects_what_ask_shows(built: Path) -> None:
    streamed = load_dataset(str(built), "videos", split="test", streaming=True)
    row = next(iter(streamed.cast_column("video", Video(decode=False))))
    clip = Clip("videos", (("video_id", row["video_id"]),))
    view = StoredClips(open_output(built)).view(clip, Sampling(5, 0), whole=False)
    assert (stressreel.frames(row, count=5) == np.stack(view.pictures)).all()


def test_other_options_and_what_is_no_video_are_refused(video) -> None:
    indices = ({"indices": [40]}, {"indices": [-1]})
    for options in ({}, {"count": 1, "fps": 1}, {"count": 0}, {"fps": -1}, {"fps": 9999}, *indices):
        with pytest.raises(UsageError):
            stressreel.frames(video, **options)
    for content in (None, 3, {"bytes": None, "path": None}, b"", b"no video"):
        with pytest.raises((InputError, VideoError)):
            stressreel.frames(content, count=1)


def test_a_path_without_a_video_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    for path, reason in (
        (tmp_path / "no-such-file.mp4", "does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / "empty.mp4", "is empty"),
        ("https://example.org/a.mp4", "is an address"),
        ("/dev/null", "is a device"),
    ):
        for form in (path, str(path), {"video": {"bytes": None, "path": str(path)}}):
            with pytest.raises(InputError, match=f"{path} {reason}"):
                stressreel.frames(form, count=1)
