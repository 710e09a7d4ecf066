from decimal import Decimal

import pytest
from cases import read_cases
from stressreel.evaluation.metrics.answers import YES_NO, read_answer

CASES = read_cases(__file__)
OPTIONS = ("Tom was hungry", "Jerry ran away", "the dog barked", "I fell", "A bell rang")
OTHERS = {  # values that are no texts
    "answers.yes_no": {1: (True, 1, 1.0, Decimal(1)), 0: (False, 0), None: (None, 2, [], 0.5, float("nan"), b"yes")},
    "answers.options": {1: (1,), 0: (0,), None: (5, -1, None, True, 10**400, "9" * 5000)},
}


@pytest.mark.parametrize(
    "name", ["answers.yes_no", "answers.options", "answers.yes_no_stated", "answers.options_stated"]
)
def test_answers_in_many_forms(name: str) -> None:
    options = YES_NO if "yes_no" in name else OPTIONS
    for expected, texts in CASES[name].items():
        pick = None if expected == "unreadable" else expected
        assert {text: read_answer(text, options) for text in texts} == dict.fromkeys(texts, pick)
    for pick, values in OTHERS.get(name, {}).items():
        assert [read_answer(value, options) for value in values] == [pick] * len(values)


def test_numbers_in_options_are_not_guessed() -> None:
    options, answers = ("2", "3", "1", "0", "4"), ("2", 2, "2.", "(2)", 2.0, "4", 4, 7, "A", "b")
    assert [read_answer(value, options) for value in answers] == [*[None] * 5, 4, 4, None, 0, 1]
    options = ("1 dog", "2 dogs", "3 dogs")
    assert [read_answer(value, options) for value in ("2", 1, "0", "2 dogs", "B")] == [None, None, None, 1, 1]
    assert read_answer("2", options, first=1) == 1
    assert [read_answer(value, OPTIONS, first=1) for value in (1, "5", 0)] == [0, 4, None]
    assert read_answer(1, YES_NO, first=1) == 1
    assert read_answer(8, ("9" * 5000, "8 of them")) is None
    assert read_answer("A. cat, as it wants food", ("cat", "dog", "ant", "cow")) == 0


@pytest.mark.parametrize(
    ("start", "again", "times", "end", "expected"),
    [
        ("<think>", "Is it A? ", 10**6, "</think>B", 1),
        ("B. ", "as it ran. ", 10**5, "", 1),
        ("Jerry ran away", ".", 10**6, "(B)", 1),
        ("B", "\n", 10**6, "because", 1),
        ("", '{"answer": ', 10**5, "", None),
        ("", "So the answer is ", 10**5, "B", None),
        ("it is ", " ", 10**6, "B", 1),
    ],
)
def test_long_answers_take_linear_time(start: str, again: str, times: int, end: str, expected: int | None) -> None:
    assert read_answer(start + again * times + end, OPTIONS) == expected
