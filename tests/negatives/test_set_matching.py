from dataclasses import replace

import numpy as np
from stressreel.negatives.set_matching import CandidateSets, match_sets

ROWS, OFFERED, OPTIONS, NUMBERS = 60, 12, 5, 3


def question(number: int) -> CandidateSets:
    """A question whose right option is too large in its first number, in most sets."""
    rng = np.random.default_rng(number)
    shown = rng.standard_normal((OFFERED, OPTIONS, NUMBERS))
    shown[:, 0, 0] += 1
    keys = rng.integers(0, 10_000, (OFFERED, OPTIONS))
    keys[:, 0] = number
    return CandidateSets(f"q{number:03}", shown, keys, np.arange(OFFERED) % 2 == 0, 0)


QUESTIONS = [question(number) for number in range(ROWS)]


def match(questions: list[CandidateSets], seed: int = 0, kind: str = "answer") -> list[int]:
    return match_sets(questions, seed=seed, kind=kind)


def test_matching_balances_cues_whatever_the_order() -> None:
    def differ(chosen: list[int]) -> float:
        """Return how much right options differ from wrong ones, over all numbers."""
        shown = np.stack([one.cues[number] for one, number in zip(QUESTIONS, chosen, strict=True)])
        return float(np.abs((shown[:, 0] - shown[:, 1:].mean(1)).mean(0)).max())

    found = match(QUESTIONS)
    assert differ([one.start for one in QUESTIONS]) > 0.8
    assert differ(found) < 0.1
    assert match(QUESTIONS[::-1])[::-1] == found
    assert match(QUESTIONS, seed=1) != found != match(QUESTIONS, kind="explanation")
    assert match([]) == []


def test_matching_balances_frequency_of_texts() -> None:
    """In half of the sets every wrong option is one text, which is an option of all questions."""
    some = [replace(one, keys=one.keys.copy()) for one in QUESTIONS]
    for one in some:
        one.keys[: OFFERED // 2, 1:] = 9_999
    again = sum(int((one.keys[number] == 9_999).any()) for one, number in zip(some, match(some), strict=True))
    assert again < ROWS / 4


def test_wanted_sets_do_not_become_rarer() -> None:
    assert match([replace(one, wanted=np.arange(OFFERED) == 0) for one in QUESTIONS]) == [0] * ROWS
    assert match([replace(one, wanted=np.zeros(OFFERED, np.bool_)) for one in QUESTIONS]) != [0] * ROWS
