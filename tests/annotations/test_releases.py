"""The released files of every dataset are read completely."""

import json
from pathlib import Path

import pytest
from stressreel.annotations.actions import Annotations
from stressreel.annotations.causalchaos import read_causalchaos, read_events
from stressreel.annotations.charades import class_files, read_charades
from stressreel.annotations.clavi import read_released
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.youcook2 import read_steps, read_youcook2
from stressreel.templates import load_classes

pytestmark = [pytest.mark.full, pytest.mark.shared]


def sizes(read: Annotations) -> list[int]:
    return [sum(video.split == split for video in read.videos) for split in ("train", "validation", "test")]


def test_captions(shared: Path) -> None:
    read = read_msrvtt(shared / "data/msrvtt")
    assert len(read.clips) == read.counts["videos"] == read.counts["captions"] == 1000
    clip = read.clips[1]
    assert (clip.id, clip.captions, clip.lines) == ("video9771", ("a little girl does gymnastics",), (3,))
    read = read_youcook2(shared / "data/youcook2")
    assert len(read.clips) == 3350
    assert (read.counts["videos"], read.counts["clips_with_the_times_of_another"]) == (436, 1)
    clip = read.clips[0]
    assert (clip.id, clip.start_s, clip.end_s) == ("xHr8X2Wpmno_00", 47, 60)
    assert (clip.captions, clip.split, clip.lines) == (("pick the ends off the verdalago",), "validation", (2,))
    assert "raw_videos/validation/226" in read.subfolders


def test_steps(shared: Path) -> None:
    read = read_steps(shared / "data/youcook2")
    assert (read.counts["phrases"], sizes(read)) == (13829, [1333, 457, 0])
    assert sum(len(video.segments) for video in read.videos) >= 12000


def test_charades(shared: Path) -> None:
    read = read_charades(shared / "data/charades")
    assert (read.counts["videos"], read.counts["videos_without_actions"]) == (9848, 223)
    assert all(segment.end_s <= video.length_s for video in read.videos for segment in video.segments)
    for name, lines in class_files(load_classes()).items():
        assert (shared / "data/charades" / name).read_text().splitlines() == lines


def test_clavi(shared: Path) -> None:
    path = shared / "data/clavi/train_annotations.json"
    released, pairs = json.loads(path.read_text()), read_released(path)
    assert len(pairs) == 1915
    for pair, (key, entry) in zip(pairs, released.items(), strict=True):
        assert (pair.id, pair.video_id, list(pair.others)) == (key, entry["vid_id"], entry["other_actions"])
        assert [list(pair.a), list(pair.b)] == [[key, float(s), float(e)] for key, s, e in entry["info"]]
        cuts = [float(entry["ext"][name]) for name in ("out_a", "in_a", "in_b", "out_b")]
        assert [cut / 1000 for cut in pair.cuts_ms] == cuts


def test_causalchaos(shared: Path) -> None:
    path = shared / "data/causalchaos/Annotations.csv"
    read, events = read_causalchaos(path), read_events(path)
    assert (len(read.rows), read.counts["rows_that_overlap_another"]) == (4945, 3821)
    assert all(text == " ".join(text.split()) for row in read.rows for text in (row.question, row.answer))
    assert (events.counts["phrases"], sizes(events)) == (4945, [113, 24, 24])
    assert sum(len(video.segments) for video in events.videos) >= 4400
