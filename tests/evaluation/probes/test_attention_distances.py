from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.core.numerics import rng_for
from stressreel.evaluation.probes import NEITHER, TEXT, VIDEO, attention_distance
from stressreel.evaluation.probes.attention_distances import align
from stressreel.evaluation.probes.reference import softmax

V, T = VIDEO, TEXT
LABELS = np.array([T, T, V, V, V, T, T, V, T])


def layers(key: int, tokens: int = 9, heads: int = 2, count: int = 3) -> np.ndarray:
    return softmax(rng_for(0, "maps", key).normal(0, 2, (count, heads, tokens, tokens)))


def test_distance_is_symmetric_bounded_and_ignores_padding() -> None:
    first, second = ([*layers(key), layers(key, heads=3, count=1)[0]] for key in (1, 2))
    forth = attention_distance(first, second, LABELS, LABELS)
    assert forth.value == pytest.approx(attention_distance(second, first, LABELS, LABELS).value, rel=1e-4)
    assert 0 < forth.lowest <= forth.value <= np.sqrt(2)
    assert forth.undivided == pytest.approx(forth.value * 3, rel=1e-6)
    assert [layer.shape for layer in forth.heads] == [(2,)] * 3 + [(3,)]
    assert forth.value == pytest.approx(np.mean(np.concatenate(forth.heads)), rel=1e-6)
    padded = [np.pad(layer, ((0, 0), (2, 1), (2, 1)), constant_values=np.nan) for layer in second]
    labels = np.concatenate([[NEITHER] * 2, LABELS, [NEITHER]])
    assert attention_distance(first, padded, LABELS, labels).value == pytest.approx(forth.value, rel=1e-6)


def test_distances_by_hand() -> None:
    """Rows that look at one token each, at themselves and at the next; and a text token without a partner."""
    one = np.eye(6)[None, None]
    found = attention_distance(one, np.roll(one, 1, -1), [V] * 6, [V] * 6)
    assert (found.value, found.undivided) == pytest.approx((np.sqrt(2), np.sqrt(12)), rel=1e-6)
    first = np.array([[[0.5, 0.5], [0.5, 0.5]]])
    second = np.array([[[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]])
    found = attention_distance([first], [second], [V, T], [V, T, T])
    left_over_last = 2 * 0.25**2 + 2 * 0.25**2 + 1
    left_over_second = 2 * 0.25**2 + 0.5**2 + 0.5**2 + 0.25**2 + 0.5**2 + 0.25**2
    assert found.undivided == pytest.approx(np.sqrt(min(left_over_last, left_over_second)), rel=1e-5)
    assert (found.tokens, found.value) == (3, pytest.approx(found.undivided / np.sqrt(3)))
    only = attention_distance([first], [first], [V, V], [T, T])  # no modality in common: nothing has a partner
    assert only.undivided == pytest.approx(np.sqrt(2))


def test_incomparable_maps_are_refused() -> None:
    sides = {"first": layers(0), "second": layers(1), "labels_first": LABELS, "labels_second": LABELS}
    for change, says in (
        ({"first": layers(0)[:2]}, "one side has 2 and the other has 3"),
        ({"first": layers(0)[..., :8]}, r"shape \(2, 9, 8\).*\(heads, 9, 9\)"),
        ({"labels_first": LABELS * 0, "labels_second": LABELS * 0}, "no token has a label"),
        ({"first": layers(0) * np.nan}, "layer 0 contain non-finite values"),
    ):
        with pytest.raises(InputError, match=says):
            attention_distance(**{**sides, **change})


GROUPS = {7: [slice(0, 4), slice(4, 7)], 24: [slice(0, 9), slice(9, 24)]}


def random_map(length: int, *key: int, spread: float = 2) -> np.ndarray:
    return softmax(rng_for(0, "map", length, *key).normal(0, spread, (length, length))).astype(np.float32)


def norm(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> float:
    return float(np.linalg.norm(first.astype(float) - second.astype(float)[np.ix_(order, order)]))


def test_best_permutation_lies_between_bound_and_result() -> None:
    every = [np.concatenate(one) for one in product(permutations(range(4)), permutations(range(4, 7)))]
    ratios = []
    for number in range(8):
        first, second = random_map(7, number), random_map(7, number, 1)
        found, exact = align(first, second, GROUPS[7]), min(norm(first, second, one) for one in every)
        assert found.settled
        assert found.lowest - 1e-5 <= exact <= found.distance + 1e-5
        ratios.append((found.distance / exact, found.lowest / exact))
    assert np.mean(ratios, axis=0)[0] < 1.05
    assert np.mean(ratios, axis=0)[1] > 0.6


def test_permutation_within_groups_is_undone() -> None:
    first, rng = random_map(24, 0), rng_for(0, "order")
    order = np.concatenate([rng.permutation(np.arange(group.start, group.stop)) for group in GROUPS[24]])
    found = align(first, first[np.ix_(order, order)], GROUPS[24])
    assert (found.distance < 1e-6, found.settled) == (True, True)
    assert np.array_equal(order[found.order], np.arange(24))


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 4.0]))
@settings(max_examples=15, deadline=None)
def test_alignment_is_symmetric(seed: int, spread: float) -> None:
    first, second = random_map(24, seed, spread=spread), random_map(24, seed, 1, spread=spread)
    forth, back = align(first, second, GROUPS[24]), align(second, first, GROUPS[24])
    for group in GROUPS[24]:
        assert sorted(forth.order[group]) == list(range(group.start, group.stop))
    assert forth.distance == pytest.approx(norm(first, second, forth.order), abs=1e-5)
    assert forth.lowest <= forth.distance <= norm(first, second, np.arange(24)) + 1e-6
    assert (forth.distance, forth.lowest) == pytest.approx((back.distance, back.lowest), rel=1e-3)
