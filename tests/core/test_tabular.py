"""Rows of users' files: every format gives the same rows, and names of columns that may be wrong are refused."""

import datetime
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.core import tabular
from stressreel.core.errors import InputError, UsageError
from stressreel.core.tabular import Columns, Format, Row, folded, read_rows

ROWS = [{"id": "q1", "text": "a, b; c"}, {"id": "q2", "text": "é"}]
BY_ID = {row["id"]: {"text": row["text"]} for row in ROWS}


def workbook(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


TABLE, LINES = 'id,text\nq1,"a, b; c"\nq2,é\n', "\n\n".join(map(json.dumps, ROWS))
FILES = {
    "comma.csv": TABLE,
    "comma.tsv": TABLE,
    "semicolon.csv": TABLE.replace(",", ";", 1).replace("1,", "1;").replace("2,", "2;"),
    "tab.csv": TABLE.replace(",", "\t", 1).replace("1,", "1\t").replace("2,", "2\t"),
    "mark.csv": TABLE.encode("utf-8-sig"),
    "utf16.csv": TABLE.encode("utf-16"),
    "utf16.jsonl": LINES.encode("utf-16"),
    "mac.csv": TABLE.replace("\n", "\r"),
    "rows.jsonl": LINES,
    "lines.json": LINES,
    "list.json": json.dumps(ROWS, indent=1),
    "values.json": json.dumps({row["id"]: row["text"] for row in ROWS}),
    "by_id.json": json.dumps(BY_ID),
    "nested.json": json.dumps({"version": 1, "database": BY_ID}),
}


@pytest.mark.parametrize("name", [*FILES, "rows.parquet", "rows.xlsx"])
def test_every_format_gives_the_same_rows(tmp_path, name):
    if name == "rows.parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / name)
    elif name == "rows.xlsx":
        workbook(tmp_path / name, [[*ROWS[0]], *([*row.values()] for row in ROWS)])
    else:
        content = FILES[name]
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    rows = read_rows(tmp_path / name, Format(value="text"))
    assert [dict(row.values) for row in rows if row.values] == ROWS


def test_json_object_is_row_or_answers(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"id": "q1", "text": "x"}')
    for how in (Format(), Format(value="text")):
        assert [dict(row.values) for row in read_rows(path, how)] == [{"id": "q1", "text": "x"}]
    path.write_text('{"Task": {"a": {"n": 1}, "b": {"n": 2}}, "Other": {"c": {"n": 3}}}')
    read = list(read_rows(path, Format(key="video")))
    assert [dict(row.values) for row in read] == [{"video": name, "n": n} for n, name in enumerate("abc", 1)]
    assert read[2].pointer == "['Other']['c']."


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.csv", "id,text\nq,café\n".encode("latin-1"), ("line 2", "expected UTF-8")),
        ("a.csv", TABLE.encode("utf-32"), ("line 1", "expected UTF-8")),
        ("a.csv", b"id,text\nq\n", ("line 2", "2 fields")),
        ("a.csv", b"id,id\nq,r\n", ("line 1", "id")),
        ("a.json", b'{"rows": 3', ("invalid JSON",)),
        ("a.json", b"[1]", ("[0]", "1")),
        ("a.json", b"3", ("3",)),
        ("a.jsonl", b'{"id": 1, "id": 2}', ("line 1", "'id'")),
        ("a.parquet", b"PAR1", ("cannot be read",)),
        ("a.txt", b"id\n", (".csv", ".xlsx")),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name, content, parts):
    with pytest.raises(UsageError):
        list(read_rows(tmp_path / name))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        list(read_rows(tmp_path / name))
    assert [part for part in parts if part not in str(refused.value)] == []


def test_workbook_is_bounded_and_times_are_text(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", [["id", "start"], ["q", datetime.time(0, 5)], [None, None], ["r"], ["s", 1]])
    read = [row for row in read_rows(path) if row.line]
    assert "format the cell as text" in read[0].values["start"]
    assert [dict(row.values) for row in read[1:]] == [{}, {"id": "r", "start": None}, {"id": "s", "start": 1}]
    for name, limit in (("MOST_CELLS", 7), ("MOST_TAGS", 100), ("LARGEST_SHEETS", 1000)):  # empty cells count, too
        monkeypatch.setattr(tabular, name, limit)
        with pytest.raises(InputError, match=f"{limit:,}"):
            list(read_rows(path))


def apply(names, *, given=None):
    columns = Columns({"id": ("id", "qid"), "start": ("start",), "text": ("text",)}, ("id",), given or {})
    header = tuple(names.split(","))
    return columns, list(columns.apply(Path("a.csv"), [Row({name: name for name in header}, header, 2)]))


def test_names_regardless_of_case_and_spaces():
    columns, (row,) = apply("qid,mood,text,words", given={"text": "Words"})
    assert row.values == {"qid": "qid", "mood": "mood", "text": "words"}
    assert columns.notes(Path("a.csv")) == ("a.csv: these columns are not used: mood.",)
    for names in ("id,start", "ID,Start", " id , START "):
        _, (row,) = apply(names)
        assert set(row.values) == {"id", "start"}
    assert {folded(name) for name in ("Start Frame", "start-frame", " START_FRAME")} == {"start_frame"}


@pytest.mark.parametrize("name", ["strat", "starts", "start_time", "Start Time", "startTime", "start (s)", "t_start"])
def test_a_name_like_a_missing_one_is_refused(name):
    with pytest.raises(InputError) as refused:
        apply(f"id,{name}")
    assert f"--columns start={name}" in str(refused.value)
    columns, _ = apply(f"id,start,{name}")  # with the right column, it is only another one
    assert [*columns.unused] == [name]
    _, (row,) = apply(f"id,{name}", given={"start": name})
    assert row.values == {"id": "id", "start": name}


def test_columns_that_are_missing_or_doubled_are_refused():
    for names, given, part in (
        ("start,text", {}, "id is missing"),
        ("id,Start,start", {}, "'Start' and 'start'"),
        ("id,start", {"text": "words"}, "no column words"),
        ("id,start", {"word": "start"}, "unknown column: word"),
    ):
        with pytest.raises(InputError, match=part):
            apply(names, given=given)
