import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.entries import Problems, choose_files, entries, seconds
from stressreel.core.errors import InputError

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")) | st.sampled_from('",;\n'))
FILE = st.tuples(
    st.lists(st.tuples(*[TEXT] * 3), min_size=1),
    st.sampled_from(  # before Python 3.13, a line feed is only quoted if it ends lines
        [(end, quoting) for end in ("\n", "\r\n") for quoting in (csv.QUOTE_ALL, csv.QUOTE_MINIMAL)]
        + [("\r", csv.QUOTE_ALL)]
    ),
    st.booleans(),
)


def rows(path: Path, *required: str) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    problems = Problems()
    read = [(entry.line or 0, dict(entry.values)) for entry in entries(path, required, problems)]
    return read, [line for lines in problems.places.values() for line in lines]


def file(folder: Path, content: bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_row_has_the_line_where_it_begins(tmp_path: Path, end: str) -> None:
    path = file(tmp_path, 'id,text\na,"one\ntwo, ""three"""\n\nb,x,y\nc,"d\n\ne"\nf\ng,h'.replace("\n", end).encode())
    read, problems = rows(path, "id")
    assert read == [
        (2, {"id": "a", "text": f'one{end}two, "three"'}),
        (6, {"id": "c", "text": f"d{end}{end}e"}),
        (10, {"id": "g", "text": "h"}),
    ]
    assert problems == [
        "table.csv, line 5: expected 2 fields, got '3: b,x,y'",
        "table.csv, line 9: expected 2 fields, got '1: f'",
    ]


@settings(derandomize=True, deadline=None, max_examples=150)
@given(FILE)
def test_written_tables_are_read_back(drawn: tuple[list[tuple[str, ...]], tuple[str, int], bool]) -> None:
    written, (end, quoting), mark = drawn
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([("id", "text", "more"), *(("x" + first, *rest) for first, *rest in written)])
    text = ("\ufeff" if mark else "") + buffer.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        read, problems = rows(file(Path(folder), text.encode()), "id")
    assert not problems
    assert [list(row.values()) for _, row in read] == [
        [("x" + first).strip(), *(value.strip() for value in rest)] for first, *rest in written
    ]
    starts = [line for line, _ in read]
    assert starts == sorted(set(starts))
    assert starts[0] == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"line 1: .*columns id, length; id, length are missing \(got: an empty file\)"),
        (b"id,x\na,b\n", r"line 1: .*columns id, length; length is missing \(got: id, x\)"),
        (b'id,length\na,"b\n', r"line 2: invalid CSV \(unexpected end of data\)"),
        (b'id,length\na,"1\nb,2\nc,"3"4\n', r"lines 2 to 4: invalid CSV \("),
        (b'id,length\na,1\nb,"2"3\n', r"line 3: invalid CSV \("),
        (b"id,length\r\na,1\r\nb\xff,2\n", "line 3: expected UTF-8, got byte 0xff"),
    ],
)
def test_malformed_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"^table\.csv, {message}"):
        rows(file(tmp_path, content), "id", "length")


def test_error_lists_three_places_of_each_kind() -> None:
    problems = Problems()
    problems.add(Path("/far/away/a.csv"), 3, "length", "a number", "x" * 81)
    for index in range(22):
        problems.add(Path("b.json"), None, f"[{index}].start", f"a time after the start ({index})", str(index))
    with pytest.raises(InputError) as caught:
        problems.raise_if_any("Fix it.")
    assert str(caught.value).split("\n") == [
        "23 problems in the annotations; nothing was written.",
        f"  a.csv, line 3, column length: expected a number, got '{'x' * 77}…'",
        *(f"  b.json, column [{n}].start: expected a time after the start ({n}), got '{n}'" for n in range(3)),
        "  … and 19 more of this kind",
        "Fix it.",
    ]


def test_times_in_seconds_and_clock_form() -> None:
    known = {"0": 0, "11.90": 11.9, " 3 ": 3, "2.5E-1": 0.25, ".5": 0.5, "5.": 5}
    known |= {"1:05": 65, "0:00.25": 0.25, "75:00": 4500, "1:02:03.5": 3723.5, "00:00:08.020": 8.02, "10:00:00": 36000}
    assert {text: seconds(text) for text in known} == known
    wrong = ["", "x", "-0.1", "nan", "inf", "1,5", "1e400", "0x1", "1_0", "１", ".", "12s", "1:75", "1:5", ":30", "1:"]
    wrong += ["1:2:03", "1:60:00", "1:02:60", "1:02:03:04", "1.2.3", "-1:00", "1:30,5", "1e1:00"]
    assert {seconds(text) for text in wrong} == {None}


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
    with pytest.raises(InputError, match=r"no all.json in .*\. The split train requires one of these files"):
        choose_files(tmp_path, ["test", "train"], names)
    with pytest.raises(InputError, match=r"unknown split: val\. Choose from train, test"):
        choose_files(tmp_path, ["val"], names)
