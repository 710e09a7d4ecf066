import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.core.numerics import rng_for
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
            assert (side.pairs, side.sources) == (here.sum(), len({SOURCES[place] for place in np.flatnonzero(here)}))
            for found, value in ((side.mean, DISTANCES[here].mean()), (side.variance, DISTANCES[here].var())):
                assert found.low < found.value < found.high
                assert found.value == pytest.approx(value)
        assert row.difference.value == pytest.approx(row.right.mean.value - row.wrong.mean.value)
        assert 0 < row.difference.low < 0.2 < row.difference.high


def test_source_videos_are_resampled() -> None:
    """A video's pairs copied ten times leave the intervals as wide as they were."""
    (once,) = distance_table(DISTANCES, *RIGHT, ["video"] * PAIRS, SOURCES, seed=1)
    kinds = ["video"] * PAIRS * 10
    (tenfold,) = distance_table(np.tile(DISTANCES, 10), *np.tile(RIGHT, 10), kinds, SOURCES * 10, seed=1)
    low, high = tenfold.difference.low, tenfold.difference.high
    assert (low, high) == pytest.approx((once.difference.low, once.difference.high))


def test_empty_groups_and_mismatched_arguments() -> None:
    assert distance_table([], [], [], [], []) == ()
    (row,) = distance_table([0.5] * 8, [True] * 8, [True] * 8, ["video"] * 8, list("abcdefgh"))
    assert (row.right.mean.low, row.right.variance.value) == pytest.approx((0.5, 0))
    assert row.wrong.pairs == row.wrong.sources == 0
    assert np.isnan([row.wrong.mean.value, row.wrong.variance.value, row.difference.value]).all()
    with pytest.raises(InputError, match="same shape"):
        distance_table([0.5, 0.6], [True], [True] * 2, ["video"] * 2, ["a", "b"])
