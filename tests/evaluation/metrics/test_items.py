"""Items of a user's own questions; those of outputs are in tests/cli/test_score.py."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.parts import items_of_output
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.items import Items, options_of, read_items


def items(folder: Path, *rows: dict[str, Any], **how: Any) -> Items:
    path = folder / "q.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return read_items(path, items_of_output, **how)


def test_options_and_right_answers(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {"id": 1, "answer": "blue", "options": ["red", "blue"], "video_id": "v", "question": "which?"},
        {"id": "2", "answer": "No", "video_id": "v"},
        {"id": " 3 ", "answer": 1, "options": [], "video_id": "w"},
        {"id": "4", "answer": "B", "options": [4, 2.0, 2.5], "video_id": 7},
    )
    assert found.ids == ["1", "2", "3", "4"]
    assert found.options == [("red", "blue"), YES_NO, YES_NO, ("4", "2", "2.5")]
    assert found.truth.tolist() == [1, 0, 1, 1]
    assert found.sources == found.videos == ["v", "v", "w", "7"]
    assert found.texts == ["which?", "", "", ""]


@pytest.mark.parametrize("first", [0, 1])
def test_first_index_of_numeric_answers(tmp_path: Path, first: int) -> None:
    rows = [{"id": n, "answer": n + first, "options": ["x", "y", "z"]} for n in range(3)]
    assert items(tmp_path, *rows, first=first).truth.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"not one of its options, or is ambiguous \(x, y, z\)"):
        items(tmp_path, *rows, first=1 - first)
    both = [{**row, "answer_index": n} for n, row in enumerate(rows)]  # it counts from 0 in any case
    assert items(tmp_path, *both, first=first).truth.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="answer and answer_index of '0' name different options"):
        items(tmp_path, {**both[0], "answer_index": 1}, first=first)


@settings(max_examples=30)
@given(st.lists(st.text(), min_size=1), st.text())
def test_json_options_are_parsed_and_texts_kept(options: list[str], text: str) -> None:
    assert options_of(json.dumps(options), Path("q.csv"), "q") == tuple(options) == options_of(options, Path("q"), "q")
    with suppress(InputError):
        assert options_of(text, Path("q.csv"), "q") == YES_NO or isinstance(json.loads(text), list)


def test_invalid_rows_are_refused(tmp_path: Path) -> None:
    good: dict[str, Any] = {"id": "a", "answer": 1}
    odd = ("red, blue", 5, {"a": "x"}, [["a"], ["b"]], ["a", None], [True])
    for rows, says in (
        ([good, {"answer": 1}], "row 2 has no id"),
        ([good, good], "ids more than once: a"),
        ([good, {"id": "b"}], r"'b' has answer None, which is not one"),
        ([{"id": "a", "question": "why?"}], "no correct answers to score against"),
        ([{**good, "source": "s"}, {"id": "b", "answer": 1}], "'b' has no source"),
        ([{**good, "video": {"bytes": "…"}}], "column 'video' contains dict"),
        *(([{**good, "options": options}], "the options of 'a' are .*expected a list") for options in odd),
    ):
        with pytest.raises(InputError, match=says):
            items(tmp_path, *rows)
