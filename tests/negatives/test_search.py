import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.negatives.embeddings import nearest

Floats = NDArray[np.float32]


def vectors(n: int, seed: int = 0) -> Floats:
    found = np.random.default_rng(seed).standard_normal((n, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def by_sorting(queries: Floats, offered: Floats | None, k: int, below: float | None = None) -> list[list[int]]:
    cosines = (queries @ (queries if offered is None else offered).T).round(5)
    return [
        sorted(
            (n for n, c in enumerate(row) if not (offered is None and n == own) and (below is None or c < below)),
            key=lambda n, row=row: (-row[n], n),
        )[:k]
        for own, row in enumerate(cosines)
    ]


@pytest.mark.parametrize("tile", [1, 7, None])
@pytest.mark.parametrize(("n", "m", "k"), [(1, None, 1), (40, None, 5), (9, 17, 5), (3, 4, 0), (6, 0, 2)])
def test_it_finds_what_sorting_finds(n: int, m: int | None, k: int, tile: int | None) -> None:
    queries, offered = vectors(n), None if m is None else vectors(m, 1)
    found = nearest(queries, offered, k, tile=tile)
    assert found.shape == (n, k)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == by_sorting(queries, offered, k)


@given(
    st.integers(1, 60),
    st.integers(1, 12),
    st.sampled_from([3, 16, None]),
    st.integers(0, 99),
    st.sampled_from([None, 1.0, 0.5, 0.0, -1.0]),
)
@settings(max_examples=40, deadline=None)
def test_ties_go_by_index_and_the_limit_holds(n: int, k: int, tile: int | None, seed: int, below: float | None) -> None:
    rng = np.random.default_rng(seed)
    v = np.eye(4, dtype=np.float32)[rng.integers(0, 4, n)] * rng.choice([-1, 1], n)[:, None].astype(np.float32)
    found = nearest(v, None, k, below=below, tile=tile)
    assert [[i for i in row if i >= 0] for row in found.tolist()] == by_sorting(v, None, k, below)
