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


def test_json_list_is_read(tmp_path: Path) -> None:
    rows = [{"video": "a.mp4", "start": 1, "end": 3.5, "phrase": "wave"}, {"video": "a.mp4", "phrase": "jump"}]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(rows[:1]), encoding="utf-8")
    (video,) = read_segments(path).videos
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments] == [("waving", 1, 3.5)]
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.json, column \[1\]\.start: expected a time"):
        read_segments(path)


def test_rate_is_for_frame_numbers(tmp_path: Path) -> None:
    seconds = csv_file(tmp_path, "video,start,end,phrase", "a,1,3,wave")
    with pytest.raises(UsageError, match=r"own\.csv gives all times in seconds"):
        read_segments(seconds, rate=Fraction(25))
    header = "video,start,end,start_frame,end_frame,phrase"
    mixed = csv_file(tmp_path, header, "a,1,3,,,wave", "a,,,100,150,jump")
    with pytest.raises(InputError, match=r"line 3, column fps: expected a frame rate such as 25 or 24000/1001, got ''"):
        read_segments(mixed)
    (video,) = read_segments(mixed, rate=Fraction(25)).videos
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments][1] == ("jumping", 4, 6)
    both = csv_file(tmp_path, header, "a,1,3,25,75,wave", "a,,,100,150,bow")
    for rate in (None, Fraction(25)):
        with pytest.raises(InputError, match=r"line 2, column start_frame: .*'both: start, end, start_frame"):
            read_segments(both, rate=rate)


def test_empty_spans_are_left_out(tmp_path: Path) -> None:
    read = read_segments(csv_file(tmp_path, "video,start,end,phrase", "a,2,2,wave", "a,3,5,jump", "b,0:01,1,bow"))
    assert [(v.id, [s.action.phrase for s in v.segments]) for v in read.videos] == [("a", ["jumping"])]
    assert read.counts["rows_left_out_of_zero_length"] == 2


def test_columns_may_be_renamed(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "Video ID;START TIME;end;phrase;Notes", "a;0:01;1:05.5;wave;x", "a;1:06;1:10;jump;y")
    with pytest.raises(InputError, match=r"--columns video=Video ID,start=START TIME"):
        read_segments(path)
    read = read_segments(path, columns={"video": "video_id", "start": "start-time"})
    assert [(s.start_s, s.end_s) for v in read.videos for s in v.segments] == [(1, 65.5), (66, 70)]
    assert read.remarks == ("own.csv: these columns are not used: Notes.",)


def test_rows_may_state_their_rate(tmp_path: Path) -> None:
    header = "video,start_frame,end_frame,fps,phrase"
    path = csv_file(tmp_path, header, "a,25,75,25,wave", "b,30000,60000,29.97,jump", "c,48,96,24000/1001,clap")
    spans = [(s.start_s, s.end_s) for v in read_segments(path).videos for s in v.segments]
    assert spans == [(1, 3), (1001, 2002), (2.002, 4.004)]
    with pytest.raises(UsageError, match="--fps has no effect"):
        read_segments(path, rate=Fraction(25))
    for fps in ("0", "x", "-1", "5000"):
        with pytest.raises(InputError, match=rf"column fps: .* got '{fps}'"):
            read_segments(csv_file(tmp_path, header, f"a,25,75,{fps},wave"))


SHARES = (0.6, 0.2, 0.2)


def unsplit(folder: Path, names: str) -> Path:
    return csv_file(folder, "video,start,end,phrase", *(f"{name},1,3,wave" for name in names))


def splits(path: Path, **options: Any) -> dict[str, str]:
    return {video.id: video.split for video in read_segments(path, **options).videos}


def test_videos_default_to_the_test_split(tmp_path: Path) -> None:
    assert set(splits(unsplit(tmp_path, "abcdefgh")).values()) == {"test"}
    named = csv_file(tmp_path, "video,start,end,phrase,split", "a,1,3,wave,train", "b,1,3,wave,val")
    assert splits(named) == {"a": "train", "b": "validation"}


@pytest.mark.parametrize("count", [3, 4, 8, 11])
def test_shares_fill_every_split_in_any_order(tmp_path: Path, count: int) -> None:
    names = "abcdefghijk"[:count]
    drawn = splits(unsplit(tmp_path, names), shares=SHARES, seed=5)
    assert set(drawn.values()) == {"train", "validation", "test"}
    assert splits(unsplit(tmp_path, names[::-1]), shares=SHARES, seed=5) == drawn
    seeds = [splits(unsplit(tmp_path, names), shares=SHARES, seed=seed) for seed in range(5)]
    assert any(other != drawn for other in seeds)


def test_shares_without_effect_are_refused(tmp_path: Path) -> None:
    named = csv_file(tmp_path, "video,start,end,phrase,split", "a,1,3,wave,train", "b,1,3,wave,test", "c,1,3,bow,test")
    with pytest.raises(UsageError, match=r"own\.csv .*--split-shares has no effect"):
        read_segments(named, shares=SHARES)
    with pytest.raises(UsageError, match=r"--split-shares 0\.6,0\.2,0\.2 .*own\.csv has 2"):
        read_segments(unsplit(tmp_path, "ab"), shares=SHARES)
