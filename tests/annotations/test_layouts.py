"""The files of known datasets are recognised by their columns, and read as segments and as captions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations import captions, segments
from stressreel.annotations.captions import read_captions
from stressreel.annotations.layouts import LAYOUTS, videos_in_pieces
from stressreel.annotations.segments import read_segments
from stressreel.core.errors import InputError

WINDOWS = {
    **{"qid": 1, "query": "a man waves", "duration": 150, "vid": "x_60.0_210.0"},
    **{"relevant_windows": [[2, 8], [20, 30]], "relevant_clip_ids": [1], "saliency_scores": [[4, 1, 1]]},
}
EPIC = {
    **{"narration_id": "P01_01_0", "participant_id": "P01", "video_id": "P01_01", "narration": "open door"},
    **{"start_timestamp": "00:00:00.14", "stop_timestamp": "00:01:03.37", "start_frame": "8", "stop_frame": "202"},
}
STEP = {"index": 0, "heading": "remove the lid", "absolute_bounds": [5, 9]}
STORY = {"duration": 20, "timestamps": [[0, 5], [9, 3]], "sentences": ["A man opens a box.", "He sits."]}
SHOT = {"timestamps": [[50, 100]], "sentences": ["He took out a pan"], "fps": 25, "num_frames": 500}
VOTES = {"annotation_id": 0, "video": "v.mov", "times": [[0, 0], [1, 2], [1, 2]], "description": "a man waves"}
SCENE = {"vid_name": "s1", "duration": 61.5, "ts": [16.5, 33], "desc": "A man waves.", "type": "v", "desc_id": 9}
RECIPES = {
    "Boil": {"b.mp4": {"clip": True, "v_duration": 99.5, "bounds": [5, 9], "steps": [STEP]}},
    "Fry": {"c.mp4": {"clip": False, "v_duration": 9.5, "bounds": [0, 0], "steps": []}},
}
TASK = {
    **{"duration": 131, "class": "OpenDoor", "subset": "testing", "recipe_type": 13, "start": 50.5},
    "annotation": [{"id": "212", "segment": [60.0, 69.0], "label": "open the door"}],
}
FILES: dict[str, tuple[str, Any]] = {
    "ActivityNet Captions": ("a.json", {"v_1": STORY}),
    "TACoS": ("a.json", {"s17.avi": SHOT}),
    "DiDeMo": ("a.json", [VOTES]),
    "QVHighlights": ("a.jsonl", [WINDOWS]),
    "TVR": ("a.jsonl", [SCENE]),
    "HiREST": ("a.json", RECIPES),
    "EPIC-Kitchens": ("a.csv", [EPIC]),
    "COIN": ("a.json", {"database": {"y1": TASK}}),
}
SPANS = {
    "ActivityNet Captions": [("v_1", "opening a box", 0, 5)],
    "TACoS": [("s17", "taking out a pan", 2, 4)],
    "DiDeMo": [("v", "waving", 5, 15)],
    "QVHighlights": [("x_60.0_210.0", "waving", 2, 8), ("x_60.0_210.0", "waving", 20, 30)],
    "TVR": [("s1", "waving", 16.5, 33)],
    "HiREST": [("b", "removing the lid", 5, 9)],
    "EPIC-Kitchens": [("P01_01", "opening a door", 0.14, 63.37)],
    "COIN": [("y1", "opening the door", 60, 69)],
}
LENGTHS = {"ActivityNet Captions": 20, "TACoS": 20, "QVHighlights": 150, "TVR": 61.5, "HiREST": 99.5, "COIN": 131}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    if path.suffix == ".csv":
        rows = [list(content[0]), *(list(row.values()) for row in content)]
        path.write_text("\n".join(map(",".join, rows)))
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, content)))
    else:
        path.write_text(json.dumps(content))
    return path


def test_every_layout_has_an_example() -> None:
    assert [*FILES] == [layout.name for layout in LAYOUTS]


@pytest.mark.parametrize("layout", FILES)
def test_known_layout_is_named_and_read(tmp_path: Path, layout: str) -> None:
    path = write(tmp_path, *FILES[layout])
    read = read_segments(path)
    assert read.remarks == (f"{path.name}: read as {layout}.",)
    spans = [(v.id, s.action.phrase, s.start_s, s.end_s) for v in read.videos for s in v.segments]
    assert spans == SPANS[layout]
    assert read.videos[0].length_s == LENGTHS.get(layout, spans[-1][3])
    clips = read_captions(path)
    assert clips.remarks == read.remarks
    assert [(clip.source_id, clip.start_s, clip.end_s) for clip in clips.clips] == [(v, s, e) for v, _, s, e in spans]


def test_rows_left_out_are_counted(tmp_path: Path) -> None:
    counts = {name: read_segments(write(tmp_path, *FILES[name])).counts for name in ("ActivityNet Captions", "HiREST")}
    assert counts["ActivityNet Captions"]["rows_left_out_that_end_before_they_start"] == 1
    assert counts["HiREST"]["rows_left_out_without_steps"] == 1
    assert read_segments(write(tmp_path, *FILES["COIN"])).videos[0].split == "test"


@pytest.mark.parametrize(
    ("layout", "lacking"),
    [
        ("QVHighlights", ["relevant_windows", "relevant_clip_ids", "saliency_scores"]),
        ("TVR", ["vid_name", "duration", "ts", "type"]),
        ("EPIC-Kitchens", ["narration"]),
    ],
)
def test_test_set_without_ground_truth_is_refused(tmp_path: Path, layout: str, lacking: list[str]) -> None:
    name, rows = FILES[layout]
    path = write(tmp_path, name, [{key: value for key, value in row.items() if key not in lacking} for row in rows])
    for read in (read_segments, read_captions):
        with pytest.raises(InputError, match=f"{layout}.*{lacking[0]}.*ground truth"):
            read(path)


def test_problems_name_the_columns_of_the_layout(tmp_path: Path) -> None:
    rows = [{**WINDOWS, "relevant_windows": [[1, "x"]]} for _ in range(16)]
    with pytest.raises(InputError) as refused:
        read_segments(write(tmp_path, "a.jsonl", rows))
    message = str(refused.value)
    assert message.count("relevant_windows") == 3
    assert all(part in message for part in ("line 3", "13 more"))
    assert "phrase" not in message


def test_given_columns_take_precedence(tmp_path: Path) -> None:
    path = write(tmp_path, *FILES["EPIC-Kitchens"])
    columns = {"video": "video_id", "caption": "narration", "start": "start_timestamp", "end": "stop_timestamp"}
    with pytest.raises(InputError, match="both: start, end, start_frame"):  # it has frame numbers, too
        read_captions(path, columns=columns)
    path.write_text(path.read_text().replace("start_frame,stop_frame", "first,last"))
    read = read_captions(path, columns=columns)
    assert [(clip.start_s, clip.end_s) for clip in read.clips] == [(0.14, 63.37)]
    assert "not used: narration_id" in read.remarks[0]


@pytest.mark.shared
def test_released_test_set_of_qvhighlights_is_refused(shared: Path) -> None:
    with pytest.raises(InputError, match=r"QVHighlights without relevant_windows"):
        read_segments(shared / "cases" / "10-qvh-test" / "highlight_test_release_first3.jsonl")


def test_last_pieces_end_with_the_video(tmp_path: Path) -> None:
    pieces, table, described = tmp_path / "d.json", tmp_path / "t.csv", tmp_path / "a.json"
    pieces.write_text(json.dumps([{"video": "v.mov", "times": [[5, 5]], "description": "a man waves"}]))
    table.write_text("video,start,end,phrase,length\nv.mov,25,30,waving,9\n")
    described.write_text(json.dumps({"v": {"duration": 27.2, "timestamps": [[25, 99]], "sentences": ["A man waves."]}}))
    for columns in (segments.segment_columns(), captions.caption_columns()):
        assert videos_in_pieces(pieces, columns) == {"v": "v.mov"}
        assert videos_in_pieces(described, columns) == {}
    assert videos_in_pieces(table, segments.segment_columns()) == {}
    assert read_segments(table, length_of={"v": 27.2}).videos[0].segments[0].end_s == 30  # the build refuses it
    assert read_segments(table).videos[0].length_s == 30


NEAR_END = [[2, 8], [12, 20.3], [14, 20.6], [21, 23]]
TEXTS = [f"A man {what}." for what in ("opens a box", "waves", "jumps", "sits")]
FRAMES = [[round(25 * time) for time in span] for span in NEAR_END]
PIECES = [[0, 1], [2, 3], [3, 4], [4, 4]]
# annotations of a video of 20 s (22 s in DiDeMo): a span inside, one just past the end, one further, and one after it
AT_THE_END = {
    "ActivityNet Captions": {"v": {**STORY, "timestamps": NEAR_END, "sentences": TEXTS}},
    "TACoS": {"v": {**SHOT, "timestamps": FRAMES, "sentences": TEXTS}},
    "DiDeMo": [{**VOTES, "times": [piece], "description": text} for piece, text in zip(PIECES, TEXTS, strict=True)],
    "TVR": [{**SCENE, "duration": 20, "ts": span, "desc": text} for span, text in zip(NEAR_END, TEXTS, strict=True)],
    "EPIC-Kitchens": [
        {**EPIC, "start_timestamp": str(start), "stop_timestamp": str(end), "narration": text}
        for (start, end), text in zip(NEAR_END, TEXTS, strict=True)
    ],
}


@pytest.mark.parametrize(
    ("layout", "spans"),
    [
        ("ActivityNet Captions", [(2, 8), (12, 20), (14, 20)]),
        ("TACoS", [(2, 8), (12, 20), (14, 20.6)]),  # the build skips the last one
        ("DiDeMo", [(0, 10), (10, 20), (15, 22), (20, 22)]),
        ("TVR", [(2, 8), (12, 20), (14, 20.6)]),
        ("EPIC-Kitchens", [(2, 8), (12, 20.3), (14, 20.6), (21, 23)]),  # states no length
    ],
)
def test_segments_and_captions_end_with_their_video(
    tmp_path: Path, layout: str, spans: list[tuple[float, float]]
) -> None:
    path = write(tmp_path, FILES[layout][0], AT_THE_END[layout])
    lengths = {"v": 22.0} if layout == "DiDeMo" else {}
    read, clips = read_segments(path, length_of=lengths), read_captions(path, length_of=lengths)
    assert [(segment.start_s, segment.end_s) for segment in read.videos[0].segments] == spans
    assert [(clip.start_s, clip.end_s) for clip in clips.clips] == spans
    assert clips.counts.get("ends_clamped_to_length") == read.counts.get("ends_clamped_to_length")
    lost = [[(record.name, record.line, record.detail) for record in by.left_out] for by in (read, clips)]
    assert lost[0] == lost[1]
    assert len(lost[0]) == len(TEXTS) - len(spans)
