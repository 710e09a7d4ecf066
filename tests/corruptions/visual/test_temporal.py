from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.seeds import rng_for
from stressreel.corruptions.registry import visual_corruptions
from stressreel.corruptions.visual.temporal import box_jumble, freeze, jumble, reverse_sampling, sampling

LENGTHS = st.integers(1, 400)
SEEDS = st.integers(0, 10**6)


def rng(seed: int = 0) -> np.random.Generator:
    return rng_for(seed, "test")


def test_sampling_by_hand() -> None:
    assert sampling(10, 4).tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]
    assert reverse_sampling(10, 4).tolist() == [8, 8, 4, 4, 4, 4, 0, 0, 0, 0]


@given(LENGTHS, st.integers(1, 40))
def test_sampling_keeps_every_rate_th_frame(count: int, rate: int) -> None:
    shown = sampling(count, rate)
    assert sorted(set(shown.tolist())) == list(range(0, count, rate))
    assert all(0 <= position - frame < rate for position, frame in enumerate(shown))
    assert reverse_sampling(count, rate).tolist() == shown[::-1].tolist()


@given(LENGTHS, st.integers(1, 40), SEEDS)
def test_jumble_stays_inside_segments(count: int, segment: int, seed: int) -> None:
    shown = jumble(count, segment, rng(seed))
    assert sorted(shown.tolist()) == list(range(count))
    assert all(position // segment == frame // segment for position, frame in enumerate(shown))


def test_jumble_shuffles_a_shorter_last_segment_too() -> None:
    tails = {tuple(jumble(11, 4, rng(seed))[8:].tolist()) for seed in range(60)}
    assert len(tails) == 6


@given(LENGTHS, st.integers(1, 40), SEEDS)
def test_box_jumble_keeps_segments_whole(count: int, segment: int, seed: int) -> None:
    shown = box_jumble(count, segment, rng(seed)).tolist()
    boxes = [list(range(start, min(start + segment, count))) for start in range(0, count, segment)]
    found = []
    while shown:
        box = next(box for box in boxes if shown[: len(box)] == box)
        found.append(box[0])
        del shown[: len(box)]
    assert sorted(found) == [box[0] for box in boxes]


@given(LENGTHS, st.floats(0.01, 1), SEEDS)
def test_freeze_holds_random_frames(count: int, share: float, seed: int) -> None:
    shown = freeze(count, share, rng(seed))
    kept = sorted(set(shown.tolist()))
    assert len(shown) == count
    assert kept[0] == 0
    assert len(kept) == max(1, round(share * count))
    assert all(shown[frame] == frame for frame in kept)
    assert np.all(np.diff(shown) >= 0)


@pytest.mark.parametrize("shuffle", [lambda r: jumble(6, 6, r), lambda r: box_jumble(12, 2, r)[::2] // 2])
def test_all_orders_are_equally_likely(shuffle: Callable[[np.random.Generator], np.ndarray]) -> None:
    draws = 36_000
    first = np.zeros((6, 6))
    for seed in range(draws):
        first[np.arange(6), shuffle(rng(seed))] += 1
    expected = draws / 6
    chi_square = ((first - expected) ** 2 / expected).sum()
    assert chi_square < 60  # 25 degrees of freedom: p < 1e-4


def test_freeze_keeps_every_later_frame_equally_often() -> None:
    counts = np.zeros(20)
    for seed in range(10_000):
        counts[np.unique(freeze(20, 0.25, rng(seed)))] += 1
    assert counts[0] == 10_000
    expected = 10_000 * 4 / 19
    assert (((counts[1:] - expected) ** 2) / expected).sum() < 55


@pytest.mark.parametrize("name", ["sampling", "reverse_sampling", "jumble", "box_jumble", "freeze"])
@pytest.mark.parametrize("count", [1, 2, 3, 31])
def test_short_clips(name: str, count: int) -> None:
    corruption = visual_corruptions()[name]
    for level in corruption.levels:
        shown = corruption.function(count, *level, *([rng()] if corruption.random else []))
        assert shown.dtype == np.int64
        assert shown.shape == (count,)
        assert shown.min() >= 0
        assert shown.max() < count


@pytest.mark.parametrize("name", ["sampling", "freeze"])
def test_displacement_grows_with_severity(name: str) -> None:
    corruption = visual_corruptions()[name]
    moved = []
    for level in corruption.levels:
        shown = corruption.function(600, *level, *([rng()] if corruption.random else []))
        moved.append(np.abs(shown - np.arange(600)).mean())
    assert moved == sorted(moved)
    assert moved[0] < moved[-1] / 4


@pytest.mark.parametrize(("name", "golden"), [("jumble", [2, 5, 0, 4, 1, 3]), ("freeze", [0, 1, 1, 1, 1, 1])])
def test_draws_are_frozen(name: str, golden: list[int]) -> None:
    function = visual_corruptions()[name].function
    argument = {"jumble": 6, "freeze": 0.3}[name]
    assert function(6, argument, rng_for(0, name, "golden")).tolist() == golden
