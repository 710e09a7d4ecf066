import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.annotations.entries import Problems, entries, seconds
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


def rows(folder, content, *required):
    """Return the rows of a table with their lines, and its problems."""
    (folder / "table.csv").write_bytes(content)
    problems = Problems()
    read = [(each.line or 0, dict(each.values)) for each in entries(folder / "table.csv", required, problems)]
    return read, [line for lines in problems.places.values() for line in lines]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_row_has_the_line_where_it_begins(tmp_path, end):
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
def test_written_tables_are_read_back(drawn):
    written, (end, quoting), mark = drawn
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end, quoting=quoting)
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


def test_malformed_table_is_refused(tmp_path):
    for content, message in (
        (b"id,x\na,b\n", r"line 1: .*columns id, length; length is missing \(got: id, x\)"),
        (b'id,length\na,"1\nb,2\nc,"3"4\n', r"lines 2 to 4: invalid CSV \("),
        (b"id,length\r\na,1\r\nb\xff,2\n", "line 3: expected UTF-8, got byte 0xff"),
    ):
        with pytest.raises(InputError, match=rf"^table\.csv, {message}"):
            rows(tmp_path, content, "id", "length")


def test_times_in_seconds_and_clock_form():
    known = {"0": 0, "11.90": 11.9, " 3 ": 3, "2.5E-1": 0.25, ".5": 0.5, "5.": 5}
    known |= {"1:05": 65, "0:00.25": 0.25, "75:00": 4500, "1:02:03.5": 3723.5, "00:00:08.020": 8.02, "10:00:00": 36000}
    assert {text: seconds(text) for text in known} == known
    wrong = ["", "x", "-0.1", "nan", "inf", "1,5", "1e400", "0x1", "1_0", "１", ".", "12s", "1:75", "1:5", ":30", "1:"]
    wrong += ["1:2:03", "1:60:00", "1:02:60", "1:02:03:04", "1.2.3", "-1:00", "1:30,5", "1e1:00"]
    assert {seconds(text) for text in wrong} == {None}
