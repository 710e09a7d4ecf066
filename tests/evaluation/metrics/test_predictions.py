import contextlib
import json
import re
from pathlib import Path

import pandas as pd
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


def write(path: Path, rows: list[Row]) -> Path:
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)) + "\n\n")
    return path


def test_every_format_reads_the_same(tmp_path: Path) -> None:
    for ending in (".jsonl", ".json", ".csv", ".parquet"):
        assert join(read_predictions(write(tmp_path / f"p{ending}", ROWS)), ["q2", "q1"]).picks.tolist() == [0, 1]
    row = {"id": "q", "n": 1, "x": 0.5, "t": True, "none": None, "b": b"\xff", "list": ["p", "q"], "o": {"k": "v"}}
    given = [row, {**row, "id": None, "list": None}]
    assert read_predictions(write(tmp_path / "all.parquet", given)).rows == given


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (ROWS[:1], "1 of 2 ids have no prediction (q2)"),
        ([*ROWS, {"id": "q1", "answer": "no"}], "1 id is given more than once (q1)"),
        ([*ROWS, {"id": "q9", "answer": "no"}], "1 id is not in this output (q9)"),
        ([ROWS[0], {"id": "q2", "answer": None}], "1 of 2 ids have no prediction (q2)"),
    ],
)
def test_gaps_are_refused_or_counted(tmp_path: Path, rows: list[Row], says: str) -> None:
    file = read_predictions(write(tmp_path / "p.jsonl", rows))
    with pytest.raises(InputError, match=re.escape(says)):
        join(file, ["q1", "q2"])
    joined = join(file, ["q1", "q2"], partial=True)
    summary = joined.summary()
    assert summary["missing"] + summary["doubled"] + summary["unknown"] == 1
    assert joined.picks[0] == 1
    with pytest.raises(InputError, match="none of its ids match the 1 questions"):
        join(file, ["x"], partial=True)


def test_unreadable_answers_and_other_splits_are_counted(tmp_path: Path) -> None:
    rows: list[Row] = [{"id": "q1", "answer": "perhaps"}, {"id": "t1", "answer": "yes"}]
    given = read_predictions(write(tmp_path / "p.jsonl", rows))
    joined = join(given, ["q1", "q2"], others={"t1": "of_other_splits"}, partial=True)
    assert joined.picks.tolist() == [UNREADABLE, MISSING]
    found = joined.summary()
    assert found["unreadable_first"] == [{"id": "q1", "answer": "perhaps"}]
    assert [found[name] for name in ("read", "scored", "unreadable", "unknown", "of_other_splits")] == [2, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[1]", "line 1: expected a JSON object"),
        ("", "contains no predictions"),
        ('{"name": 1, "answer": "yes"}', "no column 'id'"),
        ('{"id": "q1", "answer": 0, "pred": 1}', "the columns answer and pred"),
        (None, "does not exist"),
    ],
)
def test_invalid_files_are_refused(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "p.jsonl").write_text(content)
    with pytest.raises(InputError, match=says):
        join(read_predictions(tmp_path / "p.jsonl"), ["1"])


def samples(path: Path, *found: Row) -> Path:
    path.write_text("\n".join(json.dumps({"doc_id": n, "stressreel": row}) for n, row in enumerate(found)))
    return path


def test_sample_logs_merge_by_item(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--log_samples"):
        read_predictions(tmp_path)
    log = samples(tmp_path / "1_samples_ud_answer.jsonl", {"id": "q", "config": "ud", "answer": "A"})
    assert read_predictions(log).rows[0]["answer"] == "A"
    samples(tmp_path / "1_samples_ud_explanation.jsonl", {"id": "q", "config": "ud", "explanation": "B"})
    samples(tmp_path / "1_samples_ps_answer.jsonl", {"id": "q", "config": "ps", "answer": "C"})
    found = {row["config"]: row for row in read_predictions(tmp_path).rows}
    both = {"id": "q", "config": "ud", "answer": "A", "explanation": "B"}
    assert found == {"ud": both, "ps": {"id": "q", "config": "ps", "answer": "C"}}
    samples(tmp_path / "2_samples_ud_answer.jsonl", {"id": "q", "config": "ud", "answer": "D"})
    with pytest.raises(InputError, match="1 id is given more than once"):
        join(of_output(read_predictions(tmp_path), "ud", "f"), ["q"])
    (tmp_path / "1_samples_mmlu.jsonl").write_text('{"doc_id": 0}')
    with pytest.raises(InputError, match="a task that was not written"):
        read_predictions(tmp_path)


def test_rows_of_another_table_or_output() -> None:
    rows: list[Row] = [{"id": "a", "config": "ud"}, {"id": "b", "config": "ps"}, {"id": "c"}]
    assert [row["id"] for row in of_output(Predictions(Path("p"), rows), "ps", "f").rows] == ["b", "c"]
    with pytest.raises(InputError, match="no rows for table un, only for ps, ud"):
        of_output(Predictions(Path("p"), rows[:2]), "un", "f")
    with pytest.raises(InputError, match="belongs to another output"):
        of_output(Predictions(Path("p"), [{"id": "a", "fingerprint": "g"}]), "ud", "f")


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": pa.nulls(3_000_000), "answer": pa.nulls(3_000_000)}), tmp_path / "p.parquet")
    (tmp_path / "p.jsonl").write_text('{"id": 1, "answer": 1}\n' * 20_000)
    (tmp_path / "p.csv").write_text("id,answer\n" + "1,1\n" * 20_000)
    for name in ("p.parquet", "p.jsonl", "p.csv"):
        with pytest.raises(InputError, match=r"has more than 10,200 rows, far more than there are questions"):
            read_predictions(tmp_path / name, expected=20)


def test_parquet_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "LEAST_ROOM", 1_000_000)
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": ["q"], "answer": ["a" * 5_000_000]}), path, compression="zstd")
    with pytest.raises(InputError, match=r"bytes when unpacked, which is implausible"):
        read_predictions(path)
    listed = pa.table({"id": [0], "options": [[None] * 2_000_000]})  # a few bytes, by run lengths
    pq.write_table(listed.cast(pa.schema([("id", pa.int64()), ("options", pa.list_(pa.int64()))])), path)
    with pytest.raises(InputError, match="needs too much memory"):
        read_predictions(path)


def test_long_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST_LINE", 1000)
    (tmp_path / "p.jsonl").write_text('{"id": 1, "answer": 1}\n' + '{"id": 2, "answer": "' + "x" * 1000 + '"}\n')
    with pytest.raises(InputError, match="line 2: the line has more than 1,000 characters"):
        read_predictions(tmp_path / "p.jsonl")


def test_corrupt_parquet_does_not_crash(tmp_path: Path) -> None:
    """PyArrow ends the process if it is asked about such a column."""
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": ["a"], "answer": ["b"]}), path)
    content = path.read_bytes()
    for place in range(len(content) - 400, len(content) - 8):
        path.write_bytes(content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :])
        with contextlib.suppress(InputError):
            read_predictions(path, expected=1)


@pytest.mark.parametrize("value", [None, float("nan"), "", "  ", "nan", "NaN", "null"])
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_null_nan_and_empty_are_missing_answers(tmp_path: Path, value: object, ending: str) -> None:
    yes = 1.0 if isinstance(value, float) else "yes"  # a column of Parquet has one type
    rows: list[Row] = [{"id": "q1", "answer": yes}, {"id": "q2", "answer": value}]
    given = read_predictions(write(tmp_path / f"p{ending}", rows))
    with pytest.raises(InputError, match=r"1 of 2 ids have no prediction \(q2\)"):
        join(given, ["q1", "q2"])
    joined = join(given, ["q1", "q2"], partial=True)
    assert joined.picks.tolist() == [1, MISSING]
    assert joined.summary()["unreadable"] == 0


def test_recorded_empty_replies_are_answers(tmp_path: Path) -> None:
    replied: Row = {"id": "q2", "answer": "", "replied": True}
    assert join(read_predictions(write(tmp_path / "p.jsonl", [ROWS[0], replied])), ["q1", "q2"]).picks[1] == UNREADABLE
    log = samples(tmp_path / "1_samples_ud.jsonl", {"id": "q1", "answer": "yes"}, {"id": "q2", "answer": ""})
    assert join(read_predictions(log), ["q1", "q2"]).picks.tolist() == [1, UNREADABLE]


FOUR = ("red", "green", "blue", "white")


@pytest.mark.parametrize(
    ("answers", "options", "first", "advised"),
    [
        (["1", "(4)", "2."], FOUR, 0, 1),
        ([1.0, 4, "B"], FOUR, 0, 1),
        ([0, 3, 2], FOUR, 1, 0),
        ([0, 4, 2], FOUR, 0, None),  # 4 is wrong, but 0 is an option
        ([1, 3, 2], FOUR, 0, None),
        ([1, 2, 2], ("no", "yes"), 0, None),  # yes and no are labels
        (["4", "5", "2"], ("2 dogs", "4 cats", "5 men", "6"), 0, None),  # the options' own numbers
    ],
)
def test_wrong_first_index_is_refused(
    answers: list[object], options: tuple[str, ...], first: int, advised: int | None
) -> None:
    ids = [f"q{number}" for number in range(len(answers))]
    rows: list[Row] = [{"id": name, "answer": answer} for name, answer in zip(ids, answers, strict=True)]
    refused = pytest.raises(InputError, match=f"--first-index {advised}")
    for partial in (False, True):
        with contextlib.nullcontext() if advised is None else refused:
            join(Predictions(Path("p"), rows), ids, [options] * len(ids), first=first, partial=partial)


def test_renamed_and_misspelled_columns(tmp_path: Path) -> None:
    rows: list[Row] = [{"Sample": "q1", "answer": "no", "output": "yes", "mood": 1}]
    given = read_predictions(write(tmp_path / "p.csv", rows), columns={"id": "sample", "answer": "output"})
    assert given.rows == [{"id": "q1", "answer": "yes", "mood": "1"}]
    assert read_predictions(write(tmp_path / "q.jsonl", [{"Question ID": "q1", "ANSWER": "yes"}])).rows == [
        {"question_id": "q1", "answer": "yes"}
    ]
    for name, likely in (("answers", "answer"), ("settings", "setting")):
        near: list[Row] = [{"id": "q1", **({} if likely == "answer" else {"answer": "yes"}), name: "yes"}]
        with pytest.raises(InputError, match=rf"did you mean '{likely}'"):
            read_predictions(write(tmp_path / "near.jsonl", near))
    with pytest.raises(InputError, match="no column nope"):
        read_predictions(tmp_path / "p.csv", columns={"answer": "nope"})
