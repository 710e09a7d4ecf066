from __future__ import annotations

import csv
import hashlib
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.captions import COLUMNS, CaptionedClip, read_captions
from stressreel.annotations.tables import Problems, choose_files, file_name, parse_json, read_json
from stressreel.core.errors import InputError
from stressreel.video.source_files import VIDEO_SUFFIXES


def file(folder: Path, *lines: str, name: str = "own.csv", end: str = "\n") -> Path:
    path = folder / name
    path.write_text(end.join([*lines, ""]), encoding="utf-8", newline="")
    return path


def json_lines(folder: Path, *rows: Any, name: str = "own.jsonl") -> Path:
    return file(folder, *(row if isinstance(row, str) else json.dumps(row) for row in rows), name=name)


def clips(path: Path, **options: str) -> tuple[CaptionedClip, ...]:
    return read_captions(path, **options).clips


def refusal(path: Path) -> list[str]:
    """What the one error says of each problem."""
    with pytest.raises(InputError) as caught:
        read_captions(path)
    head, *lines = str(caught.value).split("\n")
    assert head.startswith(f"{len(lines) - 1} problem")
    assert "start and end (seconds), id and split" in lines.pop()
    return [line.removeprefix(f"  {path.name}, ") for line in lines]


# What rows become


def test_whole_videos_and_parts(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "video,caption,start,end",
        "a.mp4,a dog barks,,",
        "b,a cat sleeps,1.5,12.0004",
        "b, a cat yawns ,0,1",
        "b,a cat rests,1.50,12.0004",
    )
    read = read_captions(path)
    assert read.clips == (
        CaptionedClip("a", "a", None, None, ("a dog barks",), "test"),
        CaptionedClip("b_1500_12000", "b", 1.5, 12.0004, ("a cat sleeps", "a cat rests"), "test"),
        CaptionedClip("b_0_1000", "b", 0, 1, ("a cat yawns",), "test"),
    )
    assert read.hashes == {"own.csv": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert read.counts == {
        "captions": 4,
        "captions_repeated_in_their_clip": 0,
        "clips": 3,
        "clips_with_the_times_of_another": 0,
        "videos": 2,
        "videos_in_several_splits": 0,
    }
    assert read.subfolders == (".", "videos")


def test_ids_and_splits_can_be_given(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "id,split,caption,video,start,end",
        "one,train,x,a,1,2",
        "one,train,y,a,1,2",
        ",validation,z,a,2,3",
        "three,,w,b.webm,,",
    )
    assert [(c.id, c.split, c.captions) for c in clips(path, split="validation")] == [
        ("one", "train", ("x", "y")),
        ("a_2000_3000", "validation", ("z",)),
        ("three", "validation", ("w",)),
    ]
    assert read_captions(path).counts["videos_in_several_splits"] == 1


def test_repeated_captions_are_kept_and_counted(tmp_path: Path) -> None:
    read = read_captions(file(tmp_path, "video,caption", "a,x", "a,x", "a,X"))
    assert read.clips[0].captions == ("x", "x", "X")
    assert read.counts["captions_repeated_in_their_clip"] == 1


@pytest.mark.parametrize("name", ["own.jsonl", "own.json", "own.ndjson", "OWN.JSONL"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    path = json_lines(
        tmp_path,
        {"video": "a.mp4", "caption": "one\u2028line", "start": None, "end": None, "id": None},
        "",
        {"video": 12, "caption": "x", "start": 0, "end": 1e-5, "id": 7, "split": "train"},
        {"video": "c", "caption": "y", "start": "1", "end": 2},
        name=name,
    )
    assert clips(path) == (
        CaptionedClip("a", "a", None, None, ("one\u2028line",), "test"),
        CaptionedClip("7", "12", 0, 1e-5, ("x",), "train"),
        CaptionedClip("c_1000_2000", "c", 1, 2, ("y",), "test"),
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_mark_and_windows_line_ends_change_nothing(tmp_path: Path, kind: str, mark: str, end: str) -> None:
    lines = ["video,caption", "a,é"] if kind == "csv" else ['{"video": "a", "caption": "é"}']
    path = file(tmp_path, mark + lines[0], *lines[1:], name=f"own.{kind}", end=end)
    assert clips(path) == (CaptionedClip("a", "a", None, None, ("é",), "test"),)


@pytest.mark.parametrize("suffix", [*VIDEO_SUFFIXES, ".MP4"])
def test_a_video_may_have_its_suffix(tmp_path: Path, suffix: str) -> None:
    rows = [f"v1.2{suffix},x", "v1.2,y", "d.tail,z"]
    assert [c.source_id for c in clips(file(tmp_path, "video,caption", *rows))] == ["v1.2", "d.tail"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "-b", "c d"]),
            st.none() | st.tuples(st.integers(0, 99), st.integers(1, 99)),
            st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z")), min_size=1),
        ),
        min_size=1,
    )
)
def test_csv_and_json_lines_say_the_same(rows: list[tuple[str, tuple[int, int] | None, str]]) -> None:
    records = [
        {"video": video, "caption": caption, "start": part and part[0] / 8, "end": part and sum(part) / 8}
        for video, part, caption in rows
    ]
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS)
    table.writeheader()
    table.writerows(records)
    with tempfile.TemporaryDirectory() as name:
        by_rows = read_captions(file(Path(name), text.getvalue())).clips
        assert by_rows == clips(json_lines(Path(name), *records))
    assert sum(len(clip.captions) for clip in by_rows) == len(rows)
    assert len({clip.id for clip in by_rows}) == len(by_rows) == len({row[:2] for row in rows})
    for clip in by_rows:
        here = [r["caption"] for r in records if (r["video"], r["start"]) == (clip.source_id, clip.start_s)]
        assert set(clip.captions) <= set(here)


# What is refused


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (",x,,,,", "column video: expected a name of at most 200 bytes without / and \\ that does not begin"),
        ("a/b,x,,,,", "column video: expected a name"),
        ("..\\b,x,,,,", "column video: expected a name"),
        ("../b.mp4,x,,,,", "column video: expected a name"),
        (".mp4,x,,,,", "column video: expected a name"),
        ("a\x00,x,,,,", "column video: expected a name"),
        ("é" * 101 + ",x,,,,", "column video: expected a name"),
        ("a,,,,,", "column caption: expected a text, got ''"),
        ("a, ,,,,", "column caption: expected a text, got ''"),
        ("a,x,1,,,", "column end: expected a time in seconds such as 12.5, got ''"),
        ("a,x,,1,,", "column start: expected a time in seconds such as 12.5, got ''"),
        ("a,x,nan,2,,", "column start: expected a time in seconds such as 12.5, got 'nan'"),
        ("a,x,-1,2,,", "column start: expected a time in seconds such as 12.5, got '-1'"),
        ("a,x,0,inf,,", "column end: expected a time in seconds such as 12.5, got 'inf'"),
        ("a,x,0:01,1:02,,", "column start: expected a time in seconds such as 12.5, got '0:01'"),
        ("a,x,2,2,,", "column end: expected an end after the start (2), got '2'"),
        ("a,x,3,2,,", "column end: expected an end after the start (3), got '2'"),
        ("a,x,,,b/c,", "column id: expected a name"),
        ("a,x,,,.b,", "column id: expected a name"),
        ("a,x,,,,val", "column split: expected one of train, validation, test, got 'val'"),
        ("a,x,,", "expected 6 fields, got '4: a,x,,'"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: str, problem: str) -> None:
    lines = refusal(file(tmp_path, ",".join(COLUMNS), "ok,x,,,,", row))
    assert lines[0].removeprefix("line 3, ").removeprefix("line 3: ").startswith(problem)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["a,x,1,2,one,", "a,x,1,2,two,"], "id: expected the id of the other rows of this clip (one), got 'two'"),
        (["a,x,,,,", "a,x,,,two,"], "id: expected the id of the other rows of this clip (a), got 'two'"),
        (["a,x,,,one,", "b,x,,,one,"], "id: expected an id that no other clip has, got 'one'"),
        (["a,x,1,2,,", "a,x,1,2.0001,,"], "id: expected an id that no other clip has, got 'a_1000_2000'"),
        (["a_0_1000,x,,,,", "a,x,0,1,,"], "id: expected an id that no other clip has, got 'a_0_1000'"),
        (["a,x,,,,train", "a,y,,,,"], "split: expected the split of the other rows of this clip (train), got 'test'"),
        (["a.mp4,x,,,,", "a.mkv,x,,,,"], "video: expected one file for each stem (there was a.mp4), got 'a.mkv'"),
    ],
)
def test_rows_that_contradict_each_other(tmp_path: Path, rows: Sequence[str], problem: str) -> None:
    assert refusal(file(tmp_path, ",".join(COLUMNS), *rows)) == [f"line 3, column {problem}"]


def test_one_error_tells_all(tmp_path: Path) -> None:
    path = file(tmp_path, "video,caption,start,end", "/a,,x,1", "", "b,y,2,1", "c,z,0,1")
    assert [line.split(":")[0] for line in refusal(path)] == [
        "line 2, column video",
        "line 2, column caption",
        "line 2, column start",
        "line 4, column end",
    ]


@pytest.mark.parametrize("header", ["Video,Caption", "video_id,caption", "", "video"])
def test_other_spellings_of_the_header_are_named(tmp_path: Path, header: str) -> None:
    with pytest.raises(InputError, match="line 1: expected the columns video, caption; ") as caught:
        read_captions(file(tmp_path, header, "a,x"))
    assert f"(got: {header.replace(',', ', ') or 'an empty file'})" in str(caught.value)


def test_a_column_that_would_go_unnoticed_is_refused_once(tmp_path: Path) -> None:
    expected = "line {}, column {}: expected no other columns than video, caption, start, end, id, split, got '{}'"
    path = file(tmp_path, "video,caption,start_time,end_time", "a,x,1,2", "b,x,1,2")
    assert refusal(path) == [expected.format(2, name, name) for name in ("end_time", "start_time")]
    path = json_lines(tmp_path, {"video": "a", "caption": "x"}, {"video": "b", "text": "y"})
    assert refusal(path) == [expected.format(2, "text", "text"), "line 2, column caption: expected a text, got ''"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("[]", "line 1: expected one JSON object on each line, got '[]'"),
        ("{", "line 1: expected one JSON object on each line, got '{'"),
        ("[" * 100_000, "line 1: expected one JSON object on each line"),
        ("1" * 5000, "line 1: expected one JSON object on each line"),
        ('{"video": "a", "caption": "x", "caption": "y"}', "line 1: expected keys that come once in an object, got 'c"),
        ({"video": "a", "caption": ["x"]}, "line 1, column caption: expected a text, got \"['x']\""),
        ({"video": "a", "caption": None}, "line 1, column caption: expected a text, got ''"),
        ({"video": "a", "caption": "\ud83d"}, "line 1, column caption: expected a text, got '\\ud83d'"),
        ({"video": "\ud83d", "caption": "x"}, "line 1, column video: expected a name"),
        ({"video": True, "caption": "x"}, "line 1, column video: expected a name"),
        ({"video": "a\nb", "caption": "x"}, "line 1, column video: expected a name"),
        ({"video": "a", "caption": "x", "start": True, "end": 2}, "line 1, column start: expected a time"),
        ('{"video": "a", "caption": "x", "start": NaN, "end": 2}', "line 1, column start: expected a time"),
        ('{"video": "a", "caption": "x", "start": 1, "end": 1e999}', "line 1, column end: expected a time"),
        ({"video": "a", "caption": "x", "start": [1], "end": 2}, "line 1, column start: expected a time"),
        ({"video": "a", "caption": "x", "split": ["test"]}, "line 1, column split: expected one of train, validation"),
    ],
)
def test_a_malformed_line_of_json_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    (line,) = refusal(json_lines(tmp_path, row))
    assert line.startswith(problem)


@pytest.mark.parametrize("name", ["own.tsv", "own", "own.txt"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: expected the ending .csv or .jsonl, .ndjson, .json. One row is"):
        read_captions(file(tmp_path, "video,caption", "a,x", name=name))


@pytest.mark.parametrize(("name", "line"), [("own.csv", "video,caption"), ("own.jsonl", "")])
def test_a_file_without_a_clip_is_refused(tmp_path: Path, name: str, line: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: expected at least one clip, got none"):
        read_captions(file(tmp_path, line, name=name))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("absent.csv", "absent.jsonl", "folder.csv"):
        with pytest.raises(InputError, match=f"cannot read .*{name}"):
            read_captions(tmp_path / name)


# The parts that other readers use


@pytest.mark.parametrize("value", ["a", "-a", "a.b", "é ü", "a:b", " a ", 12, "x" * 200, "👩‍🍳"])
def test_names_that_can_be_files(value: Any) -> None:
    assert file_name(value) == str(value).strip()


@pytest.mark.parametrize("value", ["", " ", ".", "..", ".a", "a/b", "a\\b", "a\nb", "a\x7f", "x" * 201, 1.5, None, []])
def test_names_that_cannot(value: Any) -> None:
    assert file_name(value) == ""


def test_json_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^own.json: not well-formed JSON \(Expecting .*: line 2 column 1"):
        read_json(file(tmp_path, '{"a":', name="own.json"), Problems())
    with pytest.raises(InputError, match="cannot read"):
        read_json(tmp_path / "absent.json", Problems())
    (tmp_path / "own.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="expected UTF-8"):
        read_json(tmp_path / "own.json", Problems())


def test_keys_that_come_twice_are_problems(tmp_path: Path) -> None:
    problems = Problems()
    assert parse_json('{"a": {"b": 1, "b": 2}, "a": 3}', tmp_path / "x.json", problems) == {"a": 3}
    assert problems.lines == [f"x.json: expected keys that come once in an object, got '{key}'" for key in "ba"]


def test_files_are_chosen_by_split(tmp_path: Path) -> None:
    names = {"train": ("all.json",), "test": ("best.csv", "all.json")}
    inside = tmp_path / "one" / "two" / "all.json"
    inside.parent.mkdir(parents=True)
    inside.touch()
    assert choose_files(tmp_path, ["test", "train"], names) == {inside: ["test", "train"]}
    (tmp_path / "best.csv").touch()
    assert choose_files(tmp_path, ["test", "train", "test"], names) == {
        tmp_path / "best.csv": ["test"],
        inside: ["train"],
    }
    assert choose_files(inside, ["test", "train"], names) == {inside: ["test", "train"]}
    inside.unlink()
    with pytest.raises(InputError, match=r"no all.json in .*; the split train is read from one of them"):
        choose_files(tmp_path, ["test", "train"], names)
    with pytest.raises(InputError, match=r"there is no file or folder .*absent"):
        choose_files(tmp_path / "absent", ["test"], names)
    for splits, given_ in ((["val"], "val"), ([], "given")):
        with pytest.raises(InputError, match=f"there is no split {given_}. Splits: train, test"):
            choose_files(tmp_path, splits, names)
