"""Intervals: seeded, over source videos, paired."""

import numpy as np
import pytest
from stressreel.evaluation.metrics.bootstrap import Tally, differences, estimates, tally


def plain(means):
    return {"score": means["all"]}


def counted(seed: int, *, sources: int = 60, each: int = 10, share: float = 0.5, same: bool = False) -> Tally:
    rng = np.random.default_rng(seed)
    where = np.repeat(np.arange(sources), each)
    values = rng.random(sources if same else sources * each) < share
    return tally(
        [str(n) for n in range(sources)], {"all": (where, (np.repeat(values, each) if same else values) * 1.0)}
    )


def test_the_value_is_the_mean_and_the_interval_holds_it() -> None:
    data = counted(1)
    found = estimates(data, plain)["score"]
    assert found.value == pytest.approx(data.sums.sum() / data.counts.sum())
    assert found.low < found.value < found.high


def test_an_interval_is_that_of_the_standard_error() -> None:
    found = estimates(counted(2, sources=400, each=1), plain, resamples=4000)["score"]
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.5 / np.sqrt(400), rel=0.1)


def test_questions_of_one_video_do_not_count_as_independent() -> None:
    wide, narrow = (estimates(counted(3, same=same), plain)["score"] for same in (True, False))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_it_is_seeded() -> None:
    first, again, other = (estimates(counted(4), plain, seed=seed)["score"] for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_a_model_does_not_differ_from_itself_and_a_pair_is_narrower_than_two() -> None:
    one, two = counted(5, same=True), counted(5, same=True)
    found = differences(one, two, plain)["score"]
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_a_clear_difference_is_seen() -> None:
    found = differences(counted(6, share=0.4), counted(7, share=0.6), plain)["score"]
    assert found.low > 0


@pytest.mark.parametrize("sources", [1, 5])
def test_a_few_source_videos_have_no_interval(sources: int) -> None:
    found = estimates(counted(8, sources=sources), plain)["score"]
    assert np.isnan(found.low)
    assert not np.isnan(found.value)


def test_source_videos_without_an_answer_are_not_drawn() -> None:
    data = tally(["a", "b", "c"], {"all": (np.array([0, 2]), np.array([1.0, 0.0]))})
    assert data.sources == ("a", "c")
    assert data.counts.tolist() == [[1], [1]]


def test_other_source_videos_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="paired"):
        differences(counted(1, sources=3), counted(1, sources=4), plain)
