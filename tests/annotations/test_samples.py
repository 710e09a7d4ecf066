import shutil
from pathlib import Path

import pytest
from stressreel.annotations import samples
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples.causal import annotation_table, write_causal_annotations
from stressreel.annotations.samples.charades import sample_videos
from stressreel.annotations.samples.movements import ACTS
from stressreel.core.errors import OutputError
from stressreel.video.source_files import find_videos


def test_sample_is_redrawn_when_its_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = samples.cached_sample("causal-annotations")
    assert folder.parent == tmp_path / "stressreel"
    (folder / "mark").touch()
    package = shutil.copytree(Path(samples.__file__).parent, tmp_path / "samples")
    monkeypatch.setattr(samples, "__file__", str(package / "__init__.py"))
    assert samples.cached_sample("causal-annotations") == folder
    assert (folder / "mark").exists()
    (package / "causal.yaml").write_text("other: true\n")
    assert samples.cached_sample("causal-annotations") != folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(package / "causal.yaml"))  # which is no folder
    with pytest.raises(OutputError, match="XDG_CACHE_HOME"):
        samples.cached_sample("causal-annotations")


def test_samples_are_complete(tmp_path):
    path = write_causal_annotations(tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfQID,Filename,Start Frame,End Frame,Question,Answer,Explanation")
    assert [int(row.qid) for row in read_causalchaos(path).rows] == list(range(1, 61))
    assert path.read_text(encoding="utf-8") == annotation_table()
    folder = samples.cached_sample("msrvtt")
    read = read_msrvtt(folder)
    videos = find_videos([folder], [clip.source_id for clip in read.clips], read.subfolders)
    assert {*videos.values()} == {*folder.rglob("*.mp4")}
    assert len(videos) == len(read.clips) == 12
    for video in sample_videos():
        assert len(video.sentences) == len(video.actions)
        assert {ACTS[action.action].furniture for action in video.actions} <= dict(video.stage.stations).keys()
