import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.segments import read_segments
from stressreel.core.errors import InputError, UsageError


def csv_file(folder: Path, *lines: str) -> Path:
    path = folder / "own.csv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def test_rows_may_be_a_list(tmp_path: Path) -> None:
    rows = [{"video": "a.mp4", "start": 1, "end": 3.5, "phrase": "wave"}, {"video": "a.mp4", "phrase": "jump"}]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(rows[:1]), encoding="utf-8")
    (video,) = read_segments(path).videos
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments] == [("waving", 1, 3.5)]
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.json, column \[1\]\.start: expected a time in seconds"):
        read_segments(path)


def test_a_rate_goes_with_frames(tmp_path: Path) -> None:
    seconds = csv_file(tmp_path, "video,start,end,phrase", "a,1,3,wave")
    with pytest.raises(UsageError, match=r"own\.csv gives all times in seconds"):
        read_segments(seconds, rate=Fraction(25))
    header = "video,start,end,start_frame,end_frame,phrase"
    mixed = csv_file(tmp_path, header, "a,1,3,,,wave", "a,,,100,150,jump")
    with pytest.raises(
        UsageError,
        match=r"own\.csv gives times as frame numbers \(the first is in line 3\)\. .*--fps 25, or use times in seconds",
    ):
        read_segments(mixed)
    (video,) = read_segments(mixed, rate=Fraction(25)).videos
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments][1] == ("jumping", 4, 6)
    both = csv_file(tmp_path, header, "a,1,3,25,75,wave", "a,,,100,150,bow")
    expected = r"line 2, column start_frame: expected seconds .* or frames .*'both: start, end, start_frame, end_frame'"
    for rate in (None, Fraction(25)):
        with pytest.raises(InputError, match=expected):
            read_segments(both, rate=rate)


SHARES = (0.6, 0.2, 0.2)


def unsplit(folder: Path, names: str) -> Path:
    return csv_file(folder, "video,start,end,phrase", *(f"{name},1,3,wave" for name in names))


def splits(path: Path, **options: Any) -> dict[str, str]:
    return {video.id: video.split for video in read_segments(path, **options).videos}


def test_all_videos_are_in_test_unless_the_file_names_splits(tmp_path: Path) -> None:
    assert set(splits(unsplit(tmp_path, "abcdefgh")).values()) == {"test"}
    named = csv_file(tmp_path, "video,start,end,phrase,split", "a,1,3,wave,train", "b,1,3,wave,val")
    assert splits(named) == {"a": "train", "b": "validation"}


@pytest.mark.parametrize("count", [3, 4, 8, 11])
def test_shares_fill_every_split_whatever_the_order_of_rows(tmp_path: Path, count: int) -> None:
    names = "abcdefghijk"[:count]
    drawn = splits(unsplit(tmp_path, names), shares=SHARES, seed=5)
    assert set(drawn.values()) == {"train", "validation", "test"}
    assert splits(unsplit(tmp_path, names[::-1]), shares=SHARES, seed=5) == drawn
    seeds = [splits(unsplit(tmp_path, names), shares=SHARES, seed=seed) for seed in range(5)]
    assert any(other != drawn for other in seeds)


def test_shares_without_effect_or_videos_are_refused(tmp_path: Path) -> None:
    named = csv_file(tmp_path, "video,start,end,phrase,split", "a,1,3,wave,train", "b,1,3,wave,test", "c,1,3,bow,test")
    with pytest.raises(UsageError, match=r"own\.csv .*--split-shares has no effect"):
        read_segments(named, shares=SHARES)
    with pytest.raises(UsageError, match=r"--split-shares 0\.6,0\.2,0\.2 .*own\.csv has 2"):
        read_segments(unsplit(tmp_path, "ab"), shares=SHARES)
