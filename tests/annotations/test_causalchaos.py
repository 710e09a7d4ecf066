from __future__ import annotations

import csv
import io
import json
import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.causalchaos import (
    COLUMNS,
    CausalRow,
    SyncFrames,
    first_by_id,
    overlaps,
    read_causalchaos,
    read_fps_map,
    read_offsets,
    read_sync_frames,
)
from stressreel.core.errors import InputError

HEADER = "QID,Filename,Start Frame,End Frame,Question,Answer,Explanation"
GOOD = [
    "1,S01E01,813,1300,Why was Pip running?,Pip saw Bramble.,Pip did not want to be eaten.",
    '2,S01E01,900,1060,"Why, then?", Pip ran.  ,"Pip said ""no""  twice"',
    "3,S01E02,0,25,Why did Pip stop?,Pip’s tail hurt.,Bramble held Pip’s tail",
]
SYNC = (
    "Episode,First color of actual cartoon frame after opening credits,Stable brightness of first actual cartoon frame"
)


def write(folder: Path, *lines: str, name: str = "Annotations.csv", mark: str = "") -> Path:
    path = folder / name
    path.write_text(mark + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def refused(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_causalchaos(path, **options)
    return str(caught.value)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_are_read_as_they_are_meant(tmp_path: Path, mark: str) -> None:
    path = write(tmp_path, HEADER, *GOOD, mark=mark)
    read = read_causalchaos(path)
    assert read.rows == (
        CausalRow(
            "1", "S01E01", 813, 1300, "Why was Pip running?", "Pip saw Bramble.", "Pip did not want to be eaten."
        ),
        CausalRow("2", "S01E01", 900, 1060, "Why, then?", "Pip ran.", 'Pip said "no" twice'),
        CausalRow("3", "S01E02", 0, 25, "Why did Pip stop?", "Pip’s tail hurt.", "Bramble held Pip’s tail"),
    )
    assert set(read.hashes) == {"Annotations.csv"}
    assert read.counts["rows"] == 3
    assert read.counts["episodes"] == 2
    assert read.counts["rows_that_overlap_another"] == 2
    assert read.counts["texts_with_runs_of_spaces"] == 1


def test_json_lines_and_other_names(tmp_path: Path) -> None:
    table = list(csv.reader(io.StringIO("\n".join(GOOD))))
    names = ["id", "video", "first", "last", "q", "a", "e"]
    objects = [dict(zip(names, [row[0], row[1], int(row[2]), row[3], *row[4:]], strict=True)) for row in table]
    path = write(tmp_path, *map(json.dumps, objects), name="mine.jsonl")
    columns = dict(zip(COLUMNS, names, strict=True))
    expected = read_causalchaos(write(tmp_path, HEADER, *GOOD)).rows
    assert read_causalchaos(path, columns).rows == expected
    renamed = write(tmp_path, HEADER.replace("Question", "Q"), *GOOD, name="renamed.csv")
    assert read_causalchaos(renamed, {"question": "Q"}).rows == expected
    assert "no column questions to name" in refused(renamed, columns={"questions": "Q"})
    assert "Question is missing" in refused(renamed)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        HEADER,
        GOOD[0],
        "1,S01E01,5,9,Why?,a,b",
        "4,S01E01,20,20,Why?,a,b",
        "5,S01E01,-3,9,Why?,a,b",
        "6,S01E01,3,9.5,Why?,a,b",
        "7,../x,3,9,Why?,a,b",
        '8,S01E01,3,9,Why?," ",b',
        ",S01E01,3,9,Why?,a,b",
        "9,S01E01,3,9,Why?,a",
    )
    said = refused(path)
    assert "8 problems" in said
    for part in (
        "line 3, column QID: expected an id of its own (line 2 has it), got '1'",
        "line 4, column End Frame: expected a frame after the start (20), got '20'",
        "line 5, column Start Frame: expected a frame",
        "line 6, column End Frame: expected a frame",
        "line 7, column Filename",
        "line 8, column Answer: expected a text",
        "line 9, column QID",
        "line 10: expected 7 fields",
    ):
        assert part in said
    assert "--columns" in said


@pytest.mark.parametrize(
    ("name", "lines", "part"),
    [
        ("a.csv", [HEADER], "at least one row"),
        ("a.csv", [], "missing"),
        ("a.txt", [HEADER, *GOOD], "expected the ending"),
        ("a.jsonl", ["[1]", "{"], "one JSON object on each line"),
        ("a.jsonl", ['{"QID": true}'], "column QID"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, name: str, lines: list[str], part: str) -> None:
    assert part in refused(write(tmp_path, *lines, name=name))


def row(qid: str, episode: str, start: int, end: int) -> CausalRow:
    return CausalRow(qid, episode, start, end, "q", "a", "e")


def test_parts_that_touch_do_not_overlap() -> None:
    rows = [row("1", "A", 0, 10), row("2", "A", 10, 20), row("3", "A", 5, 11), row("4", "B", 0, 20)]
    assert overlaps(rows) == {"1": ("3",), "2": ("3",), "3": ("1", "2"), "4": ()}


@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 30), st.integers(1, 9)), max_size=12))
def test_overlaps_are_frames_in_common(parts: list[tuple[str, int, int]]) -> None:
    rows = [row(str(place), episode, start, start + size) for place, (episode, start, size) in enumerate(parts)]
    found = overlaps(rows)
    for one in rows:
        frames = set(range(one.start_frame, one.end_frame))
        expected = {o.qid for o in rows if o is not one and o.episode == one.episode
                    and frames & set(range(o.start_frame, o.end_frame))}  # fmt: skip
        assert set(found[one.qid]) == expected


def test_frames_of_copies_are_laid_side_by_side(tmp_path: Path) -> None:
    released = write(tmp_path, SYNC, "S01E01,765,778", "S01E03,NA (no fading),752", "S01E04,700,NA", name="r.csv")
    assert read_sync_frames(released) == {
        "S01E01": SyncFrames(765, 778),
        "S01E03": SyncFrames(None, 752),
        "S01E04": SyncFrames(700, None),
    }
    own = write(tmp_path, SYNC, "S01E01,700,780", "S01E04,690,705", name="own.csv")
    assert read_offsets(own, released) == {"S01E01": 2, "S01E04": -10}
    plain = write(tmp_path, "Episode,Offset", "S01E01,-12", "S02E01,+3", name="plain.csv")
    assert read_offsets(plain) == {"S01E01": -12, "S02E01": 3}
    with pytest.raises(InputError, match="Give the released"):
        read_offsets(own)
    with pytest.raises(InputError, match=r"(?s)a frame of the same kind.*S09E09"):
        read_offsets(write(tmp_path, SYNC, "S09E09,1,2", name="other.csv"), released)


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        ([SYNC, "S01E01,x,7", "S01E01,1,2", "S02E01,NA,NA", ",1,2"], ["line 2", "line 4", "line 5"]),
        ([SYNC, "S01E01,1,2", "S01E01,1,2"], ["line 3, column Episode"]),
        (["Episode,Offset", "S01E01,1.5"], ["line 2, column Offset"]),
        (["Episode,Frames", "S01E01,1"], ["missing"]),
    ],
)
def test_offset_files_with_faults(tmp_path: Path, lines: list[str], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_offsets(write(tmp_path, *lines), write(tmp_path, SYNC, "S01E01,1,2", name="r.csv"))
    assert all(part in str(caught.value) for part in parts)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("f.csv", ["episode,fps", "A,25", "B,23.976", "C,24000/1001", "D,29.97", "E,12.5", "F,59.94"]),
        ("f.txt", ["A=25", "", "B = 23.98", "C=24000/1001", "D=30000/1001", "E=25/2", "F=59.94"]),
        ("f.json", ['{"A": 25, "B": 23.976, "C": "24000/1001", "D": 29.97, "E": 12.5, "F": "59.94"}']),
    ],
)
def test_frame_rates(tmp_path: Path, name: str, lines: list[str]) -> None:
    ntsc = Fraction(24000, 1001)
    assert read_fps_map(write(tmp_path, *lines, name=name)) == {
        "A": 25, "B": ntsc, "C": ntsc, "D": Fraction(30000, 1001), "E": Fraction(25, 2), "F": Fraction(60000, 1001),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "lines", "part"),
    [
        ("f.csv", ["A,fast"], "expected a frame rate"),
        ("f.csv", ["A,0"], "expected a frame rate"),
        ("f.csv", ["A,1/0"], "expected a frame rate"),
        ("f.csv", ["A"], "an episode and its frame rate"),
        ("f.csv", ["A,24", "A,24"], "each episode once"),
        ("f.csv", ["episode,fps"], "at least one episode"),
        ("f.json", ['{"A": true}'], "expected a frame rate"),
        ("f.json", ["[24]"], "expected an object"),
        ("f.json", ["{"], "not well-formed JSON"),
    ],
)
def test_frame_rates_with_faults(tmp_path: Path, name: str, lines: list[str], part: str) -> None:
    with pytest.raises(InputError, match=part):
        read_fps_map(write(tmp_path, *lines, name=name))


@given(st.lists(st.text(max_size=30), max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_whatever_stands_in_a_file_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: list[str], rng: random.Random
) -> None:
    lines = [HEADER, *GOOD, *noise]
    rng.shuffle(lines)
    path = tmp_path_factory.mktemp("noise") / "a.csv"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    for read in (read_causalchaos, read_offsets, read_sync_frames, read_fps_map):
        with suppress(InputError):
            assert read(path)


@pytest.mark.shared
def test_the_release(shared: Path) -> None:
    read = read_causalchaos(shared / "data/causalchaos/Annotations.csv")
    assert len(read.rows) == 4945
    assert len({row.episode for row in read.rows}) == 161
    assert read.counts["rows_that_overlap_another"] == 3821
    assert read.counts["texts_with_runs_of_spaces"] > 0
    assert all(text == " ".join(text.split()) for row in read.rows for text in (row.question, row.answer))


def test_first_by_id_keeps_the_order_of_the_file() -> None:
    made = [CausalRow(qid, "E", 0, 10, "q", "a", "e") for qid in ("10", "2", "1", "x")]
    assert [row.qid for row in first_by_id(made, 3)] == ["2", "1", "x"]
    assert [row.qid for row in first_by_id(made, None)] == ["10", "2", "1", "x"]


def test_parts_that_nearly_meet_overlap_with_a_margin() -> None:
    made = [CausalRow(str(start), "E", start, start + 10, "q", "a", "e") for start in (0, 10, 30)]
    assert overlaps(made) == {"0": (), "10": (), "30": ()}
    assert overlaps(made, 10) == {"0": ("10",), "10": ("0",), "30": ()}
    assert overlaps(made, 11)["30"] == ("10",)


@pytest.mark.parametrize("column", ["Question", "Answer", "Explanation"])
def test_what_pandas_writes_for_nothing_is_no_text(column: str, tmp_path: Path) -> None:
    values = {"QID": "1", "Filename": "E", "Start Frame": "1", "End Frame": "9", "Question": "q", "Answer": "a",
              "Explanation": "e"} | {column: "NaN"}  # fmt: skip
    path = tmp_path / "a.csv"
    path.write_text(",".join(values) + "\n" + ",".join(values.values()) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line 2.*{column}.*missing value"):
        read_causalchaos(path)
