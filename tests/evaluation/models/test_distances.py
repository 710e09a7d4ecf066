import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.core.seeds import rng_for
from stressreel.evaluation.models.distances import distance_table

PAIRS = 400
RNG = rng_for(0, "pairs")
RIGHT = RNG.random((2, PAIRS)) < 0.8
BOTH = RIGHT.all(0)
KINDS = np.where(np.arange(PAIRS) % 2, "video", "text")
SOURCES = [f"video {number}" for number in RNG.integers(0, 40, PAIRS)]
DISTANCES = np.where(BOTH, 0.7, 0.5) + RNG.normal(0, 0.1, PAIRS)


def test_means_and_variances_of_pairs() -> None:
    rows = distance_table(DISTANCES, *RIGHT, KINDS.tolist(), SOURCES)
    assert [row.kind for row in rows] == ["text", "video"]
    for row in rows:
        for side, chosen in ((row.right, BOTH), (row.wrong, ~BOTH)):
            here = chosen & (row.kind == KINDS)
            assert side.pairs == here.sum()
            assert side.sources == len({SOURCES[place] for place in np.flatnonzero(here)})
            assert side.mean.value == pytest.approx(DISTANCES[here].mean())
            assert side.variance.value == pytest.approx(DISTANCES[here].var())
            assert side.mean.low < side.mean.value < side.mean.high
            assert side.variance.low < side.variance.value < side.variance.high
        assert row.difference.value == pytest.approx(row.right.mean.value - row.wrong.mean.value)
        assert 0 < row.difference.low < 0.2 < row.difference.high


def test_source_videos_are_resampled() -> None:
    """A video's pairs copied ten times leave the intervals as wide as they were."""
    once, again, other = (
        distance_table(DISTANCES, *RIGHT, ["video"] * PAIRS, SOURCES, seed=seed)[0].difference for seed in (1, 1, 2)
    )
    kinds = ["video"] * PAIRS * 10
    (tenfold,) = distance_table(np.tile(DISTANCES, 10), *np.tile(RIGHT, 10), kinds, SOURCES * 10, seed=1)
    assert once == again != other
    assert (tenfold.difference.low, tenfold.difference.high) == pytest.approx((once.low, once.high))


def test_empty_groups_and_few_videos() -> None:
    (row,) = distance_table([0.5] * 8, [True] * 8, [True] * 8, ["video"] * 8, list("abcdefgh"))
    assert row.right.mean.value == row.right.mean.low == pytest.approx(0.5)
    assert row.right.variance.value == row.wrong.pairs == row.wrong.sources == 0
    assert np.isnan([row.wrong.mean.value, row.wrong.variance.value, row.difference.value]).all()
    assert distance_table([], [], [], [], []) == ()
    (row,) = distance_table([0.6, 0.2], [True] * 2, [True, False], ["video"] * 2, list("ab"))
    assert (row.difference.value, np.isnan(row.difference.low)) == (pytest.approx(0.4), True)


def test_mismatched_arguments_are_refused() -> None:
    with pytest.raises(InputError, match=r"the same shape \(pairs,\).*\(1,\), \(2,\)"):
        distance_table([0.5, 0.6], [True], [True] * 2, ["video"] * 2, ["a", "b"])
    with pytest.raises(InputError, match="1 of 2 distances are not finite"):
        distance_table([0.5, np.nan], [True] * 2, [True] * 2, ["video"] * 2, ["a", "b"])
