import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.retrieval import ranked_hits, recall_hits


def test_perfect_and_equal_similarities_and_ties_by_chance() -> None:
    assert (recall_hits(np.eye(20), np.arange(20)) == 1).all()
    assert (recall_hits(-np.eye(20), np.arange(20)) == 0).all()
    assert recall_hits(np.zeros((20, 20)), np.arange(20)).mean(axis=0) == pytest.approx([1 / 20, 5 / 20, 10 / 20])
    column = np.array([[0.9], [0.8], [0.7], [0.6], [0.5], [0.5], [0.1]])  # right: row 4, four above, one equal
    assert recall_hits(column, np.array([4])).tolist() == [[0, 0.5, 1]]


@given(st.integers(2, 12), st.integers(0, 1000))
def test_ranked_lists_give_what_their_matrix_gives(size: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).permuted(np.arange(size * size, dtype=np.float64)).reshape(size, size)
    clips = [f"clip{number}" for number in range(size)]
    ranked = {f"c{j}": [clips[i] for i in np.argsort(-matrix[:, j])] for j in range(size)}
    assert (ranked_hits(ranked, list(ranked), clips) == recall_hits(matrix, np.arange(size))).all()


def test_what_cannot_be_ranked_is_refused() -> None:
    for matrix, says in ((np.zeros((3, 4)), "clips x captions"), (np.full((3, 3), np.nan), "NaN")):
        with pytest.raises(InputError, match=says):
            recall_hits(matrix, np.arange(3))
    for ranked, says in (({}, "no ranked list"), ({"c": ["x"]}, "at least 2"), ({"c": ["x", "x"]}, "more than once")):
        with pytest.raises(InputError, match=says):
            ranked_hits(ranked, ["c", "d"], ["x", "y"])
