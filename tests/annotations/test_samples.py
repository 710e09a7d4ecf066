import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples import cache
from stressreel.annotations.samples.causal import annotation_table, write_causal_annotations
from stressreel.annotations.samples.charades import TONES_HZ, sample_videos, sound
from stressreel.annotations.samples.movements import ACTS
from stressreel.core.errors import OutputError
from stressreel.video.source_files import find_videos


def test_sample_is_redrawn_when_its_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache.cached_sample("causal-annotations")
    assert folder.parent == tmp_path / "stressreel"
    (folder / "mark").touch()
    package = shutil.copytree(Path(cache.__file__).parent, tmp_path / "samples")
    monkeypatch.setattr(cache, "__file__", str(package / "cache.py"))
    assert cache.cached_sample("causal-annotations") == folder
    assert (folder / "mark").exists()
    (package / "causal.yaml").write_text("other: true\n")
    assert cache.cached_sample("causal-annotations") != folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(package / "causal.yaml"))  # which is no folder
    with pytest.raises(OutputError, match="XDG_CACHE_HOME"):
        cache.cached_sample("causal-annotations")


def test_samples_have_the_released_layout(tmp_path):
    path = write_causal_annotations(tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfQID,Filename,Start Frame,End Frame,Question,Answer,Explanation")
    rows = read_causalchaos(path).rows
    assert [int(row.qid) for row in rows] == list(range(1, 61))
    assert len({row.episode for row in rows}) == 6
    assert path.read_text(encoding="utf-8") == annotation_table()
    folder = cache.cached_sample("msrvtt")
    assert "CC0" in (folder / "README.txt").read_text(encoding="utf-8")
    read = read_msrvtt(folder)
    videos = find_videos([folder], [clip.source_id for clip in read.clips], read.subfolders)
    assert {*videos.values()} == {*folder.rglob("*.mp4")}
    assert len(videos) == len(read.clips) == 12


@pytest.mark.parametrize("video", [video for video in sample_videos() if video.actions], ids=lambda video: video.id)
def test_every_action_has_furniture_tone_and_sentences(video):
    assert len(video.sentences) == len(video.actions) <= len(TONES_HZ)
    samples = sound(video, 8000)
    assert len(samples) == round(video.num_frames / video.fps * 8000)
    for action, pitch in zip(video.actions, TONES_HZ, strict=False):
        assert ACTS[action.action].furniture in dict(video.stage.stations)
        middle = int((action.start + action.end) / 2 * 8000)
        assert np.abs(np.fft.rfft(samples[middle - 4000 : middle + 4000])).argmax() == pytest.approx(pitch, abs=1)
    for action, following in pairwise(video.actions):
        assert action.end < following.start
        assert not samples[int(action.end * 8000) + 1 : int(following.start * 8000)].any()
