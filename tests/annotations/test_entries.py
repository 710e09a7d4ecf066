import csv
import io
import tempfile
from pathlib import Path

import pytest
from cases import read_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.entries import Problems, choose_files, entries, seconds
from stressreel.core.errors import InputError

CASES = read_cases(__file__)

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")) | st.sampled_from('",;\n'))
FILE = st.tuples(
    st.lists(st.tuples(*[TEXT] * 3), min_size=1),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.booleans(),
)


def rows(path: Path, *required: str) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    problems = Problems()
    found = [(entry.line or 0, dict(entry.values)) for entry in entries(path, required, problems)]
    return found, [line for lines in problems.places.values() for line in lines]


def file(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


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


@pytest.mark.parametrize(("content", "message"), CASES["tables.a_file_that_is_no_such_table_is_refused"])
def test_a_file_that_is_no_such_table_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(file(tmp_path, content), "id", "length")
    assert str(caught.value) == message


def test_one_error_tells_every_kind_of_problem_with_its_first_three_places() -> None:
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
        problems.add(Path("b.json"), None, f"[{number}].start", f"a time after the start ({number})", str(number))
    with pytest.raises(InputError) as caught:
        problems.raise_if_any("Mend it.")
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("23 problems")
    assert lines[2:] == [
        *(f"  b.json, column [{n}].start: expected a time after the start ({n}), got '{n}'" for n in range(3)),
        "  … and 19 more of this kind",
        "Mend it.",
    ]


def test_seconds() -> None:
    known = {"0": 0, "11.90": 11.9, " 3 ": 3, "2.5E-1": 0.25, ".5": 0.5, "5.": 5}
    known |= {"1:05": 65, "0:00.25": 0.25, "75:00": 4500, "1:02:03.5": 3723.5, "00:00:08.020": 8.02, "10:00:00": 36000}
    assert {text: seconds(text) for text in known} == known
    wrong = ("", "x", "-0.1", "nan", "inf", "1,5", "1e400", "0x1", "1_0", "１", ".", "12s")
    wrong += (
        "1:75",
        "1:5",
        ":30",
        "1:",
        "1:2:03",
        "1:60:00",
        "1:02:60",
        "1:02:03:04",
        "1.2.3",
        "-1:00",
        "1:30,5",
        "1e1:00",
    )
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
