import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.blind.blind_questions import BlindQuestion, read_blind_questions


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_all_columns_are_loaded(tmp_path: Path) -> None:
    test = {"split": "test", "config": "c"}
    file = write(
        tmp_path / "items.jsonl",
        {"id": 7, "question": "why?", "options": ["a", "b"], "answer_index": 1, "group": "v", "kind": "k", **test}
        | {"blind_guessable": False},
        {"id": "8", "question": "did it?", "answer": "yes", **test},
        {"id": "9", "question": "why?", "options": ["a", "b", "c"], "answer": "B", "split": "train", "part": "p"},
    )
    assert read_blind_questions(file) == {
        ("c", "test"): [
            BlindQuestion("7", "why?", ("a", "b"), 1, "v", "k", balanced=True),
            BlindQuestion("8", "did it?", ("no", "yes"), 1),
        ],
        ("", "train"): [BlindQuestion("9", "why?", ("a", "b", "c"), 1, part="p")],
    }


def test_csv_with_renamed_and_numbered_columns(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("qid,vid,question,answer,a0,a1,a2\n1,v,why,2,x,y,z\n2,v,why,1,x,y,\n")
    assert read_blind_questions(file, {"source": "vid"})["", ""] == [
        BlindQuestion("1", "why", ("x", "y", "z"), 2, "v"),
        BlindQuestion("2", "why", ("x", "y"), 1, "v"),
    ]
    assert read_blind_questions(file, {"source": "vid"}, first=1)["", ""][0].right == 1


def test_explanations_become_second_questions(tmp_path: Path) -> None:
    row = {"id": "1", "question": "why", "options": ["x", "y"], "answer_index": 0}
    file = write(tmp_path / "m.jsonl", {**row, "explanation_options": ["p", "q"], "explanation_index": 1})
    first, second = read_blind_questions(file)["", ""]
    assert (first.part, first.right) == ("answer", 0)
    assert (second.part, second.options, second.right) == ("explanation", ("p", "q"), 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "q", "answer": "yes"}, "row 1 has no id"),
        ({"id": "1", "question": "q"}, "no correct answer"),
        ({"id": "1", "answer": "yes"}, "neither a question nor options"),
        ({"id": "1", "options": ["a"], "answer": "a"}, "one option"),
        ({"id": "1", "options": ["a", "b"], "answer_index": 2}, "not one of its options"),
        ({"id": "1", "answer": "yes", "blind_guessable": "maybe"}, "expected true or false"),
    ],
)
def test_bad_row_is_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_blind_questions(write(tmp_path / "items.jsonl", row))


def test_unknown_columns_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "items.jsonl", {"id": "1", "answer": "yes"})
    with pytest.raises(UsageError, match="unknown column: colour"):
        read_blind_questions(file, {"colour": "x"})
    with pytest.raises(InputError, match="no column vid"):
        read_blind_questions(file, {"source": "vid"})
