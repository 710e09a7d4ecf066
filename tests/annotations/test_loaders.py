"""What every loader makes of small files (`read.yaml`), and what it refuses (`refusals.yaml`)."""

import re
from pathlib import Path

import pytest
import yaml
from stressreel.annotations.agqa import index_rows
from stressreel.annotations.captions import CaptionedClips, caption_columns, read_captions
from stressreel.annotations.causalchaos import (
    FIRST_COLOUR,
    STABLE,
    read_causalchaos,
    read_events,
    read_fps_map,
    read_offsets,
)
from stressreel.annotations.charades import read_charades, read_charades_sta
from stressreel.annotations.clavi import read_released
from stressreel.annotations.layouts import LAYOUTS, videos_in_pieces
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.question_tables import read_questions
from stressreel.annotations.segments import read_segments, segment_columns
from stressreel.annotations.youcook2 import read_steps, read_youcook2
from stressreel.core.errors import InputError

READ, REFUSED = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("read.yaml", "refusals.yaml")
)


def sta(path):
    return read_charades_sta(path, read_charades(path))


def offsets(path):
    reference = path.with_name("reference.csv")
    reference.write_text(f"Episode,{FIRST_COLOUR},{STABLE}\nS01E01,1,2\n", encoding="utf-8")
    return read_offsets(path, reference)


LOADERS = {
    **{"captions": read_captions, "charades": read_charades, "events": read_events, "msrvtt": read_msrvtt},
    **{"segments": read_segments, "sta": sta, "steps": read_steps, "youcook2": read_youcook2},
}
REFUSING = {
    **{"agqa": lambda path: index_rows(path, str), "charades": lambda path: read_charades(path.parent)},
    **{"captions": read_captions, "causalchaos": read_causalchaos, "clavi": read_released, "fps": read_fps_map},
    **{"msrvtt": read_msrvtt, "offsets": offsets, "questions": read_questions, "segments": read_segments},
    "youcook2": read_youcook2,
}
REFUSALS = [
    pytest.param(REFUSING[rows["reader"]], rows["file"], case, id=f"{rows['reader']}: {case['says'][0][:60]}")
    for rows in REFUSED
    for case in rows["cases"]
]


def listed(read):
    """Return what was read in the form of `read.yaml`."""
    about = {
        "files": sorted(read.hashes),
        "counts": {name: count for name, count in sorted(read.counts.items()) if count},
    }
    if isinstance(read, CaptionedClips):
        clips = [[c.id, c.source_id, c.start_s, c.end_s, list(c.captions), c.split] for c in read.clips]
        return {"clips": clips, **about}
    videos = [
        [v.id, v.split, v.subject, v.length_s, sorted(v.verbs), sorted(v.objects), len(v.columns), len(v.mentions)]
        for v in read.videos
    ]
    spans = [
        [v.id, s.action.key, s.action.phrase, s.action.question, sorted(s.action.objects), s.start_s, s.end_s]
        for v in read.videos
        for s in v.segments
    ]
    return {"videos": videos, "segments": spans, **about}


@pytest.mark.parametrize("case", READ, ids=lambda case: f"{case['reader']}: {case['what']}")
def test_small_files_are_read(tmp_path, case):
    for name, text in case["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    read = LOADERS[case["reader"]](tmp_path / case["path"], **case["options"])
    assert listed(read) == case["read"]
    if "layout" in case:  # of a known dataset, whose captions end as its segments do
        assert read.remarks == (f"{case['path']}: read as {case['layout']}.",)
        clips = read_captions(tmp_path / case["path"], **case["options"])
        assert clips.remarks == read.remarks
        spans = sorted([span[0], *span[-2:]] for span in case["read"]["segments"])
        assert sorted([clip.source_id, clip.start_s, clip.end_s] for clip in clips.clips) == spans
        assert [record.detail for record in clips.left_out] == [record.detail for record in read.left_out]


def test_every_known_layout_has_an_example():
    assert {case["layout"] for case in READ if "layout" in case} == {layout.name for layout in LAYOUTS}


@pytest.mark.parametrize(("load", "file", "case"), REFUSALS)
def test_malformed_rows_are_named(tmp_path, load, file, case):
    path = tmp_path / file
    path.write_bytes(case["text"].encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        load(path)
    for part in case["says"]:
        pattern = part.removeprefix("re:") if part.startswith("re:") else re.escape(part)
        assert re.search(pattern, str(caught.value)), caught.value


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"A-1": ' + "[" * 200_000, '{"A-1": ' + "9" * 5000])
@pytest.mark.parametrize(("reader", "file"), [("captions", "own.jsonl"), ("agqa", "test_balanced.txt")])
def test_overwhelming_json_is_refused(tmp_path, reader, file, text):
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=file):
        REFUSING[reader](tmp_path / file)


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_missing_or_undecodable_file_is_refused(tmp_path, name):
    path = tmp_path / {"charades": "Charades_v1_train.csv", "fps": "fps.json"}.get(name, "file.csv")
    with pytest.raises(InputError, match=r"cannot read|there is no|two levels deep"):
        REFUSING[name](path)
    path.write_bytes(b'{"a\xff": 1}\n')
    with pytest.raises(InputError, match=r"expected UTF-8|byte \d+"):
        REFUSING[name](path)


def test_given_columns_take_precedence_over_layouts(tmp_path):
    [text] = next(case for case in READ if case.get("layout") == "EPIC-Kitchens")["files"].values()
    columns = {"video": "video_id", "caption": "narration", "start": "start_timestamp", "end": "stop_timestamp"}
    (tmp_path / "own.csv").write_text(text.replace("start_frame,stop_frame", "first,last"))
    read = read_captions(tmp_path / "own.csv", columns=columns)
    assert [(clip.start_s, clip.end_s) for clip in read.clips] == [(0.14, 63.37)]
    assert "not used: narration_id" in read.remarks[0]


def test_last_pieces_end_with_the_video(tmp_path):
    pieces, table, described = tmp_path / "d.json", tmp_path / "t.csv", tmp_path / "a.json"
    pieces.write_text('[{"video": "v.mov", "times": [[5, 5]], "description": "a man waves"}]')
    table.write_text("video,start,end,phrase,length\nv.mov,25,30,waving,9\n")
    described.write_text('{"v": {"duration": 27.2, "timestamps": [[25, 99]], "sentences": ["A man waves."]}}')
    for columns in (segment_columns(), caption_columns()):
        assert [videos_in_pieces(path, columns) for path in (pieces, described)] == [{"v": "v.mov"}, {}]
    assert videos_in_pieces(table, segment_columns()) == {}
    assert read_segments(table, length_of={"v": 27.2}).videos[0].segments[0].end_s == 30  # the build refuses it
