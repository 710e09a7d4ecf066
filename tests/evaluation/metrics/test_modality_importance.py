import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.core.results import Spread
from stressreel.evaluation.metrics.items import Items
from stressreel.evaluation.metrics.modality_importance import (
    categories,
    importance,
    permutation_table,
    permuted,
    permuted_sets,
    subsets,
)
from stressreel.evaluation.metrics.predictions import Predictions

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


IDS = [str(number) for number in range(4)]
ITEMS = Items(IDS, IDS, IDS, IDS, [("no", "yes")] * 4, np.array([1, 1, 1, 0]))


def of_set(kind: str, seed: int, said: str) -> list[dict[str, object]]:
    return [{"permuted": kind, "seed": seed, "id": name, "answer": a} for name, a in zip(IDS, said, strict=True)]


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


def test_permuted_sets_contain_every_item() -> None:
    rows = of_set("video", 0, "yyyn") + of_set("video", 1, "nnnn") + of_set("text", 0, "yyyy")
    found = permuted_sets(Predictions("p", rows[::-1]), ITEMS)
    right = {(kind, n): (each.picks == ITEMS.truth).sum() for kind, sets in found.items() for n, each in sets.items()}
    assert right == {("video", "0"): 4, ("video", "1"): 1, ("text", "0"): 3}
    for wrong, says in (
        (rows[:7], r"p .video permuted, seed 1.: 1 of 4 ids have no prediction"),
        ([*rows, {"id": "0", "answer": "y", "permuted": "", "seed": 0}], "row 13 lacks `permuted` or `seed`"),
        ([{"permuted": "video", "id": "0"}], "no column 'seed'"),
    ):
        with pytest.raises(InputError, match=says):
            permuted_sets(Predictions("p", wrong), ITEMS)
