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


def rows(folder: Path, content: bytes, *required: str) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """Return the rows of a table with their lines, and its problems."""
    (folder / "table.csv").write_bytes(content)
    problems = Problems()
    read = [(each.line or 0, dict(each.values)) for each in entries(folder / "table.csv", required, problems)]
    return read, [line for lines in problems.places.values() for line in lines]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_row_has_the_line_where_it_begins(tmp_path: Path, end: str) -> None:
    text = 'id,text\na,"one\ntwo, ""three"""\n\nb,x,y\nc,"d\n\ne"\nf\ng,h'.replace("\n", end)
    read, problems = rows(tmp_path, text.encode(), "id")
    assert read == [
        (2, {"id": "a", "text": f'one{end}two, "three"'}),
        (6, {"id": "c", "text": f"d{end}{end}e"}),
        (10, {"id": "g", "text": "h"}),
    ]
    assert [problem.partition(":")[0] for problem in problems] == ["table.csv, line 5", "table.csv, line 9"]


@settings(derandomize=True, max_examples=100)
@given(FILE)
def test_written_tables_are_read_back(drawn: tuple[list[tuple[str, ...]], tuple[str, int], bool]) -> None:
    written, (end, quoting), mark = drawn
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([("id", "text", "more"), *(("x" + first, *rest) for first, *rest in written)])
    text = ("\ufeff" if mark else "") + buffer.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        read, problems = rows(Path(folder), text.encode(), "id")
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
        (b"id,x\na,b\n", r"line 1: .*columns id, length; length is missing \(got: id, x\)"),
        (b'id,length\na,"b\n', r"line 2: invalid CSV \(unexpected end of data\)"),
        (b'id,length\na,"1\nb,2\nc,"3"4\n', r"lines 2 to 4: invalid CSV \("),
        (b"id,length\r\na,1\r\nb\xff,2\n", "line 3: expected UTF-8, got byte 0xff"),
    ],
)
def test_malformed_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"^table\.csv, {message}"):
        rows(tmp_path, content, "id", "length")


def test_error_lists_three_places_of_each_kind() -> None:
    problems = Problems()
    problems.add(Path("/far/away/a.csv"), 3, "length", "a number", "x" * 81)
    for index in range(22):
        problems.add(Path("b.json"), None, f"[{index}].start", f"a time after the start ({index})", str(index))
    with pytest.raises(InputError) as caught:
        problems.raise_if_any("Fix it.")
    said, first, *others, more, advice = str(caught.value).split("\n")
    assert said.startswith("23 problems")
    assert first == f"  a.csv, line 3, column length: expected a number, got '{'x' * 77}…'"
    assert [line.partition(":")[0] for line in others] == [f"  b.json, column [{n}].start" for n in range(3)]
    assert (more, advice) == ("  … and 19 more of this kind", "Fix it.")


def test_times_in_seconds_and_clock_form() -> None:
    known = {"0": 0, "11.90": 11.9, " 3 ": 3, "2.5E-1": 0.25, ".5": 0.5, "5.": 5}
    known |= {"1:05": 65, "0:00.25": 0.25, "75:00": 4500, "1:02:03.5": 3723.5, "00:00:08.020": 8.02, "10:00:00": 36000}
    assert {text: seconds(text) for text in known} == known
    wrong = ["", "x", "-0.1", "nan", "inf", "1,5", "1e400", "0x1", "1_0", "１", ".", "12s", "1:75", "1:5", ":30", "1:"]
    wrong += ["1:2:03", "1:60:00", "1:02:60", "1:02:03:04", "1.2.3", "-1:00", "1:30,5", "1e1:00"]
    assert {seconds(text) for text in wrong} == {None}


def test_files_are_chosen_by_split(tmp_path: Path) -> None:
    names = {"train": ("all.json",), "test": ("best.csv", "all.json")}
    inside, best = tmp_path / "one" / "two" / "all.json", tmp_path / "best.csv"
    inside.parent.mkdir(parents=True)
    inside.touch()
    assert choose_files(tmp_path, ["test", "train"], names) == {inside: ["test", "train"]}
    best.touch()
    assert choose_files(tmp_path, ["test", "train", "test"], names) == {best: ["test"], inside: ["train"]}
    assert choose_files(inside, ["test", "train"], names) == {inside: ["test", "train"]}
    inside.unlink()
    for split, message in (("train", "no all.json in .*The split train"), ("val", "unknown split: val.*train, test")):
        with pytest.raises(InputError, match=message):
            choose_files(tmp_path, ["test", split], names)
