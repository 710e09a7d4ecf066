import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.blind.blind_questions import BlindQuestion, read_blind_questions


def read(folder: Path, *rows: dict[str, Any], **columns: str) -> dict[tuple[str, str], list[BlindQuestion]]:
    path = folder / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return read_blind_questions(path, columns)


def test_all_columns_are_loaded(tmp_path: Path) -> None:
    test = {"split": "test", "config": "c"}
    found = read(
        tmp_path,
        {"id": 7, "question": "why?", "options": ["a", "b"], "answer_index": 1, "group": "v", "kind": "k", **test}
        | {"blind_guessable": False},
        {"id": "8", "question": "did it?", "answer": "yes", **test},
        {"id": "9", "question": "why?", "options": ["a", "b", "c"], "answer": "B", "split": "train"}
        | {"explanation_options": ["p", "q"], "explanation_index": 1},
    )
    assert found["c", "test"] == [
        BlindQuestion("7", "why?", ("a", "b"), 1, "v", "k", balanced=True),
        BlindQuestion("8", "did it?", ("no", "yes"), 1),
    ]
    answer, explanation = found["", "train"]
    assert answer == BlindQuestion("9", "why?", ("a", "b", "c"), 1, part="answer")
    assert explanation == BlindQuestion("9", "why?", ("p", "q"), 1, part="explanation")


def test_bad_rows_and_columns_are_refused(tmp_path: Path) -> None:
    for row, columns, message in (
        ({"question": "q", "answer": "yes"}, {}, "row 1 has no id"),
        ({"id": "1", "answer": "yes"}, {}, "neither a question nor options"),
        ({"id": "1", "options": ["a"], "answer": "a"}, {}, "one option"),
        ({"id": "1", "answer": "yes", "blind_guessable": "maybe"}, {}, "expected true or false"),
        ({"id": "1", "answer": "yes"}, {"colour": "x"}, "unknown column: colour"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path, row, **columns)
