import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.seeds import rng_for
from stressreel.corruptions.registry import visual_corruptions
from stressreel.corruptions.visual.temporal import box_jumble, freeze, jumble, reverse_sampling, sampling

LENGTHS = st.integers(1, 400)
SEEDS = st.integers(0, 10**6)


def rng(seed=0):
    return rng_for(seed, "test")


def test_sampling_by_hand():
    assert sampling(10, 4).tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]
    assert reverse_sampling(10, 4).tolist() == [8, 8, 4, 4, 4, 4, 0, 0, 0, 0]


@given(LENGTHS, st.integers(1, 40), SEEDS)
def test_segments_are_sampled_or_shuffled(count, segment, seed):
    positions = np.arange(count)
    assert np.array_equal(sampling(count, segment), positions - positions % segment)
    assert np.array_equal(reverse_sampling(count, segment), sampling(count, segment)[::-1])
    shown = jumble(count, segment, rng(seed))
    assert sorted(shown.tolist()) == positions.tolist()
    assert np.array_equal(shown // segment, positions // segment)
    shown = box_jumble(count, segment, rng(seed)).tolist()
    boxes = [list(range(start, min(start + segment, count))) for start in range(0, count, segment)]
    order = []
    while shown:
        box = next(box for box in boxes if shown[: len(box)] == box)
        order.append(box[0])
        del shown[: len(box)]
    assert sorted(order) == [box[0] for box in boxes]


@given(LENGTHS, st.floats(0.01, 1), SEEDS)
def test_freeze_repeats_kept_frames(count, share, seed):
    shown = freeze(count, share, rng(seed))
    kept = sorted(set(shown.tolist()))
    assert (len(shown), kept[0], len(kept)) == (count, 0, max(1, round(share * count)))
    assert all(shown[frame] == frame for frame in kept)
    assert np.all(np.diff(shown) >= 0)


@pytest.mark.parametrize(
    "shuffle",
    [lambda r: jumble(10, 6, r)[:6], lambda r: jumble(10, 4, r)[[8, 9]] - 8, lambda r: box_jumble(12, 2, r)[::2] // 2],
)
def test_all_orders_are_equally_likely(shuffle):
    size = len(shuffle(rng()))
    counts = np.zeros((size, size))
    for seed in range(3000):
        counts[np.arange(size), shuffle(rng(seed))] += 1
    assert ((counts - 3000 / size) ** 2 / (3000 / size)).sum() < 60  # up to 25 degrees of freedom: p < 1e-4


def test_freeze_keeps_every_later_frame_equally_often():
    counts = np.zeros(20)
    for seed in range(3000):
        counts[np.unique(freeze(20, 0.25, rng(seed)))] += 1
    assert counts[0] == 3000
    expected = 3000 * 4 / 19
    assert (((counts[1:] - expected) ** 2) / expected).sum() < 55


@pytest.mark.parametrize(
    ("name", "level", "golden"), [("jumble", 6, [2, 5, 0, 4, 1, 3]), ("freeze", 0.3, [0, 1, 1, 1, 1, 1])]
)
def test_draws_never_change(name, level, golden):
    assert visual_corruptions()[name].function(6, level, rng_for(0, name, "golden")).tolist() == golden
