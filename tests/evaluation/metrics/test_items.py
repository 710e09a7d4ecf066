"""Items of a user's own questions; those of outputs are in tests/cli/test_score_modalities.py."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.parts import items_of_output
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.items import Items, options_of
from stressreel.evaluation.metrics.items import read_items as read_items_of

XYZ = ["x", "y", "z"]


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def read_items(path: Path, *arguments: Any, **named: Any) -> Items:
    return read_items_of(path, items_of_output, *arguments, **named)


def test_options_and_right_answers(tmp_path: Path) -> None:
    file = write(
        tmp_path / "q.jsonl",
        {"id": 1, "answer": "blue", "options": ["red", "blue"], "video_id": "v", "question": "which?"},
        {"id": "2", "answer": "No", "video_id": "v"},
        {"id": " 3 ", "answer": 1, "options": [], "video_id": "w"},
        {"id": "4", "answer": "B", "options": [4, 2.0, 2.5], "video_id": 7},
    )
    items = read_items(file)
    assert items.ids == ["1", "2", "3", "4"]
    assert items.options == [("red", "blue"), YES_NO, YES_NO, ("4", "2", "2.5")]
    assert items.truth.tolist() == [1, 0, 1, 1]
    assert items.sources == items.videos == ["v", "v", "w", "7"]
    assert items.texts == ["which?", "", "", ""]
    pq.write_table(pa.table({"id": ["q"], "answer": [1], "options": [["x", "y"]]}), tmp_path / "q.parquet")
    listed = read_items(tmp_path / "q.parquet")
    assert (listed.options, listed.truth.tolist(), listed.sources) == ([("x", "y")], [1], ["q"])


@pytest.mark.parametrize("first", [0, 1])
def test_first_index_of_numeric_answers(tmp_path: Path, first: int) -> None:
    file = write(tmp_path / "q.jsonl", *({"id": n, "answer": n + first, "options": XYZ} for n in range(3)))
    assert read_items(file, first=first).truth.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"not one of its options, or is ambiguous \(x, y, z\)"):
        read_items(file, first=1 - first)
    index = write(tmp_path / "i.jsonl", *({"id": n, "answer_index": n, "options": XYZ} for n in range(3)))
    assert read_items(index, first=first).truth.tolist() == [0, 1, 2]

    both = [{"id": n, "answer": n + 1, "answer_index": n, "options": XYZ} for n in range(2)]
    with pytest.raises(InputError, match="answer and answer_index of '0' name different options"):
        read_items(write(tmp_path / "b.jsonl", *both))
    assert read_items(tmp_path / "b.jsonl", first=1).truth.tolist() == [0, 1]


@pytest.mark.parametrize("odd", ["red, blue", '"red"', 5, True, {"a": "x"}, [["a"], ["b"]], ["a", None], [True]])
def test_invalid_options_are_refused(tmp_path: Path, odd: object) -> None:
    file = write(tmp_path / "q.jsonl", {"id": "q7", "answer": 0, "options": odd})
    with pytest.raises(InputError, match=r"the options of 'q7' are .*expected a list of strings or numbers"):
        read_items(file)
    assert read_items(file, judged=False).truth.tolist() == [-1]  # then nobody looks


@settings(max_examples=30)
@given(st.lists(st.text(), min_size=1), st.text())
def test_json_options_are_parsed_and_texts_kept(options: list[str], text: str) -> None:
    assert options_of(json.dumps(options), Path("q.csv"), "q") == tuple(options) == options_of(options, Path("q"), "q")
    try:
        found = options_of(text, Path("q.csv"), "q")
    except InputError:
        return
    assert found == YES_NO or isinstance(json.loads(text), list)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"id": "a", "answer": 1}, {"answer": 1}], "row 2 has no id"),
        ([{"id": "a", "answer": 1}, {"id": "a", "answer": 1}], "ids more than once: a"),
        ([{"id": "a", "answer": 1}, {"id": "b"}], r"'b' has answer None, which is not one"),
        ([{"id": "a", "question": "why?"}], "no correct answers to score against: it has none of the columns answer"),
        ([{"id": "a", "answer": 1, "source": "s"}, {"id": "b", "answer": 1}], "'b' has no source"),
        ([{"id": "a", "answer": 1, "video": {"bytes": "…"}}], "column 'video' contains dict"),
    ],
)
def test_invalid_rows_are_refused(tmp_path: Path, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_items(write(tmp_path / "q.jsonl", *rows))
    with pytest.raises(InputError, match="no tables or splits"):
        read_items(tmp_path / "q.jsonl", "ud")
