from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.tables import Problems, read_csv, read_text, seconds
from stressreel.core.errors import InputError

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")) | st.sampled_from('",;\n'))
FILE = st.tuples(
    st.lists(st.tuples(*[TEXT] * 3), min_size=1),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.booleans(),
)


def rows(path: Path, *required: str) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    problems = Problems()
    return [(entry.line, dict(entry.values)) for entry in read_csv(path, required, problems)], problems.lines


def file(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_any_line_ends_change_nothing(tmp_path: Path, end: str, mark: str) -> None:
    path = file(tmp_path, mark + end.join(["id,text", "a,é", "b,", ""]))
    assert rows(path, "id", "text") == ([(2, {"id": "a", "text": "é"}), (3, {"id": "b", "text": ""})], [])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_is_known_by_the_line_on_which_it_begins(tmp_path: Path, end: str) -> None:
    path = file(tmp_path, 'id,text\na,"one\ntwo, ""three"""\n\nb,x,y\nc,"d\n\ne"\nf\ng,h'.replace("\n", end))
    found, problems = rows(path, "id")
    assert found == [
        (2, {"id": "a", "text": f'one{end}two, "three"'}),
        (6, {"id": "c", "text": f"d{end}{end}e"}),
        (10, {"id": "g", "text": "h"}),
    ]
    assert problems == [
        "table.csv, line 5: expected 2 fields, got '3: b,x,y'",
        "table.csv, line 9: expected 2 fields, got '1: f'",
    ]


def test_a_header_may_take_several_lines_and_rows_be_far_down(tmp_path: Path) -> None:
    assert rows(file(tmp_path, 'id,"te\nxt"\n\n\na,b\n'), "id") == ([(5, {"id": "a", "te\nxt": "b"})], [])


def test_fields_and_column_names_lose_the_spaces_around_them(tmp_path: Path) -> None:
    assert rows(file(tmp_path, " id ,text \n a , b c \n"), "id") == ([(2, {"id": "a", "text": "b c"})], [])


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_only_real_line_ends_end_a_line(tmp_path: Path, odd: str, quote: str) -> None:
    path = file(tmp_path, f"id,text\na,{quote}b{odd}c{quote}\nd\n")
    assert rows(path, "id") == (
        [(2, {"id": "a", "text": f"b{odd}c"})],
        ["table.csv, line 3: expected 2 fields, got '1: d'"],
    )


@settings(derandomize=True, deadline=None, max_examples=150)
@given(FILE)
def test_what_was_written_is_read(drawn: tuple[list[tuple[str, ...]], str, int, bool]) -> None:
    written, end, quoting, mark = drawn
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([("id", "text", "more"), *(("x" + first, *rest) for first, *rest in written)])
    text = buffer.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        found, problems = rows(file(Path(folder), ("\ufeff" if mark else "") + text), "id")
    assert not problems
    assert [list(row.values()) for _, row in found] == [
        [("x" + first).strip(), *(value.strip() for value in rest)] for first, *rest in written
    ]
    starts = [line for line, _ in found]
    assert starts == sorted(set(starts))
    assert starts[0] == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "table.csv, line 1: expected the columns id, length; id, length are missing (got: an empty file)."),
        ("id,x\na,b\n", "table.csv, line 1: expected the columns id, length; length is missing (got: id, x)."),
        ('id,length\na,"b\n', "table.csv, line 2: not a well-formed CSV (unexpected end of data)."),
        ('id,length\na,1\nb,"2"3\n', "table.csv, line 3: not a well-formed CSV (',' expected after '\"')."),
        (b"id,length\r\na,1\r\nb\xff,2\n", "table.csv, line 3: expected UTF-8, got byte 0xff. Save the file as UTF-8."),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(file(tmp_path, content), "id", "length")
    assert str(caught.value) == message


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*absent\.csv: No such file or directory\. Check the path"):
        read_text(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="Is a directory"):
        read_text(tmp_path)


def test_no_problems_no_error() -> None:
    Problems().raise_if_any("Mend it.")


def test_one_error_tells_every_problem_the_first_twenty_in_full() -> None:
    problems = Problems()
    problems.add(Path("/far/away/a.csv"), 3, "length", "a number", "x" * 81)
    with pytest.raises(InputError) as caught:
        problems.raise_if_any("Mend it.")
    assert str(caught.value).split("\n") == [
        "1 problem in the annotations; nothing was written.",
        f"  a.csv, line 3, column length: expected a number, got '{'x' * 77}…'",
        "Mend it.",
    ]
    for number in range(22):
        problems.add(Path("b.json"), None, None, "something", str(number))
    with pytest.raises(InputError) as caught:
        problems.raise_if_any("Mend it.")
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("23 problems")
    assert lines[2] == "  b.json: expected something, got '0'"
    assert lines[-3:] == ["  b.json: expected something, got '18'", "  … and 3 more", "Mend it."]


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("11.90", 11.9), (" 3 ", 3), ("1e1", 10), ("2.5E-1", 0.25), (".5", 0.5), ("5.", 5)]
)
def test_seconds(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "-0.1", "-1", "nan", "inf", "-inf", "1,5", "1:30", "1e400", "0x1", "1_0", "１", "."]
)
def test_no_seconds(text: str) -> None:
    assert seconds(text) is None
