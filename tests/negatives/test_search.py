"""Nearest neighbours, against sorting everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.negatives.search import nearest, nearest_to


def vectors(n: int, seed: int = 0, dimensions: int = 24) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).standard_normal((n, dimensions)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def brute(cosines: NDArray[np.float32], k: int, others: NDArray[np.bool_]) -> list[list[int]]:
    """Sort everything that may be taken."""
    rounded = np.rint(cosines * 1e5)
    return [
        sorted(np.flatnonzero(may).tolist(), key=lambda other, row=row: (-row[other], other))[:k]  # type: ignore[misc]
        for row, may in zip(rounded, others, strict=True)
    ]


@pytest.mark.parametrize("rows", [1, 7, None])
@pytest.mark.parametrize(("n", "k"), [(0, 4), (1, 1), (3, 0), (5, 9), (133, 10)])
def test_it_finds_what_sorting_everything_finds(n: int, k: int, rows: int | None) -> None:
    v = vectors(n)
    found = nearest(v, k, rows=rows)
    assert found.shape == (n, k)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == brute(v @ v.T, k, ~np.eye(n, dtype=np.bool_))


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 99), st.sampled_from([None, 1.0, 0.5, 0.0, -1.0]))
def test_equal_cosines_go_by_id_and_the_limit_holds(n: int, k: int, seed: int, below: float | None) -> None:
    rng = np.random.default_rng(seed)
    v = np.eye(4, dtype=np.float32)[rng.integers(0, 4, n)] * rng.choice([-1, 1], n)[:, None].astype(np.float32)
    cosines = v @ v.T
    may = ~np.eye(n, dtype=np.bool_) & (cosines < (2 if below is None else below))
    found = nearest(v, k, below=below, rows=8)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == brute(cosines, k, may)


@pytest.mark.parametrize("rows", [1, 1024])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (5, 9, 9), (40, 17, 5), (3, 4, 0), (6, 0, 0)])
def test_the_nearest_of_others_are_what_sorting_finds(n: int, m: int, k: int, rows: int) -> None:
    asked, offered = vectors(n), vectors(max(m, 1), seed=1)[:m]
    found = nearest_to(asked, offered, k, rows=rows)
    assert found.tolist() == brute(asked @ offered.T, k, np.ones((n, m), np.bool_))
