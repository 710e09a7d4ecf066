import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.numerics import rng_for
from stressreel.corruptions.registry import visual_corruptions
from stressreel.corruptions.visual.temporal import box_jumble, freeze, jumble, reverse_sampling, sampling

LENGTHS = st.integers(1, 400)
SEEDS = st.integers(0, 10**6)


def rng(seed=0):
    return rng_for(seed, "test")


@given(LENGTHS, st.integers(1, 40), SEEDS)
def test_segments_are_sampled_or_shuffled(count, segment, seed):
    positions = np.arange(count)
    assert np.array_equal(sampling(count, segment), positions - positions % segment)
    assert np.array_equal(reverse_sampling(count, segment), sampling(count, segment)[::-1])
    shown = jumble(count, segment, rng(seed))
    assert sorted(shown.tolist()) == positions.tolist()
    assert np.array_equal(shown // segment, positions // segment)
    shown = box_jumble(count, segment, rng(seed))
    boxes = [positions[start : start + segment] for start in shown[shown % segment == 0]]
    assert np.array_equal(np.concatenate(boxes), shown)
    assert sorted(shown.tolist()) == positions.tolist()


@given(LENGTHS, st.floats(0.01, 1), SEEDS)
def test_freeze_repeats_kept_frames(count, share, seed):
    shown = freeze(count, share, rng(seed))
    kept = sorted(set(shown.tolist()))
    assert (len(shown), kept[0], len(kept)) == (count, 0, max(1, round(share * count)))
    assert all(shown[frame] == frame for frame in kept)
    assert np.all(np.diff(shown) >= 0)


def kept_place(r):
    """Return the place of the one frame that is kept beside the first of 20."""
    return np.array([freeze(20, 0.1, r).max() - 1])


@pytest.mark.parametrize(
    ("draw", "size"),
    [
        (lambda r: jumble(10, 6, r)[:6], 6),
        (lambda r: jumble(10, 4, r)[[8, 9]] - 8, 2),
        (lambda r: box_jumble(12, 2, r)[::2] // 2, 6),
        (kept_place, 19),
    ],
)
def test_every_draw_is_equally_likely(draw, size):
    counts = np.zeros((len(draw(rng())), size))
    for seed in range(3000):
        counts[np.arange(len(counts)), draw(rng(seed))] += 1
    assert ((counts - 3000 / size) ** 2 / (3000 / size)).sum() < 60  # up to 25 degrees of freedom: p < 1e-4


@pytest.mark.parametrize(
    ("name", "level", "golden"), [("jumble", 6, [2, 5, 0, 4, 1, 3]), ("freeze", 0.3, [0, 1, 1, 1, 1, 1])]
)
def test_draws_never_change(name, level, golden):
    assert visual_corruptions()[name].function(6, level, rng_for(0, name, "golden")).tolist() == golden
