import csv
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.causalchaos import (
    COLUMNS,
    FIRST_COLOUR,
    STABLE,
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
ROWS = [
    "1,S01E01,813,1300,Why was Pip running?,Pip saw Bramble.,Pip did not want to be eaten.",
    '2,S01E01,900,1060,"Why, then?", Pip ran.  ,"Pip said ""no""  twice"',
    "3,S01E02,0,25,Why did Pip stop?,Pip’s tail hurt.,Bramble held Pip’s tail",
]
SYNC = f"Episode,{FIRST_COLOUR},{STABLE}"


def test_rows_are_read_from_any_columns(write):
    read = read_causalchaos(write("Annotations.csv", "\ufeff" + HEADER, *ROWS))
    assert read.rows[1:] == (
        CausalRow("2", "S01E01", 900, 1060, "Why, then?", "Pip ran.", 'Pip said "no" twice'),
        CausalRow("3", "S01E02", 0, 25, "Why did Pip stop?", "Pip’s tail hurt.", "Bramble held Pip’s tail"),
    )
    names = ("rows", "episodes", "rows_that_overlap_another", "texts_with_runs_of_spaces")
    assert [read.counts[name] for name in names] == [3, 2, 2, 1]
    columns = dict(zip(COLUMNS, ("id", "video", "first", "last", "q", "a", "e"), strict=True))
    lines = (json.dumps(dict(zip(columns.values(), row, strict=True))) for row in csv.reader(ROWS))
    assert read_causalchaos(write("mine.jsonl", *lines), columns).rows == read.rows
    renamed = write("renamed.csv", HEADER.replace("Question", "Q"), *ROWS)
    assert read_causalchaos(renamed, {"question": "Q"}).rows == read.rows
    with pytest.raises(InputError, match="unknown column: questions"):
        read_causalchaos(renamed, {"questions": "Q"})


@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 30), st.integers(1, 9)), max_size=12))
def test_overlapping_rows_share_frames(parts):
    rows = [
        CausalRow(str(index), episode, start, start + size, "q", "a", "e")
        for index, (episode, start, size) in enumerate(parts)
    ]
    frames = {row.qid: {(row.episode, frame) for frame in range(row.start_frame, row.end_frame)} for row in rows}
    expected = {row: tuple(other for other in frames if other != row and frames[row] & frames[other]) for row in frames}
    assert overlaps(rows) == expected


def test_offsets_are_differences_of_start_frames(write):
    released = write("r.csv", SYNC, "S01E01,765,778", "S01E03,NA (no fading),752", "S01E04,700,NA")
    frames = {"S01E01": SyncFrames(765, 778), "S01E03": SyncFrames(None, 752), "S01E04": SyncFrames(700, None)}
    assert read_sync_frames(released) == frames
    own = write("own.csv", SYNC, "S01E01,700,780", "S01E04,690,705")
    assert read_offsets(own, released) == {"S01E01": 2, "S01E04": -10}
    assert read_offsets(write("plain.csv", "Episode,Offset", "A,-12", "B,+3")) == {"A": -12, "B": 3}
    with pytest.raises(InputError, match="--released-offsets"):
        read_offsets(own)
    with pytest.raises(InputError, match=r"(?s)a frame of the same kind.*S09E09"):
        read_offsets(write("other.csv", SYNC, "S09E09,1,2"), released)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("f.csv", ["episode,fps", "A,25", "B,23.976", "C,24000/1001", "D,29.97", "E,12.5", "F,59.94"]),
        ("f.txt", ["A=25", "", "B = 23.98", "C=24000/1001", "D=30000/1001", "E=25/2", "F=59.94"]),
        ("f.json", ['{"A": 25, "B": 23.976, "C": "24000/1001", "D": 29.97, "E": 12.5, "F": "59.94"}']),
    ],
)
def test_frame_rates_are_exact(write, name, lines):
    rates = {"A": 25_025, "B": 24_000, "C": 24_000, "D": 30_000, "E": Fraction(25_025, 2), "F": 60_000}
    assert read_fps_map(write(name, *lines)) == {episode: rate * Fraction(1, 1001) for episode, rate in rates.items()}


def test_first_by_id_keeps_file_order():
    rows = [CausalRow(qid, "E", 0, 10, "q", "a", "e") for qid in ("10", "2", "1", "x")]
    assert [row.qid for row in first_by_id(rows, 3)] == ["2", "1", "x"]
    assert first_by_id(rows, None) == tuple(rows)
