"""Answers are read forgivingly and never guessed."""

import contextlib
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics import predictions
from stressreel.evaluation.metrics.answers import YES_NO, read_answer
from stressreel.evaluation.metrics.predictions import (
    MISSING,
    UNREADABLE,
    Predictions,
    join,
    of_output,
    read_predictions,
)

OPTIONS = ("Tom was hungry", "Jerry ran away", "the dog barked", "I fell", "A bell rang")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((text, 1) for text in ("Yes.", "yes", " YES ", "y", "true", "Answer: yes", "The answer is yes.", '"Yes"')),
        *((text, 1) for text in (True, 1, 1.0, "1", "Yes, he opens the door")),
        *((text, 0) for text in ("No", "no.", "N", "false", False, 0, "0", "No, it was before")),
        *(
            (text, None)
            for text in ("", None, "maybe", "yes or no", "Yes, no", 2, -1, "A", "(b)", "it is yes", [], 0.5)
        ),
        *((text, None) for text in (float("nan"), float("inf"), "nothing", "yesterday", b"yes")),
        *((text, 1) for text in ("1.0", Decimal(1), "Yes\nThe person opens it.", "Yes it does", "true - it is shown")),
        *((text, 0) for text in ("0.0", "no it was before", "No – before", "No. It’s after", "N.", "no because it is")),
        *((text, None) for text in ("N/A", "n/a", "No answer", "No idea", "no clue", "No comment", "No information")),
        *(
            (text, 1)
            for text in ("Yes, there is no doubt", "<answer>yes</answer>", "Yes</s>", "Based on the video, yes.")
        ),
        *((text, 0) for text in ("No, it is not true that he does", "I think the answer is no.", "Assistant: No")),
        *((text, None) for text in ("Yes. Actually no.", "no, or yes it is", "yes and no", "Yes, that is false")),
        *(
            (text, None)
            for text in ("Yes, no he didn't", "Yes. No he did not open it", "No. Yes he did", "No\n\nThe answer is yes")
        ),
        *(
            (text, None)
            for text in ("Yes: the correct answer is no", "Yes. Actually, the claim is false because", "Yes is wrong.")
        ),
        *(
            (text, None)
            for text in ("No, I cannot tell.", "No this cannot be determined", "No. The video isn't available.")
        ),
        *(
            (text, None)
            for text in ("No there isn't enough information", "Yes would be incorrect.", "Yes I'm sorry but I can't")
        ),
        *((text, 0) for text in ("No, I don't think so.", "No. I do not see a person opening a door.", "no, he can't")),
        *((text, None) for text in ("No, I can't see the video", "Yes, we do not know", "No, we couldn't say")),
        *(
            (text, None)
            for text in ("<yes>no", "<think>No, at first.</think> It did happen.", "No as the video is not given")
        ),
        *(
            (text, 0)
            for text in ("<think>Yes? Hmm</think>\nNo", '{"answer": "no"}', '```json\n{"answer": "no"}\n```', "_no_")
        ),
        *(
            (text, 0)
            for text in ("No, that's not true.", "No, he cannot open it.", "In the video, no.", "Output: no", "“No”")
        ),
        *((text, None) for text in ("no way to tell", "N. B. unclear", "No answer can be given", "yes/no", "y/n")),
    ],
)
def test_yes_and_no(value: object, expected: int | None) -> None:
    assert read_answer(value, YES_NO) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((text, 1) for text in (" B", "b", "(b)", "B.", "b)", "B. because he was afraid", "Option B", "[B]", "**B**")),
        *((text, 1) for text in (1, "1", "(1)", "Jerry ran away", "jerry ran away.", "B. Jerry ran away")),
        *((text, 0) for text in (0, "A", "a:", "Answer: A")),
        ("I fell", 3),
        ("A bell rang", 4),
        *((text, None) for text in ("B. Tom was hungry", "F", 5, -1, "5", "a cat", "", None, True, "A or B", "A, B")),
        *((text, 1) for text in ("B\n\nBecause he was afraid", "Answer: B\nExplanation: he ran", "B - Jerry ran away")),
        *((text, 1) for text in ("Jerry ran away (B)", "B, Jerry ran away", "(B) Jerry ran", "B: A dog chased him")),
        *((text, 1) for text in ("1.0", "Answer: (b) Jerry ran away.", "B) I think he ran.", "**B.** Jerry ran away")),
        *(
            (text, 1)
            for text in ("B.Jerry ran away", "B)Jerry ran away", "(B)Jerry ran", "B (Jerry ran away)", "B</s>")
        ),
        *(
            (text, 1)
            for text in ("The answer is option B.", "I think the answer is B", "$\\boxed{B}$", "<answer>B</answer>")
        ),
        *((text, None) for text in ("B (Tom was hungry)", "B.A dog barked", "A.I", "e.g. Jerry ran away")),
        *(
            (text, 1)
            for text in (
                "I think it is B",
                "I'd say B",
                "My answer is B",
                "The answer should be B",
                "B is correct because",
            )
        ),
        *((text, 1) for text in ("[[B]]", "\\text{B}", "### Answer\nB", '{"answer": "B"}', "Ｂ", "1. Jerry ran away")),
        *(
            (text, 1)
            for text in (
                "<think>\nA: hungry? Then D.</think>\nthe answer is b",
                "maybe A or C</think>B",
                "B. He'd run, e.g. away",
            )
        ),
        *(
            (text, None)
            for text in ("A.\nNo wait, it is b.", "a. b. c.", "a\nb\nc", "A: no, b: yes", "Option A\nOption b", "A]b")
        ),
        *(
            (text, None)
            for text in ("A. I'm not sure, I can't see", "E: I cannot answer this", "A) is incorrect", "B is wrong")
        ),
        *((text, None) for text in ("A. is not the right answer", "C. None of the above", "<A>B", "0. Jerry ran away")),
        *((text, None) for text in ("A. Tom was hungry B. Jerry ran away C. the dog barked", "A) B) C) D) E)")),
        *(
            (text, None)
            for text in ("B) or C)", "A. or B.", "(C) (B)", "A. is wrong, the answer is B", "C: no wait, B")
        ),
        *((text, None) for text in ("A.I. decided", "Jerry ran away (A)", "B, perhaps", "b. c)", "A (B)")),
        *((text, None) for text in ("B. it was not that the dog barked", "A man ran", "I fell down", "a - b")),
    ],
)
def test_options(value: object, expected: int | None) -> None:
    assert read_answer(value, OPTIONS) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2", None), (2, None), ("2.", None), ("(2)", None), (2.0, None), ("4", 4), (4, 4), (7, None), ("A", 0), ("b", 1)],
)
def test_a_number_that_is_another_options_text_is_not_guessed(value: object, expected: int | None) -> None:
    assert read_answer(value, ("2", "3", "1", "0", "4")) == expected


def test_options_that_begin_with_numbers_are_not_chosen_by_number() -> None:
    options = ("1 dog", "2 dogs", "3 dogs")
    assert [read_answer(value, options) for value in ("2", 1, "0", "2 dogs", "B")] == [None, None, None, 1, 1]
    assert read_answer("2", options, first=1) == 1
    assert read_answer("A. cat, as it wants food", ("cat", "dog", "ant", "cow")) == 0


def test_a_number_beyond_floats_is_none_of_the_options() -> None:
    assert read_answer(10**400, OPTIONS) is None


def test_numbers_may_begin_at_one_but_never_for_yes_and_no() -> None:
    assert read_answer(1, OPTIONS, first=1) == 0
    assert read_answer("5", OPTIONS, first=1) == 4
    assert read_answer(0, OPTIONS, first=1) is None
    assert read_answer(1, YES_NO, first=1) == 1


ROWS = [{"id": "q1", "answer": "yes"}, {"id": "q2", "answer": "No."}]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".csv":
        path.write_text("\ufeff" + ",".join(rows[0]) + "\n" + "\n".join(",".join(map(str, r.values())) for r in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".parquet"])
def test_every_format_gives_the_same(tmp_path: Path, ending: str) -> None:
    joined = join(read_predictions(write(tmp_path / f"p{ending}", ROWS)), ["q2", "q1"])
    assert joined.picks.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (ROWS[:1], "1 of 2 ids have no prediction (q2)"),
        ([*ROWS, ROWS[0]], "1 ids are given more than once (q1)"),
        ([*ROWS, {"id": "q9", "answer": "no"}], "1 ids are not in this output (q9)"),
    ],
)
def test_gaps_are_refused_and_counted_with_partial(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    file = read_predictions(write(tmp_path / "p.jsonl", rows))
    with pytest.raises(InputError) as refused:
        join(file, ["q1", "q2"])
    assert says in str(refused.value)
    joined = join(file, ["q1", "q2"], partial=True)
    summary = joined.summary()
    assert summary["missing"] + summary["doubled"] + summary["unknown"] == 1
    assert joined.picks[0] == 1


def test_unreadable_is_listed_and_other_splits_are_counted(tmp_path: Path) -> None:
    rows = [{"id": "q1", "answer": "perhaps"}, {"id": "t1", "answer": "yes"}]
    joined = join(
        read_predictions(write(tmp_path / "p.jsonl", rows)), ["q1", "q2"], others=frozenset({"t1"}), partial=True
    )
    assert joined.picks.tolist() == [UNREADABLE, MISSING]
    assert joined.unreadable == ((("q1", "perhaps"),), 1)
    assert joined.elsewhere == 1


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("p.txt", "x", "ends in .txt"),
        ("p.jsonl", "{}\n{", "line 2: not JSON"),
        ("p.jsonl", "[1]", "line 1: expected an object"),
        ("p.json", '[1, "x"]', "must hold objects"),
        ("p.csv", "id,answer\n1,2,3\n", "row 2"),
        ("p.parquet", "no", "cannot be read"),
        ("p.jsonl", "", "holds no predictions"),
        ("p.jsonl", '{"id": 1, "reply": "yes"}', "no column 'answer'"),
        ("p.jsonl", '{"name": 1, "answer": "yes"}', "no column 'id'"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        join(read_predictions(path), ["1"])
    assert says in str(refused.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no predictions file"):
        read_predictions(tmp_path / "p.jsonl")


def samples(path: Path, *found: dict[str, object]) -> Path:
    path.write_text("\n".join(json.dumps({"doc_id": n, "stressreel": row}) for n, row in enumerate(found)))
    return path


class TestSampleLogs:
    def test_what_is_asked_about_one_item_is_one_row(self, tmp_path: Path) -> None:
        samples(tmp_path / "1_samples_ud_answer.jsonl", {"id": "q", "config": "ud", "answer": "A"})
        samples(tmp_path / "1_samples_ud_explanation.jsonl", {"id": "q", "config": "ud", "explanation": "B"})
        samples(tmp_path / "1_samples_ps_answer.jsonl", {"id": "q", "config": "ps", "answer": "C"})
        rows = read_predictions(tmp_path).rows
        assert {row["config"]: row for row in rows} == {
            "ud": {"id": "q", "config": "ud", "answer": "A", "explanation": "B"},
            "ps": {"id": "q", "config": "ps", "answer": "C"},
        }

    def test_two_runs_stay_two_rows(self, tmp_path: Path) -> None:
        for run in "12":
            samples(tmp_path / f"{run}_samples_t.jsonl", {"id": "q", "answer": run})
        with pytest.raises(InputError, match="1 ids are given more than once"):
            join(read_predictions(tmp_path), ["q"])

    def test_one_log_is_read_too(self, tmp_path: Path) -> None:
        assert read_predictions(samples(tmp_path / "log.jsonl", {"id": "q", "answer": "no"})).rows[0]["answer"] == "no"

    def test_logs_of_other_tasks_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "1_samples_mmlu.jsonl").write_text('{"doc_id": 0}')
        with pytest.raises(InputError, match="another task"):
            read_predictions(tmp_path)

    def test_a_folder_without_logs_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="--log_samples"):
            read_predictions(tmp_path)


def test_rows_about_another_table_or_output() -> None:
    rows: list[dict[str, object]] = [{"id": "a", "config": "ud"}, {"id": "b", "config": "ps"}, {"id": "c"}]
    assert [row["id"] for row in of_output(Predictions(Path("p"), rows), "ps", "f").rows] == ["b", "c"]
    with pytest.raises(InputError, match="no rows about un, only about ps, ud"):
        of_output(Predictions(Path("p"), rows[:2]), "un", "f")
    with pytest.raises(InputError, match="made on another output"):
        of_output(Predictions(Path("p"), [{"id": "a", "fingerprint": "g"}]), "ud", "f")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("p.json", '{"q1": 0, "q2": 1, "q1": 1}', "'q1' given more than once"),
        ("p.jsonl", '{"id": "q1", "answer": 0, "answer": 1}', "line 1: 'answer' given more than once"),
        ("p.csv", "id,answer,answer\nq1,0,1\n", "'answer' given more than once"),
        ("p.jsonl", '{"id": "q1", "answer": 0, "pred": 1}', "the columns answer and pred"),
        ("p.jsonl", b'{"id": "\xff"}', "cannot be read as UTF-8"),
    ],
)
def test_what_says_two_things_is_refused(tmp_path: Path, name: str, content: str | bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as refused:
        join(read_predictions(path), ["q1"])
    assert says in str(refused.value)


class TestHostileFiles:
    def test_rows_far_above_what_is_expected_are_not_read(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"id": pa.nulls(3_000_000), "answer": pa.nulls(3_000_000)}), tmp_path / "p.parquet")
        (tmp_path / "p.jsonl").write_text('{"id": 1, "answer": 1}\n' * 20_000)
        (tmp_path / "p.csv").write_text("id,answer\n" + "1,1\n" * 20_000)
        for name in ("p.parquet", "p.jsonl", "p.csv"):
            with pytest.raises(InputError, match=r"has more than 10,200 rows, far more than there are questions"):
                read_predictions(tmp_path / name, expected=20)

    def test_a_small_file_that_unpacks_to_a_large_one_is_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(predictions, "LEAST_ROOM", 1_000_000)
        path = tmp_path / "p.parquet"
        pq.write_table(pa.table({"id": ["q"], "answer": ["a" * 5_000_000]}), path, compression="zstd")
        with pytest.raises(InputError, match=r"bytes unpacked, too much for its size"):
            read_predictions(path)
        listed = pa.table({"id": [0], "options": [[None] * 2_000_000]})  # a few bytes, by run lengths
        pq.write_table(listed.cast(pa.schema([("id", pa.int64()), ("options", pa.list_(pa.int64()))])), path)
        with pytest.raises(InputError, match="takes too much memory"):
            read_predictions(path)

    def test_equal_texts_are_held_once(self, tmp_path: Path) -> None:
        text = "B. " + "x" * 10_000
        pq.write_table(pa.table({"id": ["a", "b"], "answer": [text, text]}), tmp_path / "p.parquet")
        one, other = read_predictions(tmp_path / "p.parquet").rows
        assert one == {"id": "a", "answer": text}
        assert one["answer"] is other["answer"]

    def test_all_types_of_columns_are_read(self, tmp_path: Path) -> None:
        row = {"id": "a", "n": 1, "x": 0.5, "t": True, "none": None, "b": b"\xff", "list": ["p", "q"], "o": {"k": "v"}}
        pq.write_table(pa.Table.from_pylist([row, {**row, "id": None, "list": None}]), tmp_path / "p.parquet")
        assert read_predictions(tmp_path / "p.parquet").rows == [row, {**row, "id": None, "list": None}]

    def test_long_lines_and_deep_ones(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "p.jsonl"
        path.write_text('{"id": 1, "answer": ' + "[" * 100_000 + "\n")
        with pytest.raises(InputError, match="line 1: lists and objects are nested more than"):
            read_predictions(path)
        monkeypatch.setattr(predictions, "LONGEST_LINE", 1000)
        path.write_text('{"id": 1, "answer": 1}\n' + '{"id": 2, "answer": "' + "x" * 1000 + '"}\n')
        with pytest.raises(InputError, match="line 2: it has more than 1,000 characters"):
            read_predictions(path)

    def test_a_parquet_file_whose_types_contradict_one_another(self, tmp_path: Path) -> None:
        """PyArrow ends the process if it is asked about such a column."""
        path = tmp_path / "p.parquet"
        pq.write_table(pa.table({"id": ["a"], "answer": ["b"]}), path)
        content = path.read_bytes()
        for place in range(len(content) - 400, len(content) - 8):
            path.write_bytes(content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :])
            with contextlib.suppress(InputError):
                read_predictions(path, expected=1)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_half_a_character_is_no_answer_and_can_be_written(tmp_path: Path, name: str) -> None:
    row = r'{"id": "a", "answer": "\ud800yes"}'
    (tmp_path / name).write_text(f"[{row}]" if name == "a.json" else row, encoding="utf-8")
    joined = join(read_predictions(tmp_path / name), ["a"])
    assert joined.picks.tolist() == [UNREADABLE]
    json.dumps(joined.summary(), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_half_a_character_in_bytes_is_refused(tmp_path: Path, name: str) -> None:
    odd = b"\xed\xa0\x80yes"
    if name == "a.csv":
        (tmp_path / name).write_bytes(b"id,answer\na," + odd + b"\n")
    else:
        text = pa.Array.from_buffers(
            pa.string(), 1, [None, pa.array([0, len(odd)], pa.int32()).buffers()[1], pa.py_buffer(odd)]
        )
        pq.write_table(pa.table({"id": ["a"], "answer": text}), tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        read_predictions(tmp_path / name)
