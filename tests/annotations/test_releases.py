import json
from pathlib import Path

import pytest
from stressreel.annotations.captions import CaptionedClip
from stressreel.annotations.causalchaos import read_causalchaos, read_events
from stressreel.annotations.charades import class_files, read_charades
from stressreel.annotations.clavi import read_released
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.youcook2 import read_steps, read_youcook2
from stressreel.templates import load_classes
from stressreel.video.source_files import find_videos

pytestmark = [pytest.mark.full, pytest.mark.shared]


def test_msrvtt(shared: Path) -> None:
    read = read_msrvtt(shared / "data" / "msrvtt")
    assert len(read.clips) == 1000
    assert len(read.clips) * 18 * 5 == 90_000
    assert len(read.clips) * 35 == 35_000
    assert read.clips[1] == CaptionedClip(
        "video9771",
        "video9771",
        None,
        None,
        ("a little girl does gymnastics",),
        "test",
        "MSRVTT_JSFUSION_test.csv",
        (3,),
    )
    assert read.counts["videos"] == read.counts["captions"] == 1000
    found = find_videos([shared / "videos" / "msrvtt"], [clip.source_id for clip in read.clips], read.subfolders)
    assert set(found) == {"video9771", "video7021"}


def test_youcook2(shared: Path) -> None:
    read = read_youcook2(shared / "data" / "youcook2")
    assert len(read.clips) == 3350
    assert len(read.clips) * 18 * 5 == 301_500
    assert len(read.clips) * 31 == 103_850
    assert (read.counts["videos"], read.counts["clips_with_the_times_of_another"]) == (436, 1)
    assert read.clips[0] == CaptionedClip(
        "xHr8X2Wpmno_00",
        "xHr8X2Wpmno",
        47,
        60,
        ("pick the ends off the verdalago",),
        "validation",
        "validation_youcook_milnce.csv",
        (2,),
    )
    assert "raw_videos/validation/226" in read.subfolders


def test_youcook2_steps(shared: Path) -> None:
    read = read_steps(shared / "data/youcook2")
    assert read.counts["phrases"] == 13829
    assert len(read.videos) == 1790
    assert sum(len(video.segments) for video in read.videos) >= 12000
    assert [sum(v.split == split for v in read.videos) for split in ("train", "validation")] == [1333, 457]


def test_the_built_in_table_is_charades_own(shared: Path) -> None:
    folder = shared / "data" / "charades"
    for name, lines in class_files(load_classes()).items():
        assert (folder / name).read_text().splitlines() == lines


def test_charades(shared: Path) -> None:
    annotations = read_charades(shared / "data" / "charades")
    assert annotations.counts["videos"] == 9848
    assert annotations.counts["videos_without_actions"] == 223
    assert all(s.end_s <= v.length_s for v in annotations.videos for s in v.segments)


def test_clavi(shared: Path) -> None:
    path = shared / "data" / "clavi" / "train_annotations.json"
    content = json.loads(path.read_text())
    pairs = read_released(path)
    assert len(pairs) == 1915
    assert [pair.id for pair in pairs] == list(content)
    for pair in pairs:
        entry = content[pair.id]
        assert (pair.video_id, list(pair.others)) == (entry["vid_id"], entry["other_actions"])
        assert [list(pair.a), list(pair.b)] == [[key, float(s), float(e)] for key, s, e in entry["info"]]
        cuts = [float(entry["ext"][name]) for name in ("out_a", "in_a", "in_b", "out_b")]
        assert [cut / 1000 for cut in pair.cuts_ms] == cuts


def test_causalchaos(shared: Path) -> None:
    read = read_causalchaos(shared / "data/causalchaos/Annotations.csv")
    assert len(read.rows) == 4945
    assert len({row.episode for row in read.rows}) == 161
    assert read.counts["rows_that_overlap_another"] == 3821
    assert read.counts["texts_with_runs_of_spaces"] > 0
    assert all(text == " ".join(text.split()) for row in read.rows for text in (row.question, row.answer))


def test_causalchaos_events(shared: Path) -> None:
    read = read_events(shared / "data/causalchaos/Annotations.csv")
    assert len(read.videos) == 161
    assert read.counts["phrases"] == 4945
    assert sum(len(video.segments) for video in read.videos) >= 4400
    assert [sum(v.split == split for v in read.videos) for split in ("train", "validation", "test")] == [113, 24, 24]
