import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.probes.quadrants import OPERATORS, SHORT_CIRCUITS, TEXT, VIDEO, quadrants_of
from stressreel.evaluation.probes.reference import merged_attention, short_circuit, softmax

V, T = VIDEO, TEXT
SEEDS = st.integers(0, 2**32 - 1)
LENGTHS = st.integers(1, 6)
NAMES = st.sampled_from(sorted(SHORT_CIRCUITS))


def case(seed: int, video: int, text: int, padded: int = 0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation([V] * (video + padded) + [T] * (text + padded))
    seen = np.ones(len(labels), bool)
    for label in (V, T):
        seen[np.flatnonzero(labels == label)[:padded]] = False
    scores = 2 * rng.standard_normal((2, len(labels), len(labels)))
    return softmax(np.where(seen, scores, -1e30)), labels, seen


def test_names_of_quadrants() -> None:
    assert quadrants_of("video") == {(V, V), (T, V)}
    assert quadrants_of("VT") == quadrants_of([(1, 2)]) == {(V, T)}
    for wrong in ("visual", [], ["VX"], [(0, 1)], [(1, 2, 3)]):
        with pytest.raises(UsageError, match="Allowed: unimodal"):
            quadrants_of(wrong)


@settings(deadline=None, max_examples=40)
@given(SEEDS, LENGTHS, LENGTHS, st.integers(0, 2), NAMES, st.sampled_from(OPERATORS))
def test_rows_sum_to_one_and_padding_is_ignored(seed, video, text, padded, name, operator) -> None:
    weights, labels, seen = case(seed, video, text, padded)
    found = short_circuit(weights, labels, labels, name, seen, operator)
    total = found.sum(axis=-1)
    assert total[(total > 0) | (operator != "knockout")] == pytest.approx(1)
    assert (found[..., ~seen] == 0).all()
    assert (found >= 0).all()
    without = short_circuit(weights[:, seen][..., seen], labels[seen], labels[seen], name, operator=operator)
    assert found[:, seen][..., seen] == pytest.approx(without)


@settings(deadline=None, max_examples=30)
@given(SEEDS, LENGTHS, LENGTHS, NAMES)
def test_average_keeps_mass_and_other_quadrants(seed, video, text, name) -> None:
    weights, labels, _ = case(seed, video, text)
    found = short_circuit(weights, labels, labels, name)
    for query, key in ((query, key) for query in (V, T) for key in (V, T)):
        before, after = (each[:, labels == query][..., labels == key] for each in (weights, found))
        assert after.sum(axis=-1) == pytest.approx(before.sum(axis=-1))
        if (query, key) in quadrants_of(name):
            assert np.ptp(after, axis=-1).max() < 1e-12
        else:
            assert np.array_equal(before, after)


@settings(deadline=None, max_examples=30)
@given(SEEDS, LENGTHS, LENGTHS)
def test_theorem_2_1_averages_ignore_token_order(seed, video, text) -> None:
    rng = np.random.default_rng(seed)
    weights, labels, _ = case(seed, video, text)
    order = np.arange(len(labels))
    for label in (V, T):
        order[labels == label] = rng.permutation(order[labels == label])
    values = rng.standard_normal((2, len(labels), 3))
    unimodal = short_circuit(weights, labels, labels, "unimodal")
    for own in (labels == V, labels == T):
        part = unimodal[:, own][..., own]
        assert part @ values[:, own] == pytest.approx(part @ values[:, order][:, own])
    every = short_circuit(weights, labels, labels, "all")
    assert every @ values == pytest.approx(every @ values[:, order])


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(1, 8), st.integers(1, 8))
@example(0, 6, 3)
def test_lemma_2_2_bounds_the_rank(seed, video, text) -> None:
    weights, labels, _ = case(seed, video, text)
    for name, left in (("video", text), ("text", video)):
        rank = np.linalg.matrix_rank(short_circuit(weights[0], labels, labels, name))
        assert rank <= left + 1
        assert (seed, video, text) != (0, 6, 3) or rank == left + 1


def test_toy_example_of_figure_4() -> None:
    """§A.1, Figure 4: three video and two text tokens, the last of each padded; the numbers are our own."""
    labels = np.array([V, V, V, T, T])
    seen = np.array([True, True, False, True, False])
    rows = (
        "5 1 0 4 0 | 2 6 0 2 0 | 3 3 0 4 0 | 1 2 0 7 0 | 4 4 0 2 0",
        "3 3 0 4 0 | 4 4 0 2 0 | 3 3 0 4 0 | 1 2 0 7 0 | 4 4 0 2 0",
    )
    given, expected = (np.array([row.split() for row in each.split("|")], float) / 10 for each in rows)
    assert short_circuit(given, labels, labels, ["TT", "VV"], seen) == pytest.approx(expected)
    crossmodal = given.copy()
    crossmodal[3, :2] = 0.15
    assert short_circuit(given, labels, labels, "crossmodal", seen) == pytest.approx(crossmodal)
    knocked = np.array([0, 0, 0, 1, 0])
    assert short_circuit(given, labels, labels, "VV", seen, "knockout")[0] == pytest.approx(knocked)
    merged = np.array([0.05**0.5, 0.05**0.5, 0, 0.4, 0]) / (2 * 0.05**0.5 + 0.4)
    assert short_circuit(given, labels, labels, "VV", seen, "merge")[0] == pytest.approx(merged)


def test_causal_cross_and_further_attention() -> None:
    causal = np.array([[1, 0, 0, 0], [0.8, 0.2, 0, 0], [0.6, 0.3, 0.1, 0], [0.6, 0.1, 0.2, 0.1]])
    expected = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [0.3, 0.3, 0.3, 0.1]]
    found = short_circuit(causal, [V, V, V, T], [V, V, V, T], "video", np.tri(4, dtype=bool))
    assert found == pytest.approx(np.array(expected))
    weights = softmax(np.random.default_rng(0).standard_normal((2, 3)))
    assert np.ptp(short_circuit(weights, [T, T], [V, V, V], "crossmodal"), axis=-1) == pytest.approx(0)
    found = short_circuit(weights, [T, 0], [3, 3, V], [(2, 3)])
    assert found[0, 0] == found[0, 1]
    assert np.array_equal(found[1], weights[1])
    with pytest.raises(UsageError, match="average, knockout, merge"):
        short_circuit(np.eye(2), [1, 1], [1, 1], "VV", operator="mean")
    with pytest.raises(InputError, match=r"\(2, 2\).*\(3,\)"):
        short_circuit(np.eye(2), [1, 1], [1, 1, 1], "VV")


@settings(deadline=None, max_examples=30)
@given(SEEDS, LENGTHS, LENGTHS, st.integers(0, 2), st.sampled_from([(V,), (T,), (V, T)]))
def test_merged_attention_equals_the_operator_merge(seed, video, text, padded, averaged) -> None:
    rng = np.random.default_rng(seed)
    _, labels, seen = case(seed, video, text, padded)
    query, key, value = rng.standard_normal((3, len(labels), 5))
    found = merged_attention(query, key, value, labels, averaged, seen)
    weights = softmax(np.where(seen, query @ key.T / 5**0.5, -1e30))
    columns = [(row, label) for row in (V, T) for label in averaged]
    assert found == pytest.approx(short_circuit(weights, labels, labels, columns, seen, "merge") @ value)
