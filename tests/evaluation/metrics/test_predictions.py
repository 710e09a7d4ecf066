import contextlib
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.core import documents, tabular
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.predictions import (
    MISSING,
    UNREADABLE,
    Predictions,
    join,
    of_output,
    read_predictions,
)

Row = dict[str, object]
ROWS: list[Row] = [{"id": "q1", "answer": "yes"}, {"id": "q2", "answer": "No."}]


def given(*rows: Row) -> Predictions:
    return Predictions(Path("p"), list(rows))


def written(path: Path, *rows: Row) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return path


def test_gaps_are_refused_or_counted() -> None:
    for row, says in (({"name": 1, "answer": 0}, "no column 'id'"), (ROWS[0] | {"pred": 1}, "columns answer and pred")):
        with pytest.raises(InputError, match=says):
            join(given(row), ["q1"])
    for rows, says in (
        (ROWS[:1], "1 of 2 ids have no prediction (q2)"),
        ([*ROWS, {"id": "q1", "answer": "no"}], "1 id is given more than once (q1)"),
        ([*ROWS, {"id": "q9", "answer": "no"}], "1 id is not in this output (q9)"),
        ([ROWS[0], {"id": "q2", "answer": None}], "1 of 2 ids have no prediction (q2)"),
    ):
        with pytest.raises(InputError, match=re.escape(says)):
            join(given(*rows), ["q1", "q2"])
        joined = join(given(*rows), ["q2", "q1"], partial=True)
        assert sum(joined.summary()[name] for name in ("missing", "doubled", "unknown")) == 1
        assert joined.picks.tolist() == [MISSING if "no prediction" in says else 0, 1]
        with pytest.raises(InputError, match="none of its ids match the 1 questions"):
            join(given(*rows), ["x"], partial=True)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_null_nan_and_empty_are_missing_answers(tmp_path: Path, ending: str) -> None:
    for value in (None, float("nan"), "", "  ", "nan", "NaN", "null"):
        yes = 1.0 if isinstance(value, float) else "yes"  # a column of Parquet has one type
        path = written(tmp_path / f"p{ending}", {"id": "q1", "answer": yes}, {"id": "q2", "answer": value})
        joined = join(read_predictions(path), ["q1", "q2"], partial=True)
        assert joined.picks.tolist() == [1, MISSING]
        assert joined.summary()["unreadable"] == 0


def test_sample_logs_merge_by_item(tmp_path: Path) -> None:
    def log(name: str, **row: str) -> Path:
        return written(tmp_path / f"{name}.jsonl", {"doc_id": 0, "stressreel": {"id": "q", **row}})

    with pytest.raises(InputError, match="--log_samples"):
        read_predictions(tmp_path)
    assert read_predictions(log("1_samples_ud_answer", config="ud", answer="A")).rows[0]["answer"] == "A"
    log("1_samples_ud_explanation", config="ud", explanation="B")
    log("1_samples_ps_answer", config="ps", answer="")
    both, empty = {"id": "q", "config": "ud", "answer": "A", "explanation": "B"}, {"id": "q", "config": "ps"}
    assert {row["config"]: row for row in read_predictions(tmp_path).rows} == {"ud": both, "ps": empty | {"answer": ""}}
    assert join(of_output(read_predictions(tmp_path), "ps", "f"), ["q"]).picks.tolist() == [UNREADABLE]
    log("2_samples_ud_answer", config="ud", answer="D")
    with pytest.raises(InputError, match="1 id is given more than once"):
        join(of_output(read_predictions(tmp_path), "ud", "f"), ["q"])
    (tmp_path / "1_samples_mmlu.jsonl").write_text('{"doc_id": 0}')
    with pytest.raises(InputError, match="a task that was not written"):
        read_predictions(tmp_path)


def test_oversized_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, lines = tmp_path / "p.parquet", tmp_path / "p.jsonl"
    pq.write_table(pa.table({"id": pa.nulls(3_000_000), "answer": pa.nulls(3_000_000)}), table)
    lines.write_text('{"id": 1, "answer": 1}\n' * 20_000)
    for path in (table, lines):
        with pytest.raises(InputError, match=r"has more than 10,200 rows, far more than there are questions"):
            read_predictions(path, expected=20)
    monkeypatch.setattr(tabular, "LEAST_ROOM", 1_000_000)
    pq.write_table(pa.table({"id": ["q"], "answer": ["a" * 5_000_000]}), table, compression="zstd")
    with pytest.raises(InputError, match=r"bytes when unpacked, which is implausible"):
        read_predictions(table)
    listed = pa.table({"id": [0], "options": [[None] * 2_000_000]})  # a few bytes, by run lengths
    pq.write_table(listed.cast(pa.schema([("id", pa.int64()), ("options", pa.list_(pa.int64()))])), table)
    with pytest.raises(InputError, match="needs too much memory"):
        read_predictions(table)
    monkeypatch.setattr(documents, "LONGEST_LINE", 1000)
    lines.write_text('{"id": 1, "answer": "' + "x" * 1000 + '"}\n')
    with pytest.raises(InputError, match="line 1: the line has more than 1,000 characters"):
        read_predictions(lines)


def test_corrupt_parquet_does_not_crash(tmp_path: Path) -> None:
    """PyArrow ends the process if it is asked about such a column."""
    path = written(tmp_path / "p.parquet", {"id": "a", "answer": "b"})
    content = path.read_bytes()
    for place in range(len(content) - 400, len(content) - 8):
        path.write_bytes(content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :])
        with contextlib.suppress(InputError):
            read_predictions(path, expected=1)


FOUR = ("red", "green", "blue", "white")


def test_wrong_first_index_is_refused() -> None:
    for answers, options, first, advised in (
        (["1", "(4)", "2."], FOUR, 0, 1),
        ([1.0, 4, "B"], FOUR, 0, 1),
        ([0, 3, 2], FOUR, 1, 0),
        ([0, 4, 2], FOUR, 0, None),  # 4 is wrong, but 0 is an option
        ([1, 3, 2], FOUR, 0, None),
        ([1, 2, 2], ("no", "yes"), 0, None),  # yes and no are labels
        (["4", "5", "2"], ("2 dogs", "4 cats", "5 men", "6"), 0, None),  # the options' own numbers
    ):
        rows: list[Row] = [{"id": str(number), "answer": answer} for number, answer in enumerate(answers)]
        refused = pytest.raises(InputError, match=f"--first-index {advised}")
        with contextlib.nullcontext() if advised is None else refused:
            join(given(*rows), ["0", "1", "2"], [options] * 3, first=first)
