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


def test_table_1_and_a_missing_subset() -> None:
    answers, scores, names = zip(*TABLE_1, strict=True)
    right = {subset: np.array(column, bool) for subset, column in zip(subsets(TWO), np.transpose(answers), strict=True)}
    found = importance(right, TWO)
    assert np.stack([found[name] for name in TWO], axis=1).tolist() == [list(pair) for pair in scores]
    assert categories(right, TWO) == list(names)
    del right[frozenset(TWO)]
    with pytest.raises(InputError, match=r"missing: sub\+vid"):
        importance(right, TWO)


def test_three_modalities_by_hand() -> None:
    modalities = ("v", "t", "a")
    right = {subset: np.array(["v" in subset and "t" in subset]) for subset in subsets(modalities)}
    found = importance(right, modalities)
    # v: {vt, va, vta} right in 2 of 3; without v {t, a, ta} never. a: {va, ta, vta} 1 of 3; {v, t, vt} 1 of 3.
    assert [found[name][0] for name in modalities] == pytest.approx([2 / 3, 2 / 3, 0])
    assert categories(right, modalities) == ["none"]


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_features_come_from_another_video_and_each_is_given_once(sources: list[int], seed: int) -> None:
    names = [f"video{number}" for number in sources]
    if 2 * max(names.count(name) for name in names) > len(names):
        with pytest.raises(InputError, match=r"permuted: 'video\d' has .* more than half"):
            permuted(names, np.random.default_rng(seed))
        return
    given_by = permuted(names, np.random.default_rng(seed))
    assert sorted(given_by) == list(range(len(names)))
    assert all(names[item] != names[other] for item, other in enumerate(given_by))
    assert (given_by == permuted(names, np.random.default_rng(seed))).all()
    many = [f"video{n // 3}" for n in range(30)]
    first, other = (permuted(many, np.random.default_rng(each)) for each in (seed, seed + 1))
    assert (first != other).any()
