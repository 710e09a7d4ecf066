from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples.cache import cached_sample
from stressreel.annotations.samples.charades import SOUND_RATE, tones
from stressreel.annotations.samples.msrvtt import SampleClip, frames, sample_clips, sound
from stressreel.video.source_files import find_videos

CLIPS = sample_clips()
named = pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.id)


@pytest.fixture(scope="module")
def folder() -> Path:
    """The sample; read only."""
    return cached_sample("msrvtt")


@named
def test_the_sound_is_that_of_the_performance(clip: SampleClip) -> None:
    samples = sound(clip, 8000)
    assert samples.dtype == np.float32
    assert len(samples) == pytest.approx(clip.num_frames / clip.fps * 8000, abs=1)
    shot = clip.shots[0]
    whole = tones(shot.stage.cues, round(shot.stage.length_s * 8000), 8000)
    assert np.array_equal(samples[:8000], whole[round(shot.start_s * 8000) :][:8000])
    assert np.abs(samples).max() > 0.1


def test_the_sample_is_written_in_the_layout_of_msrvtt(folder: Path) -> None:
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == {
        "MSRVTT_JSFUSION_test.csv",
        "README.txt",
        *(f"videos/all/{clip.id}.mp4" for clip in CLIPS),
    }
    assert "CC0" in (folder / "README.txt").read_text(encoding="utf-8")
    read = read_msrvtt(folder)
    found = find_videos([folder], [clip.source_id for clip in read.clips], read.subfolders)
    assert set(found) == {clip.id for clip in CLIPS}


@named
def test_a_video_is_what_was_drawn(folder: Path, clip: SampleClip) -> None:
    with av.open(str(folder / "videos" / "all" / f"{clip.id}.mp4")) as container:
        assert container.streams.video[0].average_rate == clip.fps
        assert [stream.rate for stream in container.streams.audio] == [SOUND_RATE] * clip.has_sound
        shown = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]
    assert len(shown) == clip.num_frames
    for a, b in list(zip(shown, frames(clip), strict=True))[::20]:
        assert np.abs(a - b).mean() < 4
