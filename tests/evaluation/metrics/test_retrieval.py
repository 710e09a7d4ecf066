from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.retrieval import order_of, ranked_hits, read_matrix, read_ranked, recall_hits


def test_recall_of_perfect_and_tied_similarities() -> None:
    assert (recall_hits(np.eye(20), np.arange(20)) == 1).all()
    assert (recall_hits(-np.eye(20), np.arange(20)) == 0).all()
    assert recall_hits(np.zeros((20, 20)), np.arange(20)).mean(axis=0) == pytest.approx([1 / 20, 5 / 20, 10 / 20])
    column = np.array([[0.9], [0.8], [0.7], [0.6], [0.5], [0.5], [0.1]])  # right: row 4, four above, one equal
    assert recall_hits(column, np.array([4])).tolist() == [[0, 0.5, 1]]


@given(st.integers(2, 12), st.integers(0, 1000))
def test_ranked_lists_equal_their_matrix(size: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).permuted(np.arange(size * size, dtype=np.float64)).reshape(size, size)
    clips = [f"clip{number}" for number in range(size)]
    ranked = {f"c{j}": [clips[i] for i in np.argsort(-matrix[:, j])] for j in range(size)}
    assert (ranked_hits(ranked, list(ranked), clips) == recall_hits(matrix, np.arange(size))).all()


def test_matrices_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for kind in (np.float64, np.float16, np.uint8):
        np.save(path, np.asfortranarray(np.arange(6).reshape(2, 3)).astype(kind))
        assert read_matrix(path, (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    for odd, says in ((np.zeros((2, 3), bool), "contains bool"), (np.zeros((3, 2)), "Transpose it")):
        np.save(path, odd)
        with pytest.raises(InputError, match=says):
            read_matrix(path, (2, 3))
    with pytest.raises(InputError, match="NaN"):
        recall_hits(np.full((3, 3), np.nan), np.arange(3))


def test_ranked_lists_name_captions_or_their_clips(tmp_path: Path) -> None:
    path, captions = tmp_path / "clean.jsonl", {"v1#0": "v1", "v2#0": "v2", "v2#1": "v2"}
    first = '{"id": "v1", "ranked": ["v2", "v1"]}\n\n'
    path.write_text(first + '{"id": "v2#0", "ranked": ["v2"]}\n')
    assert read_ranked(path, captions, {"v1", "v2"}) == {"v1#0": ["v2", "v1"], "v2#0": ["v2"]}
    for line, says in (
        ('{"id": "v2", "ranked": ["v1"]}', "line 3: this split of the output has no caption 'v2'"),  # it has two
        ('{"id": "v1#0", "ranked": ["v1"]}', "line 3: caption 'v1#0' occurs twice"),
        ('{"id": "v2#0", "ranked": ["v3"]}', "line 3: this output has no clip 'v3'"),
    ):
        path.write_text(first + line)
        with pytest.raises(InputError, match=says):
            read_ranked(path, captions, {"v1", "v2"})
    for ranked, says in (({}, "no ranked list"), ({"c": ["x"]}, "at least 2"), ({"c": ["x", "x"]}, "more than once")):
        with pytest.raises(InputError, match=says):
            ranked_hits(ranked, ["c", "d"], ["x", "y"])


def test_order_lists_every_name_once(tmp_path: Path) -> None:
    path = tmp_path / "clips.txt"
    assert order_of(path, ["a", "b"]).tolist() == [0, 1]
    path.write_text("\ufeffb\r\na\r\n")
    assert order_of(path, ["a", "b"]).tolist() == [1, 0]
    path.write_text("b\nb\n")
    with pytest.raises(InputError, match="the first difference is 'a'"):
        order_of(path, ["a", "b"])
