from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.captions import CaptionedClip
from stressreel.annotations.msrvtt import COLUMNS, JSFUSION, MSRVTT, read_msrvtt
from stressreel.annotations.samples.msrvtt import caption_table, sample_clips
from stressreel.core.errors import InputError
from stressreel.video.source_files import find_videos

HEADER = ",".join(COLUMNS)


def jsfusion(folder: Path, *rows: str, header: str = HEADER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / JSFUSION
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def video(name: str, split: str = "test") -> dict[str, Any]:
    times = {"start time": 137.72, "end time": 149.44}
    return {"category": 9, "url": "https://example.org/watch?v=x", "video_id": name, "split": split, "id": 0, **times}


def sentence(name: str, caption: Any = "a man talks") -> dict[str, Any]:
    return {"caption": caption, "video_id": name, "sen_id": 0}


def info(folder: Path, videos: Any, sentences: Any, name: str = "MSRVTT_data.json") -> Path:
    path = folder / name
    content = {"info": {"year": "2016"}, "videos": videos, "sentences": sentences}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def refusal(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_msrvtt(path)
    _, *lines, advice = str(caught.value).split("\n")
    assert advice.startswith("Take the file as it was released")
    return [line.strip() for line in lines]


# JSFusion's CSV


def test_the_csv_has_whole_videos_with_one_caption(tmp_path: Path) -> None:
    path = jsfusion(tmp_path, "ret0,msr1,video1,a dog barks", "ret1,msr2,video2,a cat sleeps ")
    read = read_msrvtt(tmp_path)
    assert read.clips == (
        CaptionedClip("video1", "video1", None, None, ("a dog barks",), "test"),
        CaptionedClip("video2", "video2", None, None, ("a cat sleeps",), "test"),
    )
    assert read == read_msrvtt(path)
    assert list(read.hashes) == [JSFUSION]
    assert (read.counts["clips"], read.counts["captions"]) == (2, 2)
    assert read.subfolders == MSRVTT.video_folders


def test_malformed_rows_of_the_csv_are_named(tmp_path: Path) -> None:
    rows = ["r,m,video1,x", "r,m,video1,y", "r,m,../video2,z", "r,m,video3,", "r,m,video4"]
    lines = refusal(jsfusion(tmp_path, *rows))
    assert [line.split(" without")[0].removeprefix(f"{JSFUSION}, ") for line in lines] == [
        "line 3, column video_id: expected an id that comes once, got 'video1'",
        "line 4, column video_id: expected a name of at most 200 bytes",
        "line 5, column sentence: expected a text, got ''",
        "line 6: expected 4 fields, got '3: r,m,video4'",
    ]


def test_other_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the columns video_id, sentence; sentence is missing"):
        read_msrvtt(jsfusion(tmp_path, "video1", header="video_id"))
    with pytest.raises(InputError, match=f"{JSFUSION} holds nothing of the split test"):
        read_msrvtt(jsfusion(tmp_path))
    with pytest.raises(InputError, match=f"{JSFUSION} holds nothing of the split train"):
        read_msrvtt(jsfusion(tmp_path, "r,m,video1,x"), ["train"])


# The data set's own JSON


def test_the_json_has_several_captions_and_all_splits(tmp_path: Path) -> None:
    videos = [video("video2", "train"), video("video1"), video("video3", "validate"), video("video4"), video("video5")]
    sentences = [sentence("video1", " x "), sentence("video2", "y"), sentence("video1", "z"), sentence("video3", "w")]
    path = info(tmp_path, videos, [*sentences, sentence("video5", "v"), sentence("video1", "x")])
    read = read_msrvtt(path)
    assert read.clips == (
        CaptionedClip("video1", "video1", None, None, ("x", "z", "x"), "test"),
        CaptionedClip("video5", "video5", None, None, ("v",), "test"),
    )
    assert read.counts["videos_left_out_without_captions"] == 1
    assert read.counts["captions_repeated_in_their_clip"] == 1
    both = read_msrvtt(path, ["validation", "train"])
    assert [(clip.id, clip.split) for clip in both.clips] == [("video2", "train"), ("video3", "validation")]
    assert both.counts["videos_left_out_without_captions"] == 0


def test_in_a_folder_the_test_split_is_that_of_jsfusion(tmp_path: Path) -> None:
    info(tmp_path, [video("video1"), video("video2", "train")], [sentence("video1"), sentence("video2", "x")])
    assert [clip.captions for clip in read_msrvtt(tmp_path).clips] == [("a man talks",)]
    jsfusion(tmp_path / "annotation", "r,m,video1,a talk")
    assert [clip.captions for clip in read_msrvtt(tmp_path).clips] == [("a talk",)]
    both = read_msrvtt(tmp_path, ["train", "test"])
    assert [(clip.id, clip.captions) for clip in both.clips] == [("video2", ("x",)), ("video1", ("a talk",))]
    assert list(both.hashes) == ["MSRVTT_data.json", JSFUSION]


def test_the_split_files_of_the_challenge(tmp_path: Path) -> None:
    info(tmp_path, [video("video0", "train")], [sentence("video0")], "train_val_videodatainfo.json")
    info(tmp_path, [video("video7010")], [sentence("video7010")], "test_videodatainfo.json")
    assert [clip.id for clip in read_msrvtt(tmp_path, ["train", "test"]).clips] == ["video0", "video7010"]
    with pytest.raises(InputError, match=r"train_val_videodatainfo.json holds nothing of the split validation\."):
        read_msrvtt(tmp_path, ["validation"])


def test_a_video_of_the_test_is_not_also_one_of_the_training(tmp_path: Path) -> None:
    info(tmp_path, [video("video1", "train")], [sentence("video1")])
    jsfusion(tmp_path, "r,m,video1,x")
    with pytest.raises(InputError, match="column video_id: expected a video of one split only, got 'video1'"):
        read_msrvtt(tmp_path, ["train", "test"])


def test_malformed_entries_of_the_json_are_named(tmp_path: Path) -> None:
    videos = [video("video1"), video("video1"), video("a/b"), video("video2", "val"), "video3"]
    sentences = [sentence("video9"), sentence("video1", ""), sentence("video1", 7), None, sentence("video1")]
    lines = [line.split(" without")[0] for line in refusal(info(tmp_path, videos, sentences))]
    assert [line.removeprefix("MSRVTT_data.json, column ") for line in lines] == [
        "videos[1].video_id: expected an id that comes once, got 'video1'",
        "videos[2].video_id: expected a name of at most 200 bytes",
        "videos[3].split: expected one of train, validate, test, got 'val'",
        "videos[4].video_id: expected a name of at most 200 bytes",
        "videos[4].split: expected one of train, validate, test, got ''",
        "sentences[0].video_id: expected a video of the list videos, got 'video9'",
        "sentences[1].caption: expected a text, got ''",
        "sentences[2].caption: expected a text, got '7'",
        "sentences[3].video_id: expected a name of at most 200 bytes",
        "sentences[3].caption: expected a text, got ''",
    ]


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"images": [], "annotations": []}', '{"videos": {}, "sentences": []}']
)
def test_other_json_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "MSR_VTT.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"^MSR_VTT.json: expected an object with the lists videos and sentences"):
        read_msrvtt(path)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"no {JSFUSION} or MSRVTT_data.json or test_videodatainfo.json in"):
        read_msrvtt(tmp_path)
    with pytest.raises(InputError, match=r"there is no split val\. Splits: train, validation, test"):
        read_msrvtt(tmp_path, ["val"])


# The real data, and where videos lie


@pytest.mark.parametrize("place", MSRVTT.video_folders)
def test_videos_are_found_where_people_keep_them(tmp_path: Path, place: str) -> None:
    path = tmp_path / place / "video1.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert find_videos([tmp_path], ["video1"], MSRVTT.video_folders) == {"video1": path}


def test_the_sample_is_read(tmp_path: Path) -> None:
    (tmp_path / JSFUSION).write_text(caption_table(sample_clips()), encoding="utf-8", newline="")
    read = read_msrvtt(tmp_path)
    assert [(clip.id, *clip.captions) for clip in read.clips] == [(clip.id, clip.caption) for clip in sample_clips()]


@pytest.mark.shared
def test_the_real_test_set_has_a_thousand_clips(shared: Path) -> None:
    read = read_msrvtt(shared / "data" / "msrvtt")
    assert len(read.clips) == 1000
    assert len(read.clips) * 18 * 5 == 90_000
    assert len(read.clips) * 35 == 35_000
    assert read.clips[1] == CaptionedClip(
        "video9771", "video9771", None, None, ("a little girl does gymnastics",), "test"
    )
    assert read.counts["videos"] == read.counts["captions"] == 1000
    found = find_videos([shared / "videos" / "msrvtt"], [clip.source_id for clip in read.clips], read.subfolders)
    assert set(found) == {"video9771", "video7021"}
