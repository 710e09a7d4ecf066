import json
from fractions import Fraction
from pathlib import Path

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
    with pytest.raises(InputError, match=r"own\.json, column \[1\]\.start: expected a time"):
        read_segments(path)


def test_a_rate_goes_with_frames(tmp_path: Path) -> None:
    seconds = csv_file(tmp_path, "video,start,end,phrase", "a,1,3,wave")
    with pytest.raises(UsageError, match=r"own\.csv gives all times in seconds"):
        read_segments(seconds, rate=Fraction(25))
    header = "video,start,end,start_frame,end_frame,phrase"
    mixed = csv_file(tmp_path, header, "a,1,3,,,wave", "a,,,100,150,jump")
    with pytest.raises(InputError, match=r"line 3, column fps: expected a frame rate .* or with --fps, got ''"):
        read_segments(mixed)
    (video,) = read_segments(mixed, rate=Fraction(25)).videos
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments][1] == ("jumping", 4, 6)
    both = csv_file(tmp_path, header, "a,1,3,25,75,wave", "a,,,100,150,bow")
    expected = r"line 2, column start_frame: expected seconds .* or frames .*'both: start, end, start_frame, end_frame'"
    for rate in (None, Fraction(25)):
        with pytest.raises(InputError, match=expected):
            read_segments(both, rate=rate)
