from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples.cache import SAMPLES, write_sample
from stressreel.annotations.samples.charades import SOUND_RATE, sample_videos, tones
from stressreel.annotations.samples.msrvtt import SampleClip, caption_table, frames, sample_clips, sound
from stressreel.cli.main import load_command
from stressreel.video.source_files import find_videos

CLIPS = sample_clips()
named = pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.id)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, written once; read only."""
    path = tmp_path_factory.mktemp("msrvtt") / "sample"
    write_sample("msrvtt", path)
    return path


def test_there_are_rates_sounds_and_a_cut() -> None:
    assert len(CLIPS) == len({clip.id for clip in CLIPS}) == 12
    assert {clip.fps for clip in CLIPS} == {24, 25, 30}
    assert {clip.has_sound for clip in CLIPS} == {True, False}
    assert any(len(clip.shots) > 1 for clip in CLIPS)


@named
def test_a_clip_is_short_and_lies_inside_performances_of_its_own(clip: SampleClip) -> None:
    assert 2.4 <= clip.num_frames / clip.fps <= 4
    assert int(clip.id.removeprefix("video")) > 9999
    assert clip.caption == clip.caption.lower().strip(" .")
    for shot in clip.shots:
        assert 0 <= shot.start_s < shot.end_s <= shot.stage.length_s
        assert any(a.start <= shot.start_s and shot.end_s <= a.end for a in shot.stage.cues)
        assert shot.stage not in {video.stage for video in sample_videos()}
        assert clip.frames_of(shot) == pytest.approx((shot.end_s - shot.start_s) * float(clip.fps))


@named
def test_something_moves_in_every_quarter(clip: SampleClip) -> None:
    pictures = [picture.astype(int) for picture in frames(clip)]
    assert len(pictures) == clip.num_frames
    assert {picture.shape for picture in pictures} == {(240, 320, 3)}
    for number in range(0, len(pictures) - 8, len(pictures) // 4):
        assert np.abs(pictures[number + 7] - pictures[number]).mean() > 0.1


@named
def test_the_sound_is_that_of_the_performance(clip: SampleClip) -> None:
    samples = sound(clip, 8000)
    assert samples.dtype == np.float32
    assert len(samples) == pytest.approx(clip.num_frames / clip.fps * 8000, abs=1)
    shot = clip.shots[0]
    whole = tones(shot.stage.cues, round(shot.stage.length_s * 8000), 8000)
    assert np.array_equal(samples[:8000], whole[round(shot.start_s * 8000) :][:8000])
    assert np.abs(samples).max() > 0.1


def test_the_table_has_the_lines_of_jsfusion() -> None:
    lines = caption_table(CLIPS).split("\n")
    assert lines[:2] == ["key,vid_key,video_id,sentence", "ret0,msr90001,video90001,a person is sweeping the floor"]
    assert lines[5].startswith("ret4,msr90005,video90005,")
    assert lines[13:] == [""]
    assert '"' not in caption_table(CLIPS)


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


def test_the_command_offers_every_sample() -> None:
    (kind,) = [option for option in load_command("sample").params if option.name == "kind"]
    assert {*kind.type.choices, "causal-annotations"} == set(SAMPLES)  # the latter is a part of "causal", for planning
