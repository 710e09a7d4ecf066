from pathlib import Path

import pytest
from changed import Held
from stressreel.builders.runtime.table_checks import Derivation, Derived, check_derived
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
        (ROWS, [NotChecked("why", "tools"), *MUST], [NotChecked("why", "tools")]),
        ([{**ROWS[0], "words": []}, *ROWS[1:]], MUST, ["questions/test: a: words is [], not ('a',)"]),
        (ROWS[:2], MUST, ["questions/test: the rows end where c is expected; the rest is skipped"]),
        (ROWS[1:], MUST, ["questions/test: found b where a is expected; the rest is skipped"]),
        (ROWS, MUST[:2], ["questions/test: c and the rows after it are not expected"]),
    ],
)
def test_each_difference_is_reported_once(found: list[Row], derived: list[Derivation], lines: list[object]) -> None:
    output = Held(Path(), {"counts": {"questions": {"test": 3}}}, {"questions": {"test": found}})
    assert list(check_derived(output, [TABLE], derived))[:-1] == lines
