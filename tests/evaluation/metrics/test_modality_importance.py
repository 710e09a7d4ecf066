"""Modality importance on the paper's Tables 1 and 2, and permutations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.modality_importance import categories, importance, permuted, subsets

TABLE_1 = [  # video, subtitles, both; MIS of video, of subtitles; category
    ((0, 0, 0), (0, 0), "modality-agnostic incorrect"),
    ((0, 1, 0), (-1, 0), "sub-biased"),
    ((1, 0, 0), (0, -1), "vid-biased"),
    ((1, 1, 0), (-1, -1), "none"),
    ((0, 0, 1), (1, 1), "complementary"),
    ((0, 1, 1), (0, 1), "sub-biased"),
    ((1, 0, 1), (1, 0), "vid-biased"),
    ((1, 1, 1), (0, 0), "modality-agnostic correct"),
]
TWO = ("vid", "sub")


@pytest.mark.parametrize(("answers", "scores", "category"), TABLE_1)
def test_every_row_of_table_1(answers: tuple[int, ...], scores: tuple[int, ...], category: str) -> None:
    right = {subset: np.array([bool(value)]) for subset, value in zip(subsets(TWO), answers, strict=True)}
    found = importance(right, TWO)
    assert (found["vid"][0], found["sub"][0]) == scores
    assert categories(right, TWO) == [category]


def test_three_modalities_by_hand() -> None:
    modalities = ("v", "t", "a")
    right = {subset: np.array(["v" in subset and "t" in subset]) for subset in subsets(modalities)}
    found = importance(right, modalities)
    # v: {vt, va, vta} right in 2 of 3; without v {t, a, ta} never. a: {va, ta, vta} 1 of 3; {v, t, vt} 1 of 3.
    assert [found[name][0] for name in modalities] == pytest.approx([2 / 3, 2 / 3, 0])
    assert categories(right, modalities) == ["none"]


def test_a_missing_subset_is_named() -> None:
    with pytest.raises(InputError, match=r"missing: t\+v"):
        importance({frozenset("v"): np.array([True]), frozenset("t"): np.array([True])}, ("v", "t"))


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_features_come_from_another_video_and_each_is_given_once(sources: list[int], seed: int) -> None:
    names = [f"video{number}" for number in sources]
    most = max(names.count(name) for name in names)
    rng = np.random.default_rng(seed)
    if 2 * most > len(names):
        with pytest.raises(InputError, match=r"permuted: 'video\d' has .* more than half"):
            permuted(names, rng)
        return
    given_by = permuted(names, rng)
    assert sorted(given_by) == list(range(len(names)))
    assert all(names[item] != names[other] for item, other in enumerate(given_by))


def test_permutations_are_seeded() -> None:
    names = [f"video{number // 3}" for number in range(30)]
    first, again, other = (permuted(names, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
