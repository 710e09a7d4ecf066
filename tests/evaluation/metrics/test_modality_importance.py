import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.core.results import Spread
from stressreel.evaluation.metrics.modality_importance import (
    categories,
    importance,
    permutation_table,
    permuted,
    subsets,
)

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


def test_table_1_and_a_missing_subset() -> None:
    two = ("vid", "sub")
    answers, scores, names = zip(*TABLE_1, strict=True)
    right = {subset: np.array(column, bool) for subset, column in zip(subsets(two), np.transpose(answers), strict=True)}
    found = importance(right, two)
    assert np.stack([found[name] for name in two], axis=1).tolist() == [list(pair) for pair in scores]
    assert categories(right, two) == list(names)
    del right[frozenset(two)]
    with pytest.raises(InputError, match=r"missing: sub\+vid"):
        importance(right, two)


def test_three_modalities_by_hand() -> None:
    right = {subset: np.array([{"v", "t"} <= subset]) for subset in subsets(("v", "t", "a"))}
    found = importance(right, ("v", "t", "a"))
    # v: {vt, va, vta} right in 2 of 3; without v {t, a, ta} never. a: {va, ta, vta} 1 of 3; {v, t, vt} 1 of 3.
    assert [found[name][0] for name in ("v", "t", "a")] == pytest.approx([2 / 3, 2 / 3, 0])
    assert categories(right, ("v", "t", "a")) == ["none"]


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_permutation_uses_each_other_video_once(sources: list[int], seed: int) -> None:
    names = [f"video{number}" for number in sources]
    if 2 * max(names.count(name) for name in names) > len(names):
        with pytest.raises(InputError, match=r"permuted: 'video\d' has .* more than half"):
            permuted(names, np.random.default_rng(seed))
        return
    given_by = permuted(names, np.random.default_rng(seed))
    assert sorted(given_by) == list(range(len(names)))
    assert all(names[item] != names[other] for item, other in enumerate(given_by))
    assert (given_by == permuted(names, np.random.default_rng(seed))).all()


def test_permutation_table_by_hand() -> None:
    """Two questions a category. As asked: all right, then one of category a wrong. Two sets with the text permuted."""
    kinds = ["a-biased", "a-biased", "b-biased", "b-biased"]
    asked = [np.array([1, 1, 1, 1], bool), np.array([1, 0, 1, 1], bool)]
    text = {"0": np.array([0, 0, 1, 1], bool), "1": np.array([1, 0, 1, 0], bool)}
    table = permutation_table(kinds, asked, {"text": text})
    assert table.headings == ("category", "questions", "original", "text permuted", "Δ text")
    half = pytest.approx(np.std([0, 0.5], ddof=1))
    assert table.rows[0] == ("a-biased", 2, Spread(0.75, half, 2), Spread(0.25, half, 2), -0.5)
    assert table.rows[1] == ("b-biased", 2, Spread(1, 0, 2), Spread(0.75, half, 2), -0.25)
    assert (table.rows[2][:2], table.rows[2][4]) == (("all", 4), pytest.approx(0.5 - 0.875))
