from dataclasses import replace

import numpy as np
from stressreel.negatives.set_matching import CandidateSets, match_sets

ROWS, OFFERED, OPTIONS, NUMBERS = 60, 12, 5, 3


def question(number: int, *, texts: int = 10_000) -> CandidateSets:
    """A question whose right option is too large in its first number, in most sets."""
    rng = np.random.default_rng(number)
    shown = rng.standard_normal((OFFERED, OPTIONS, NUMBERS))
    shown[:, 0, 0] += 1
    keys = rng.integers(0, texts, (OFFERED, OPTIONS))
    keys[:, 0] = number
    return CandidateSets(f"q{number:03}", shown, keys, np.arange(OFFERED) % 2 == 0, 0)


def differ(questions: list[CandidateSets], chosen: list[int]) -> float:
    """Return how much right options differ from wrong ones, over all numbers."""
    shown = np.stack([one.cues[number] for one, number in zip(questions, chosen, strict=True)])
    return float(np.abs((shown[:, 0] - shown[:, 1:].mean(1)).mean(0)).max())


def test_matching_balances_cues() -> None:
    some = [question(n) for n in range(ROWS)]
    assert differ(some, [one.start for one in some]) > 0.8
    assert differ(some, match_sets(some, seed=0, kind="answer")) < 0.1


def test_matching_balances_frequency_of_texts() -> None:
    """In half of the sets every wrong option is one text, which is an option of all questions."""
    some = []
    for number in range(ROWS):
        one = question(number)
        one.keys[: OFFERED // 2, 1:] = 9_999
        some.append(one)
    chosen = match_sets(some, seed=0, kind="answer")
    again = sum(int((one.keys[number] == 9_999).any()) for one, number in zip(some, chosen, strict=True))
    assert again < ROWS / 4


def test_wanted_sets_do_not_become_rarer() -> None:
    some = [replace(question(n), wanted=np.arange(OFFERED) == 0) for n in range(ROWS)]
    assert match_sets(some, seed=0, kind="answer") == [0] * ROWS
    free = [replace(one, wanted=np.zeros(OFFERED, np.bool_)) for one in some]
    assert match_sets(free, seed=0, kind="answer") != [0] * ROWS


def test_matching_depends_on_seed_and_kind_only() -> None:
    some = [question(n) for n in range(ROWS)]
    found = match_sets(some, seed=0, kind="answer")
    assert match_sets(some[::-1], seed=0, kind="answer")[::-1] == found
    assert match_sets(some, seed=1, kind="answer") != found
    assert match_sets(some, seed=0, kind="explanation") != found
    assert match_sets([], seed=0, kind="answer") == []
