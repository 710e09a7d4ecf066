"""However long and odd an answer is, it is read in time proportional to its length."""

import gc
import time

import pytest
from stressreel.evaluation.metrics.answers import YES_NO, read_answer

OPTIONS = ("Tom was hungry", "Jerry ran away", "the dog barked", "I fell", "A bell rang")
TOKENS = (
    *".()[]{}#$-,:!?*_<|\\'\"`’ \n\taB10",
    *(
        "<think>",
        "</think>",
        "```",
        "\\boxed{",
        '{"answer":',
        "<|a",
        " \n",
        "( A )",
        ") (A",
        "A. ",
        "A\n",
        "A (",
        "1) ",
    ),
    *("(A) ", "answer: ", "the answer is ", "in the video ", "no ", "not ", "n't ", "Tom was hungry ", "((([[[\n\n..."),
    *("\u0315\u0300", "\u0345\u0f73", "Ｂ", "가"),  # marks that are sorted, full width, Korean
)
FRAMES = (("", ""), ("A. ", "A"), ("A, ", ")A)x"), ("Tom (", ")"), ("no", ""))
SHORT, GROWTH = 4_000, 10


def seconds(answer: str, options: tuple[str, ...]) -> float:
    gc.disable()  # else a collection of all that pytest has counts too
    start = time.process_time()
    read_answer(answer, options)
    taken = time.process_time() - start
    gc.enable()
    return taken


@pytest.mark.parametrize("token", TOKENS)
def test_time_grows_with_length_alone(token: str) -> None:
    for opening, ending in FRAMES:
        options = YES_NO if opening == "no" else OPTIONS
        short, long = (opening + token * (size // len(token)) + ending for size in (SHORT, SHORT * GROWTH))
        fast = min(seconds(short, options) for _ in range(2))
        assert seconds(long, options) < 5 * GROWTH * fast + 0.2  # squared, it would be 100 times


@pytest.mark.parametrize(
    ("start", "again", "times", "end", "expected"),
    [
        ("<think>", "Is it A? ", 10**6, "</think>B", 1),
        ("B. ", "as it ran. ", 10**5, "", 1),
        ("Jerry ran away", ".", 5 * 10**6, "(B)", 1),
        ("B", "\n", 5 * 10**6, "because", 1),
        ("B, Jerry ran away", ")", 5 * 10**6, "", 1),
        ("", "(A) ", 10**6, "", None),
        ("", '{"answer": ', 10**6, "", None),
    ],
)
def test_answers_of_megabytes(start: str, again: str, times: int, end: str, expected: int | None) -> None:
    assert read_answer(start + again * times + end, OPTIONS) == expected


def test_numbers_that_no_option_has() -> None:
    assert read_answer(10**400, OPTIONS) is read_answer("9" * 5000, OPTIONS) is None
    assert read_answer(8, ("9" * 5000, "8 of them")) is None
