"""Rows compared with those that they must be: what is said of each difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from changed import Held
from stressreel.builders.runtime.derived import Derivation, Derived, check_derived, differences
from stressreel.core.checks import NotChecked
from stressreel.core.schema import Column, Config, Row

TABLE = Config(
    "questions", "", (Column("id", "string", ""), Column("words", "strings", ""), Column("n", "float64", ""))
)
ROWS: list[Row] = [{"id": name, "words": [name], "n": 0.1} for name in "abc"]
MUST = [Derived("questions", "test", {"id": name, "words": (name,)}) for name in "abc"]


@pytest.mark.parametrize(
    ("found", "derived", "lines"),
    [
        (ROWS, MUST, []),
        (ROWS, [], []),
        (ROWS, ["a rule is broken", *MUST], ["a rule is broken"]),
        (ROWS, [NotChecked("why"), *MUST], [NotChecked("why")]),
        ([{**ROWS[0], "words": []}, *ROWS[1:]], MUST, ["questions/test: a: words is [], not ('a',)"]),
        (ROWS[:2], MUST, ["questions/test: the rows end where c is expected; the rest is skipped"]),
        (ROWS[1:], MUST, ["questions/test: found b where a is expected; the rest is skipped"]),
        (ROWS, MUST[:2], ["questions/test: c and the rows after it are not expected"]),
    ],
)
def test_each_difference_is_said_once(found: list[Row], derived: list[Derivation], lines: list[object]) -> None:
    output = Held(Path(), {"counts": {"questions": {"test": 3}}}, {"questions": {"test": found}})
    assert list(check_derived(output, [TABLE], derived))[:-1] == lines


def test_a_split_of_which_nothing_follows_has_no_rows() -> None:
    output = Held(
        Path(), {"counts": {"questions": {"train": 3, "test": 3}}}, {"questions": {"train": ROWS, "test": ROWS}}
    )
    assert list(check_derived(output, [TABLE], MUST))[:-1] == [
        "questions/train: a and the rows after it are not expected"
    ]


@pytest.mark.parametrize(
    ("found", "expected", "lines"),
    [
        ({"n": 1.0}, {"n": 1}, []),
        ({"n": 0.1}, {"n": 0.10001}, ["n is 0.1, not 0.10001"]),
        ({"n": None}, {"n": 0}, ["n is None, not 0"]),
        ({"n": [{"a": [1]}]}, {"n": [{"a": (1,)}]}, []),
        ({"n": "x" * 200}, {"n": ""}, [f"n is '{'x' * 78}…, not ''"]),
    ],
)
def test_a_value_is_compared(found: Row, expected: Row, lines: list[str]) -> None:
    assert list(differences(found, expected)) == lines
