import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.actions import Annotations
from stressreel.annotations.segments import read_segments
from stressreel.core.errors import InputError, UsageError

Seen = list[tuple[str, str, float, float]]


def csv_file(folder: Path, *lines: str) -> Path:
    path = folder / "own.csv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def json_file(folder: Path, content: Any, name: str = "own.json") -> Path:
    path = folder / name
    lines = [json.dumps(row) for row in content] if name.endswith("l") else [json.dumps(content)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def seen(read: Annotations) -> Seen:
    return [(v.id, s.action.phrase, s.start_s, s.end_s) for v in read.videos for s in v.segments]


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_segments(path, **options)
    return str(caught.value)


def test_a_csv(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        "video,start,end,phrase,split,objects,subject",
        "a.mp4,1,3,open the door,val,door;frame,Kim",
        "a.mp4,4,6.5,A man is waving.,val,,Kim",
        "b,0,2,the camera pans,test,,",
        "b,2,3,jumping,test,,",
    )
    read = read_segments(path)
    assert seen(read) == [("a", "opening the door", 1, 3), ("a", "waving", 4, 6.5), ("b", "jumping", 2, 3)]
    assert [(v.split, v.subject, v.length_s) for v in read.videos] == [("validation", "Kim", 6.5), ("test", "", 3)]
    assert read.videos[0].segments[0].action.objects == {"door", "frame"}
    assert read.counts["phrases_left_out_other_subject"] == 1
    assert ("b", "the camera pans", 0, 2) in seen(read_segments(path, as_is=True))


def test_animals_and_names_are_asked_about(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "video,start,end,phrase", "a,1,3,The dog jumps over the fence.", "a,4,6,a man waves")
    dog, man = (segment.action for segment in read_segments(path).videos[0].segments)
    assert (dog.phrase, dog.asked) == ("the dog jumped over the fence", "Did the dog jump over the fence")
    assert (dog.subject, man.phrase, man.asked) == ("the dog", "waving", "")
    assert read_segments(path, as_is=True).videos[0].segments[0].action.asked == ""


def test_json_lines_with_frames_and_classes(tmp_path: Path) -> None:
    rows = [
        {"video": "a", "start_frame": 0, "end_frame": 50, "phrase": "Stir the soup", "class": "c1"},
        {"video": "a", "start_frame": 75, "end_frame": 100, "phrase": "stir the soup", "class": "c1"},
    ]
    for name in ("own.jsonl", "own.json"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        read = read_segments(path, rate=Fraction(25))
        assert seen(read) == [("a", "stirring the soup", 0, 2), ("a", "stirring the soup", 3, 4)]
        assert {s.action.key for s in read.videos[0].segments} == {"c1"}
        with pytest.raises(UsageError, match="--fps 25"):
            read_segments(path)


def test_rows_of_commas_are_counted(tmp_path: Path) -> None:
    read = read_segments(csv_file(tmp_path, "video,start,end,phrase", ",,,", "a,1,3,wave", " , ,,", ",,,,,", ""))
    assert seen(read) == [("a", "waving", 1, 3)]
    assert read.counts["rows_left_out_empty"] == 3


def test_a_rate_goes_with_frames(tmp_path: Path) -> None:
    seconds = csv_file(tmp_path, "video,start,end,phrase", "a,1,3,wave")
    with pytest.raises(UsageError, match=r"own\.csv gives no frames, only seconds"):
        read_segments(seconds, rate=Fraction(25))
    header = "video,start,end,start_frame,end_frame,phrase"
    mixed = csv_file(tmp_path, header, "a,1,3,,,wave", "a,,,100,150,jump")
    with pytest.raises(UsageError, match=r"own\.csv gives frames, first in line 3: .*--fps 25, or give seconds"):
        read_segments(mixed)
    assert seen(read_segments(mixed, rate=Fraction(25)))[1] == ("a", "jumping", 4, 6)
    both = csv_file(tmp_path, header, "a,1,3,25,75,wave", "a,,,100,150,bow")
    for rate in (None, Fraction(25)):
        message = refusal(both, rate=rate)
        assert "line 2, column start_frame: expected seconds (start, end) or frames" in message
        assert "got 'both: start, end, start_frame, end_frame'" in message


def test_activitynet_captions(tmp_path: Path) -> None:
    content = {
        "v_1": {
            "duration": 20,
            "timestamps": [[0, 5], [4, 30], [7, 7]],
            "sentences": ["A woman opens a box.", " She is painting a wall.", "A man bows."],
        }
    }
    read = read_segments(json_file(tmp_path, content))
    assert seen(read) == [("v_1", "opening a box", 0, 5), ("v_1", "painting a wall", 4, 20)]
    assert read.videos[0].length_s == 20
    assert read.counts["segments_left_out_empty_or_inverted"] == 1
    assert read.counts["ends_clamped_to_length"] == 1


def test_didemo_takes_the_time_that_most_chose(tmp_path: Path) -> None:
    content = [{"video": "a.mov", "times": [[0, 0], [1, 2], [1, 2]], "description": "a man waves", "num_segments": 6}]
    assert seen(read_segments(json_file(tmp_path, content))) == [("a", "waving", 5, 15)]


def test_qvhighlights_has_several_windows(tmp_path: Path) -> None:
    rows = [{"qid": 1, "vid": "a", "query": "a man waves", "duration": 150, "relevant_windows": [[2, 8], [20, 30]]}]
    read = read_segments(json_file(tmp_path, rows, "own.jsonl"))
    assert seen(read) == [("a", "waving", 2, 8), ("a", "waving", 20, 30)]
    assert read.videos[0].length_s == 150


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a,5,3,wave"], "own.csv, line 2, column end: expected an end after the start (5), got '3'"),
        (["a,x,3,wave"], "line 2, column start: expected a time in seconds such as 12.5, got 'x'"),
        (["a/b,1,3,wave"], "line 2, column video: expected a name"),
        (["a,1,3,"], "line 2, column phrase: expected a text"),
        (["a,1,3"], "line 2: expected 4 fields"),
        (["a,1,3,be happy"], "expected at least one phrase that can be asked about"),
    ],
)
def test_errors_name_row_and_column(tmp_path: Path, rows: list[str], said: str) -> None:
    assert said in refusal(csv_file(tmp_path, "video,start,end,phrase", *rows))


def test_rows_of_one_video_and_class_agree(tmp_path: Path) -> None:
    head = "video,start,end,phrase,class,split"
    message = refusal(csv_file(tmp_path, head, "a,1,3,wave,x,test", "a,3,4,bow,x,train", "b,3,4,bow,,"))
    assert "line 3, column split: expected what the other rows of this video say ('test'), got 'train'" in message
    assert "line 3, column phrase: expected one phrase for each class (x: 'wave'), got 'bow'" in message
    assert "column split: expected a split for every video, or for none" in message
    assert "column colour: expected no other columns" in refusal(
        csv_file(tmp_path, "video,start,end,phrase,colour", "a,1,2,wave,red")
    )


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        3,
        {"a": 1},
        {"a": {"duration": 5, "sentences": ["x"], "timestamps": []}},
        {"a": {"duration": 5, "sentences": ["A man waves."], "timestamps": [[1]]}},
        [{"video": "a", "description": "a man waves", "times": [[2, 1]]}],
        [{"video": "a", "description": "a man waves"}],
        {"video": "a", "start": 1, "end": 2},
    ],
)
def test_json_of_another_form_is_refused(tmp_path: Path, content: Any) -> None:
    assert refusal(json_file(tmp_path, content)).startswith(("own.json", "1 problem", "2 problems"))


def test_a_missing_file_and_a_strange_ending(tmp_path: Path) -> None:
    for name in ("no.csv", "no.json"):
        with pytest.raises(UsageError, match=rf"(cannot read|there is no file) .*{name}"):
            read_segments(tmp_path / name)
    (tmp_path / "own.txt").write_text("x")
    assert "expected the ending .csv" in refusal(tmp_path / "own.txt")


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_any_phrases_are_read_or_refused(phrases: list[str]) -> None:
    import tempfile

    rows = [{"video": "a", "start": n, "end": n + 1, "phrase": text} for n, text in enumerate(phrases)]
    with tempfile.TemporaryDirectory() as folder:
        path = json_file(Path(folder), rows, "own.jsonl")
        for as_is in (False, True):
            try:
                read = read_segments(path, as_is=as_is)
            except InputError:
                continue
            assert sum(len(video.segments) for video in read.videos) <= len(phrases)
