from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.negatives.search import nearest, nearest_to


def vectors(n: int, seed: int = 0, dimensions: int = 24) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((n, dimensions)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def brute(v: NDArray[np.float32], k: int, below: float | None = None) -> list[list[int]]:
    """Sort everything; integers in small dimensions make cosines exact."""
    cosines = v @ v.T
    found = []
    for row in range(len(v)):
        others = [o for o in range(len(v)) if o != row and (below is None or cosines[row, o] < np.float32(below))]
        found.append(sorted(others, key=lambda other: (-cosines[row, other], other))[:k])
    return found


@pytest.mark.parametrize("tile", [1, 7, 8, 16, 64, 4096])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (5, 9), (40, 5), (133, 10)])
def test_it_finds_what_sorting_everything_finds(n: int, k: int, tile: int) -> None:
    v = vectors(n)
    ids, cosines = nearest(v, k, tile=tile)
    assert ids.shape == cosines.shape == (n, k)
    assert [[i for i in row if i >= 0] for row in ids.tolist()] == brute(v, k)
    for row in range(n):
        kept = ids[row] >= 0
        assert np.isneginf(cosines[row][~kept]).all()
        np.testing.assert_allclose(cosines[row][kept], v[ids[row][kept]] @ v[row], atol=1e-6)


@given(
    st.integers(1, 60),
    st.integers(1, 12),
    st.sampled_from([3, 8, 16, 50]),
    st.integers(0, 99),
    st.sampled_from([None, 1.0, 0.5, 0.0, -1.0]),
)
@settings(max_examples=60, deadline=None)
def test_equal_cosines_go_by_id_and_the_limit_holds(n: int, k: int, tile: int, seed: int, below: float | None) -> None:
    rng = np.random.default_rng(seed)
    v = np.eye(4, dtype=np.float32)[rng.integers(0, 4, n)] * rng.choice([-1, 1], n)[:, None].astype(np.float32)
    ids, cosines = nearest(v, k, below=below, tile=tile)
    assert [[i for i in row if i >= 0] for row in ids.tolist()] == brute(v, k, below)
    assert below is None or (cosines < below).all()


def test_nothing_and_none_wanted() -> None:
    assert nearest(np.empty((0, 3), np.float32), 4)[0].shape == (0, 4)
    assert nearest(vectors(3), 0)[0].shape == (3, 0)


def test_it_agrees_with_sentence_transformers() -> None:
    torch = pytest.importorskip("torch")
    util = pytest.importorskip("sentence_transformers.util")
    v = vectors(300, seed=5)
    peer = util.semantic_search(torch.from_numpy(v), torch.from_numpy(v), top_k=11)
    ids, _ = nearest(v, 10, tile=64)
    for row, hits in enumerate(peer):
        assert ids[row].tolist() == [hit["corpus_id"] for hit in hits if hit["corpus_id"] != row][:10]


@pytest.mark.parametrize("tile", [1, 7, 1024])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (5, 9, 9), (40, 17, 5), (3, 4, 0), (6, 0, 0)])
def test_the_nearest_of_others_are_what_sorting_finds(n: int, m: int, k: int, tile: int) -> None:
    asked, offered = vectors(n), vectors(max(m, 1), seed=1)[:m]
    found = nearest_to(asked, offered, k, tile=tile)
    assert found.shape == (n, k)
    cosines = (asked @ offered.T).round(5)
    for row in range(n):
        assert found[row].tolist() == sorted(range(m), key=lambda other: (-cosines[row, other], other))[:k]
