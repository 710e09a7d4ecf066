"""How often texts are options of a split."""

from __future__ import annotations

import numpy as np
import pytest
from stressreel.negatives.counting import Counts
from stressreel.negatives.facets import Facet

KEYS = [np.array([0, 2, 3, 4]), np.array([1, 2, 3, 0]), np.array([0, 2, 1, 4])]
SPLITS = ["test", "test", "train"]
SETS = np.array([[1, 2], [1, 3]])
ODDS = np.zeros((2, 3))


@pytest.fixture
def counts() -> Counts:
    rights = {"test": np.array([1, 1, 0, 0, 0]), "train": np.array([1, 0, 0, 0, 0])}
    vectors = np.eye(5, dtype=np.float32)
    cues = [np.zeros((4, 2)) for _ in KEYS]
    return Counts({"answer": Facet(vectors, KEYS, cues, KEYS, rights)}, SPLITS)


def times(counts: Counts, row: int) -> list[list[int]]:
    """Return how often each option of two sets of a row would be an option of its split."""
    seen = counts.features(row, SETS, ODDS)
    return np.exp(seen[:, :, 4]).round().astype(int).tolist()  # four columns of the odds come first


def test_a_set_counts_itself_and_what_others_have(counts: Counts) -> None:
    assert times(counts, 0) == [[1, 1, 1], [1, 1, 1]]
    counts.add(1, np.array([1, 3]))  # texts 2 and 0
    assert times(counts, 0) == [[2, 2, 1], [2, 2, 1]]
    counts.add(1, np.array([1, 3]), -1)
    assert times(counts, 0) == [[1, 1, 1], [1, 1, 1]]


def test_splits_are_counted_apart(counts: Counts) -> None:
    counts.add(2, np.array([1, 3]))
    assert times(counts, 0) == [[1, 1, 1], [1, 1, 1]]
    assert times(counts, 2) == [[1, 2, 1], [1, 2, 2]]


def test_what_gives_the_right_option_away_is_seen(counts: Counts) -> None:
    counts.add(0, np.array([1, 2]))
    seen = counts.features(1, SETS, ODDS)
    assert not np.array_equal(seen[0, 0], seen[0, 1])  # text 2 is an option of two rows, the right one of one
    assert np.isfinite(seen).all()
