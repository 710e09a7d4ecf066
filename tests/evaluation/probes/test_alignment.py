from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.seeds import rng_for
from stressreel.evaluation.probes.alignment import align, assigned_by_profile
from stressreel.evaluation.probes.reference import softmax

GROUPS = {7: [slice(0, 4), slice(4, 7)], 24: [slice(0, 9), slice(9, 24)]}


def maps(length: int, *key: int, spread: float = 2) -> np.ndarray:
    return softmax(rng_for(0, "map", length, *key).normal(0, spread, (length, length))).astype(np.float32)


def shuffled(length: int, *key: int) -> np.ndarray:
    rng = rng_for(0, "order", length, *key)
    return np.concatenate([group.start + rng.permutation(group.stop - group.start) for group in GROUPS[length]])


def norm(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> float:
    return float(np.linalg.norm(first.astype(float) - second.astype(float)[np.ix_(order, order)]))


@pytest.mark.parametrize("noise", [0.3, None])
def test_the_best_permutation_lies_between_the_bound_and_what_is_found(noise: float | None) -> None:
    ratios = []
    every = [np.concatenate(one) for one in product(permutations(range(4)), permutations(range(4, 7)))]
    for number in range(8):
        first, second, order = maps(7, number), maps(7, number, 1), shuffled(7, number)
        if noise is not None:
            noisy = np.log(first) + rng_for(1, "noise", number).normal(0, noise, first.shape)
            second = softmax(noisy).astype(np.float32)[np.ix_(order, order)]
        found, exact = align(first, second, GROUPS[7]), min(norm(first, second, one) for one in every)
        assert (sorted(found.order[:4]), sorted(found.order[4:])) == ([0, 1, 2, 3], [4, 5, 6])
        assert found.settled
        assert found.lowest <= exact + 1e-5
        assert exact <= found.distance + 1e-5
        ratios.append((found.distance / exact, found.lowest / exact))
    assert np.mean(ratios, axis=0)[0] < 1.05
    assert np.mean(ratios, axis=0)[1] > 0.6


@pytest.mark.parametrize("length", GROUPS)
def test_a_permutation_within_groups_is_undone_and_no_other(length: int) -> None:
    first, order = maps(length, 0), shuffled(length, 0)
    found = align(first, first[np.ix_(order, order)], GROUPS[length])
    assert (found.distance < 1e-6, found.settled) == (True, True)
    assert np.array_equal(order[found.order], np.arange(length))
    across = np.arange(length)
    across[[0, -1]] = across[[-1, 0]]
    assert align(first, first[np.ix_(across, across)], GROUPS[length]).distance > 0.1
    assert align(first, first[np.ix_(across, across)], [slice(0, length)]).distance < 1e-6


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 4.0]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_neither_map_is_the_first(seed: int, spread: float, causal: bool) -> None:
    first, second = maps(24, seed, spread=spread), maps(24, seed, 1, spread=spread)
    if causal:
        first, second = (np.tril(one) / np.tril(one).sum(1, keepdims=True) for one in (first, second))
    forth, back = align(first, second, GROUPS[24]), align(second, first, GROUPS[24])
    for group in GROUPS[24]:
        assert sorted(forth.order[group]) == list(range(group.start, group.stop))
    assert forth.distance == pytest.approx(norm(first, second, forth.order), abs=1e-5)
    assert forth.lowest <= forth.distance <= norm(first, second, np.arange(24)) + 1e-6
    assert forth.distance == pytest.approx(back.distance, rel=1e-3)
    assert forth.lowest == pytest.approx(back.lowest, rel=1e-4)


def test_the_bound_is_that_of_the_assignment() -> None:
    """By hand: with two tokens of two groups nothing can be permuted, and the bound is the distance itself."""
    first, second = np.array([[0.9, 0.1], [0.4, 0.6]], np.float32), np.array([[0.5, 0.5], [0.2, 0.8]], np.float32)
    order, lowest = assigned_by_profile(first, second, [slice(0, 1), slice(1, 2)])
    assert list(order) == [0, 1]
    assert lowest == pytest.approx(np.sqrt(0.4**2 + 0.4**2 + 0.2**2 + 0.2**2), rel=1e-5)
