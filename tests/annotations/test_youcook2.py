from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.captions import CaptionedClip
from stressreel.annotations.youcook2 import COLUMNS, MILNCE, TRAINVAL, read_youcook2
from stressreel.core.errors import InputError
from stressreel.video.source_files import find_videos


def milnce(folder: Path, *rows: str, header: str = ",".join(COLUMNS)) -> Path:
    path = folder / MILNCE
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def cooking(*annotations: Any, subset: str = "validation", recipe: Any = "226", **more: Any) -> dict[str, Any]:
    return {"duration": 200.5, "subset": subset, "recipe_type": recipe, "annotations": list(annotations), **more}


def step(start: Any, end: Any, sentence: Any = "stir the soup", number: int = 0) -> dict[str, Any]:
    return {"segment": [start, end], "id": number, "sentence": sentence}


def trainval(folder: Path, database: Any) -> Path:
    path = folder / TRAINVAL
    path.write_text(json.dumps({"database": database}), encoding="utf-8")
    return path


def refusal(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_youcook2(path)
    _, *lines, advice = str(caught.value).split("\n")
    assert advice.startswith("Take the file as it was released")
    return [line.strip().removeprefix(f"{path.name}, ") for line in lines]


# MIL-NCE's CSV


def test_the_csv_names_the_end_first(tmp_path: Path) -> None:
    rows = ["60,47,226,pick the ends,xHr8X2Wpmno", "26,16,105,mix,-V53XmPeyjI", "89,67,226,combine ,xHr8X2Wpmno"]
    path = milnce(tmp_path, *rows)
    read = read_youcook2(tmp_path)
    assert read == read_youcook2(path)
    assert read.clips == (
        CaptionedClip("xHr8X2Wpmno_00", "xHr8X2Wpmno", 47, 60, ("pick the ends",), "validation"),
        CaptionedClip("-V53XmPeyjI_00", "-V53XmPeyjI", 16, 26, ("mix",), "validation"),
        CaptionedClip("xHr8X2Wpmno_01", "xHr8X2Wpmno", 67, 89, ("combine",), "validation"),
    )
    assert list(read.hashes) == [MILNCE]
    assert (read.counts["clips"], read.counts["videos"]) == (3, 2)


def test_clips_with_the_same_times_are_kept_and_counted(tmp_path: Path) -> None:
    read = read_youcook2(milnce(tmp_path, "2,1,3,cut,a", "2,1,3,fry,a"))
    assert [clip.id for clip in read.clips] == ["a_00", "a_01"]
    assert read.counts["clips_with_the_times_of_another"] == 1


def test_malformed_rows_of_the_csv_are_named(tmp_path: Path) -> None:
    rows = ["1,2,3,x,a", "2,1,../..,x,a", "2,1,3,,a", "2,1,3,x,a/b", "2,nan,3,x,a", "1,3,x,a"]
    assert [line.split(" without")[0] for line in refusal(milnce(tmp_path, *rows))] == [
        "line 2, column end: expected an end after the start (2), got '1'",
        "line 3, column task: expected a name of at most 200 bytes",
        "line 4, column text: expected a text, got ''",
        "line 5, column video_id: expected a name of at most 200 bytes",
        "line 6, column start: expected a time in seconds such as 12.5, got 'nan'",
        "line 7: expected 5 fields, got '4: 1,3,x,a'",
    ]


def test_other_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the columns end, start, task, text, video_id; task, text, video_id"):
        read_youcook2(milnce(tmp_path, header="start,end,caption"))
    with pytest.raises(InputError, match=f"{MILNCE} holds nothing of the split train"):
        read_youcook2(milnce(tmp_path, "2,1,3,x,a"), ["train"])


# The data set's own JSON


def test_the_json_has_both_splits(tmp_path: Path) -> None:
    database = {
        "b": cooking(step(1, 2.5, "cut"), step(2, 201, " fry ", 1)),
        "a": cooking(step(3, 4), subset="training", recipe="101"),
        "c": cooking(),
    }
    path = trainval(tmp_path, database)
    read = read_youcook2(path)
    assert read.clips == (
        CaptionedClip("b_00", "b", 1, 2.5, ("cut",), "validation"),
        CaptionedClip("b_01", "b", 2, 201, ("fry",), "validation"),
    )
    assert (read.counts["ends_past_the_length"], read.counts["videos_left_out_without_clips"]) == (1, 1)
    assert [clip.id for clip in read_youcook2(tmp_path, ["train"]).clips] == ["a_00"]
    assert [clip.id for clip in read_youcook2(tmp_path, ["train", "validation"]).clips] == ["b_00", "b_01", "a_00"]


def test_in_a_folder_the_validation_split_is_that_of_the_csv(tmp_path: Path) -> None:
    trainval(tmp_path, {"a": cooking(step(3, 4), subset="training"), "b": cooking(step(1, 2))})
    milnce(tmp_path, "6,5,226,x,b")
    read = read_youcook2(tmp_path, ["train", "validation"])
    assert [(clip.id, clip.start_s) for clip in read.clips] == [("a_00", 3), ("b_00", 5)]
    assert list(read.hashes) == [TRAINVAL, MILNCE]


def test_malformed_entries_of_the_json_are_named(tmp_path: Path) -> None:
    database = {
        "a/b": cooking(step(1, 2)),
        "c": cooking(step(2, 1), step(-1, 2), step(None, 2), step(1, 2, " "), {"segment": [1]}, None),
        "d": cooking(step(1, 2), subset="testing", recipe="../x"),
        "e": cooking() | {"annotations": {}},
        "f": 7,
    }
    assert [line.split(" without")[0].removeprefix("column ") for line in refusal(trainval(tmp_path, database))] == [
        "database: expected a name of at most 200 bytes",
        "database['c'].annotations[0].segment: expected an end after the start (2), got '1'",
        "database['c'].annotations[1].segment: expected a time in seconds such as 12.5, got '-1'",
        "database['c'].annotations[2].segment: expected a time in seconds such as 12.5, got ''",
        "database['c'].annotations[3].sentence: expected a text, got ' '",
        "database['c'].annotations[4].segment: expected [start, end] in seconds, got '[1]'",
        "database['c'].annotations[4].sentence: expected a text, got ''",
        "database['c'].annotations[5].segment: expected [start, end] in seconds, got ''",
        "database['c'].annotations[5].sentence: expected a text, got ''",
        "database['d'].subset: expected one of training, validation, got 'testing'",
        "database['d'].recipe_type: expected a name of at most 200 bytes",
        "database['e'].annotations: expected a list, got '{}'",
        "database['f'].subset: expected one of training, validation, got ''",
        "database['f'].recipe_type: expected a name of at most 200 bytes",
        "database['f'].annotations: expected a list, got ''",
    ]


def test_a_video_that_comes_twice_is_named(tmp_path: Path) -> None:
    entry = json.dumps(cooking(step(1, 2)))
    path = tmp_path / TRAINVAL
    path.write_text(f'{{"database": {{"a": {entry}, "a": {entry}}}}}', encoding="utf-8")
    with pytest.raises(InputError, match=f"{TRAINVAL}: expected keys that come once in an object, got 'a'"):
        read_youcook2(path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"database": []}'])
def test_other_json_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / TRAINVAL).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="expected an object with the object database"):
        read_youcook2(tmp_path)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"no {MILNCE} or {TRAINVAL} in"):
        read_youcook2(tmp_path)
    with pytest.raises(InputError, match=r"there is no split test\. Splits: train, validation"):
        read_youcook2(tmp_path, ["test"])


# Where videos lie, and the real data


@pytest.mark.parametrize(
    "place", ["raw_videos/validation/226", "validation/226", "raw_videos", "validation", "videos", "."]
)
def test_videos_are_found_in_the_folders_of_their_recipes(tmp_path: Path, place: str) -> None:
    read = read_youcook2(milnce(tmp_path, "60,47,226,x,a", "2,1,7,x,b"))
    path = tmp_path / place / "a.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert find_videos([tmp_path], ["a"], read.subfolders) == {"a": path}


@pytest.mark.shared
def test_the_real_validation_clips(shared: Path) -> None:
    read = read_youcook2(shared / "data" / "youcook2")
    assert len(read.clips) == 3350
    assert len(read.clips) * 18 * 5 == 301_500
    assert len(read.clips) * 31 == 103_850
    assert (read.counts["videos"], read.counts["clips_with_the_times_of_another"]) == (436, 1)
    assert read.clips[0] == CaptionedClip(
        "xHr8X2Wpmno_00", "xHr8X2Wpmno", 47, 60, ("pick the ends off the verdalago",), "validation"
    )
    assert "raw_videos/validation/226" in read.subfolders


@pytest.mark.shared
def test_the_real_json_agrees_with_the_csv(shared: Path) -> None:
    path = shared / "data" / "youcook2" / TRAINVAL
    both = read_youcook2(path, ["train", "validation"])
    assert len(both.clips) == both.counts["captions"] == 13_829
    assert both.counts["ends_past_the_length"] == both.counts["videos_left_out_without_clips"] == 0
    assert [sum(clip.split == split for clip in both.clips) for split in ("train", "validation")] == [10_337, 3_492]
    assert both.counts["videos"] == 1333 + 457
    by_id = {clip.id: clip for clip in both.clips}
    for clip in read_youcook2(path.parent).clips:
        assert (by_id[clip.id].start_s, by_id[clip.id].end_s) == (clip.start_s, clip.end_s)
