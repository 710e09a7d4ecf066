import numpy as np
import pytest
from stressreel.evaluation.metrics.bootstrap import Tally, differences, estimates, tally


def plain(means):
    return {"score": means["all"]}


def counted(seed: int, *, sources: int = 60, each: int = 10, share: float = 0.5, same: bool = False) -> Tally:
    rng = np.random.default_rng(seed)
    values = rng.random(sources if same else sources * each) < share
    values = (np.repeat(values, each) if same else values) * 1.0
    return tally([str(n) for n in range(sources)], {"all": (np.repeat(np.arange(sources), each), values)})


def test_interval_matches_the_standard_error() -> None:
    data = counted(2, sources=400, each=1)
    found = estimates(data, plain, resamples=4000)["score"]
    assert found.value == pytest.approx(data.sums.sum() / data.counts.sum())
    assert found.low < found.value < found.high
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.5 / np.sqrt(400), rel=0.1)
    first, again, other = (estimates(counted(4), plain, seed=seed)["score"] for seed in (0, 0, 1))
    assert first == again != other


def test_source_videos_are_resampled_and_paired() -> None:
    wide, narrow = (estimates(counted(3, same=same), plain)["score"] for same in (True, False))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    found = differences(counted(5, same=True), counted(5, same=True), plain)["score"]
    assert (found.value, found.low, found.high) == (0, 0, 0)
    assert differences(counted(6, share=0.4), counted(7, share=0.6), plain)["score"].low > 0


def test_few_source_videos_give_no_interval() -> None:
    found = [estimates(counted(8, sources=sources), plain)["score"] for sources in (1, 5, 6)]
    assert np.isnan([each.low for each in found]).tolist() == [True, True, False]
    assert not np.isnan([each.value for each in found]).any()
    data = tally(["a", "b", "c"], {"all": (np.array([0, 2]), np.array([1.0, 0.0]))})  # b has no answers
    assert (data.sources, data.counts.tolist()) == (("a", "c"), [[1], [1]])
