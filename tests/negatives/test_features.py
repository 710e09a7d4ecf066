"""How often texts are options of a split."""

from __future__ import annotations

import numpy as np
import pytest
from stressreel.negatives.features import BINS, Counts, Target, relative

KEYS = np.array([[0, 2, 3, 4], [1, 2, 3, 0], [0, 2, 1, 4]])
SPLITS = ["test", "test", "train"]
OFTEN = 4  # four columns of how often, relative to the set, come first


@pytest.fixture
def counts() -> Counts:
    rights = {"test": np.array([1, 1, 0, 0, 0]), "train": np.array([1, 0, 0, 0, 0])}
    cues = np.stack([np.arange(8, dtype=np.float32).reshape(4, 2) for _ in KEYS])
    return Counts({"answer": Target(np.eye(5, dtype=np.float32), KEYS, cues, KEYS, rights)}, SPLITS)


def times(counts: Counts, row: int, places: list[int]) -> list[int]:
    """Return how often each option of a row is one in its split."""
    seen = counts.features("answer", np.array([row]), np.array([[0, *places]]))[0]
    return np.exp(seen[:, OFTEN]).round().astype(int).tolist()


def test_right_and_wrong_options_of_all_rows_are_counted(counts: Counts) -> None:
    counts.add(np.array([0]), np.array([[1, 2]]))  # texts 2 and 3
    assert times(counts, 0, [1, 2]) == [1, 1, 1]
    counts.add(np.array([1]), np.array([[1, 3]]))  # texts 2 and 0
    assert times(counts, 0, [1, 2]) == [2, 2, 1]
    assert times(counts, 1, [1, 3]) == [1, 2, 2]


def test_a_value_is_relative_to_its_set() -> None:
    found = [column[0].tolist() for column in relative(np.array([[1.0, 4.0, 1.0]]))]
    assert found == [[-1, 2, -1], [0.25, 1, 0.25], [0, 1, 0], [0.5, 0, 0.5]]  # minus the mean, rank, largest, smallest


def test_splits_are_counted_apart(counts: Counts) -> None:
    counts.add(np.array([2]), np.array([[1, 3]]))
    counts.add(np.array([0]), np.array([[1, 3]]))
    assert times(counts, 0, [1, 3]) == [1, 1, 1]
    assert times(counts, 2, [1, 3]) == [1, 1, 1]


def test_what_is_often_an_option_shows_how_near_the_question_it_is(counts: Counts) -> None:
    counts.add(np.array([0]), np.array([[1, 2]]))
    counts.add(np.array([1]), np.array([[1, 3]]))
    crossed = counts.features("answer", np.array([0]), np.array([[0, 1, 2]]))[0][:, OFTEN + 1 :]
    often = crossed[:, : crossed.shape[1] // len(BINS)]  # of texts that are options twice at least
    assert often[:, 0].tolist() == [1, 1, 0]
    assert (often[:2, 1:] != 0).any()
    assert not often[2].any()
