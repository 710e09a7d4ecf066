import hashlib
import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from commands import rows
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from stressreel.annotations.samples import cached_sample
from stressreel.builders.perturbed.load import RecipeClips
from stressreel.core.errors import InputError, UsageError, VideoError
from stressreel.core.output import open_output
from stressreel.evaluation.models.clip_sources import Sampling, StoredClips, Timing, View, shrunk, uniform, view_of_file
from stressreel.evaluation.models.question_set import Clip
from stressreel.video.index import FrameIndex, index_frames

from .test_question_set import questions


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 40), st.data())
def test_uniform_frames_lie_in_the_stretch_in_order(steps: list[int], count: int, data: Any) -> None:
    pts = np.array([0, *np.cumsum(steps[:-1])], np.int64)
    index = FrameIndex(Path("x"), pts, sum(steps), Fraction(1, 10), Fraction(0), np.array([], np.int64))
    first = data.draw(st.integers(0, len(steps) - 1))
    stretch = range(first, data.draw(st.integers(first + 1, len(steps))))
    chosen = uniform(index, stretch, count)
    assert len(chosen) == count
    assert chosen == sorted(chosen)
    assert set(chosen) <= set(stretch)


def test_view_of_file_shows_the_sampled_frames(bars: Any, tmp_path: Path) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=40, b_frames=2)
    video = index_frames(path)

    def shown(clip: Clip, sampling: Sampling) -> list[int]:
        pictures = view_of_file(path, clip, sampling, index_frames).pictures
        return [int(bars.read(av.VideoFrame.from_ndarray(np.ascontiguousarray(each), "rgb24"))) for each in pictures]

    whole, part = Clip("", ()), Clip("", (), float(video.seconds(10)), float(video.seconds(12)))
    assert shown(whole, Sampling(5, 0)) == uniform(video, range(40), 5) == [4, 12, 20, 28, 36]
    assert shown(part, Sampling(2, 0)) == [10, 11]
    assert {*shown(part, Sampling(size=0, fps=1000))} == {10, 11}
    timing = view_of_file(path, whole, Sampling(size=0, fps=4), index_frames).timing
    assert timing == Timing(
        pytest.approx(float(1 / video.seconds(1))), 40, tuple(shown(whole, Sampling(size=0, fps=4)))
    )
    with pytest.raises(UsageError, match="the limit is 1,024"):
        shown(whole, Sampling(fps=1000))
    with pytest.raises(VideoError, match=r"a picture from 0\.00 to 1\.33 s .* about 99 s to its end"):
        shown(Clip("", (), 99.0), Sampling())


def test_pictures_are_scaled_down_and_encoded_as_jpeg() -> None:
    picture = np.full((60, 100, 3), 200, np.uint8)
    shapes = [shrunk(picture, size).shape[:2] for size in (0, 100, 50, 1)]
    assert shapes == [(60, 100), (60, 100), (30, 50), (1, 1)]
    view = View((picture, picture), 90)
    assert view.tokens == 2 * 3 * 4
    assert np.abs(np.asarray(Image.open(io.BytesIO(view.jpegs[0]))).astype(int) - picture).max() <= 2


def test_stored_clips_are_checked_by_hash(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = questions(built, limit=1)[0].clip
    clips = StoredClips(open_output(built))
    view = clips.view(clip, Sampling(4, 64), whole=False)
    assert (len(view.pictures), max(view.pictures[0].shape)) == (4, 64)
    row = next(r for r in rows(built, "videos") if r["video_id"] == clip.key[0][1])
    assert hashlib.sha256(clips.view(clip, Sampling(), whole=True).video).hexdigest() == row["sha256"]
    with pytest.raises(InputError, match="has no video nobody"):
        clips.view(Clip("videos", (("video_id", "nobody"),)), Sampling(), whole=False)
    for video in ({"bytes": b"other"}, None, {"bytes": None, "path": "/etc/passwd"}):
        changed = [{"sha256": row["sha256"], "video": video}] * 1000
        monkeypatch.setattr(clips, "_group", lambda *place, changed=changed: changed)
        with pytest.raises(InputError, match="has changed since the build"):
            clips.view(clip, Sampling(), whole=False)


def test_recipes_show_the_frames_of_a_render(built_suite: Path, built_recipes: Path, tmp_path: Path) -> None:
    how = {"settings": ["clean", "jpeg-3"], "limit": 2}
    asked, unrendered = questions(built_suite, **how), questions(built_recipes, **how)
    assert [q.text for q in asked] == [q.text for q in unrendered]
    stored = StoredClips(open_output(built_suite))
    made = RecipeClips(open_output(built_recipes), unrendered, cached_sample("msrvtt"))
    views = [np.stack(made.view(q.clip, Sampling(3), whole=False).pictures).astype(int) for q in unrendered]
    for one, pictures in zip(asked, views, strict=True):
        encoded = np.stack(stored.view(one.clip, Sampling(3), whole=False).pictures)
        assert np.abs(encoded - pictures).mean(axis=(1, 2, 3)).max() < 4  # one of them was encoded
    assert not np.array_equal(views[0], views[2])  # clean and perturbed
    with pytest.raises(UsageError, match="recipes but no videos"):
        made.view(unrendered[0].clip, Sampling(), whole=True)
    with pytest.raises(InputError, match=r"12 of 12 source videos are not in"):
        RecipeClips(open_output(built_recipes), unrendered, tmp_path)
