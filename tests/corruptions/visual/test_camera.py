"""Turning and moving against their definitions, and the laws of what is drawn."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from stressreel.corruptions.visual import camera

SHAPES = [(48, 64, 3), (33, 21, 3), (21, 34, 1), (2, 2, 3), (1, 1, 3), (1, 1, 1), (1, 7, 3), (7, 1, 1), (64, 64, 3)]
CHI2_999 = {6: 22.5, 7: 24.3, 12: 32.9, 39: 72.1, 60: 99.6}  # 99.9 % points by degrees of freedom


def pictures(shape):
    rng = np.random.default_rng(0)
    yield rng.integers(0, 256, shape, dtype=np.uint8)
    yield (rng.integers(0, 2, shape) * 255).astype(np.uint8)
    yield np.full(shape, 255, np.uint8)


def turned(frame, degrees):
    """Bilinear interpolation in float64, black outside."""
    height, width, _ = frame.shape
    y, x = np.mgrid[:height, :width] - np.array([(height - 1) / 2, (width - 1) / 2])[:, None, None]
    cos, sin = (0, 1) if degrees == 90 else (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
    u, v = cos * x - sin * y + (width - 1) / 2, sin * x + cos * y + (height - 1) / 2
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    total = np.zeros(frame.shape)
    for row, down in ((top, 1 - (v - top)), (top + 1, v - top)):
        for column, across in ((left, 1 - (u - left)), (left + 1, u - left)):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            pixels = frame[row.clip(0, height - 1), column.clip(0, width - 1)]
            total += (down * across * inside)[..., None] * pixels
    return total


def near(frame, got, wanted):
    assert got.dtype == np.uint8
    assert got.shape == frame.shape
    assert got.flags.c_contiguous
    assert np.abs(got - np.rint(wanted)).max() <= 1
    return True


def ramp(height, width):
    """A frame in which each pixel's place can be read from its value."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x, y, 0 * x], -1).astype(np.uint8)


def even(counts):
    """Whether counts may come from the uniform law."""
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum() < CHI2_999[len(counts) - 1]


class TestStaticRotate:
    @pytest.mark.parametrize("degrees", [7.5, 15, 30, 45, 90])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_is_bilinear_interpolation(self, shape, degrees):
        assert all(near(f, camera.static_rotate(f, degrees), turned(f, degrees)) for f in pictures(shape))

    def test_a_square_by_90_degrees_is_exact_and_counter_clockwise(self):
        for size in (1, 2, 33, 64):
            for frame in pictures((size, size, 3)):
                assert np.array_equal(camera.static_rotate(frame, 90), np.rot90(frame))

    def test_no_turn_is_the_frame(self):
        assert all(np.array_equal(camera.static_rotate(f, 0), f) for f in pictures((31, 20, 3)))

    def test_corners_are_black_and_nothing_grows(self):
        white = np.full((60, 80, 3), 255, np.uint8)
        black = [np.mean(camera.static_rotate(white, degrees) == 0) for degrees in (7.5, 15, 30)]
        assert all(a < b for a, b in pairwise([0, *black]))
        assert not camera.static_rotate(white, 30)[0, 0].any()

    def test_precise_at_the_far_edge_of_4k(self):
        frame = (np.random.default_rng(0).integers(0, 2, (40, 3840, 1)) * 255).astype(np.uint8)
        assert near(frame, camera.static_rotate(frame, 0.5), turned(frame, 0.5))
        tall = np.ascontiguousarray(frame.transpose(1, 0, 2))
        assert near(tall, camera.static_rotate(tall, 0.5), turned(tall, 0.5))


class TestRotation:
    @pytest.mark.parametrize("degrees", [6, 12, 18, 24, 30])
    @pytest.mark.parametrize("shape", [(48, 64, 3), (33, 21, 1)])
    def test_is_bilinear_interpolation_at_the_angle_drawn(self, shape, degrees):
        for seed in range(8):
            angle = int(np.random.default_rng(seed).integers(-degrees, degrees + 1))
            for frame in pictures(shape):
                got = camera.rotation(frame, degrees, np.random.default_rng(seed))
                assert near(frame, got, turned(frame, angle))

    @pytest.mark.parametrize("degrees", [6, 30])
    def test_angles_are_whole_uniform_and_reach_both_ends(self, degrees, monkeypatch):
        drawn = []
        monkeypatch.setattr(camera, "static_rotate", lambda frame, angle: drawn.append(angle) or frame)
        rng = np.random.default_rng(0)
        for _ in range(6000):
            camera.rotation(np.zeros((1, 1, 1), np.uint8), degrees, rng)
        values, counts = np.unique(drawn, return_counts=True)
        assert all(type(angle) is int for angle in drawn)
        assert values.tolist() == list(range(-degrees, degrees + 1))
        assert even(counts)


class TestTranslation:
    @pytest.mark.parametrize("reach", [8, 16, 24, 32, 40])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_is_the_definition(self, shape, reach):
        height, width, _ = shape
        for seed in range(10):
            dx, dy = np.random.default_rng(seed).integers(0, reach, 2)
            y, x = np.minimum(np.arange(height) + dy, height - 1), np.minimum(np.arange(width) + dx, width - 1)
            for frame in pictures(shape):
                got = camera.translation(frame, reach, np.random.default_rng(seed))
                assert np.array_equal(got, frame[y][:, x])
                assert got.flags.c_contiguous
                assert not np.shares_memory(got, frame)

    @pytest.mark.parametrize("reach", [8, 40])
    def test_offsets_are_uniform_independent_and_below_the_reach(self, reach):
        frame, rng = ramp(50, 50), np.random.default_rng(0)
        dx, dy = np.array([camera.translation(frame, reach, rng)[0, 0, :2] for _ in range(6000)]).T
        assert dx.min() == dy.min() == 0
        assert dx.max() == dy.max() == reach - 1
        assert even(np.bincount(dx, minlength=reach))
        assert even(np.bincount(dy, minlength=reach))
        assert abs(np.corrcoef(dx, dy)[0, 1]) < 0.05


CALLS = {
    "static_rotate": lambda frame: camera.static_rotate(frame, 15),
    "rotation": lambda frame: camera.rotation(frame, 30, np.random.default_rng(3)),
    "translation": lambda frame: camera.translation(frame, 40, np.random.default_rng(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_leaves_the_input_and_gives_the_same_again(name):
    for frame in pictures((48, 64, 3)):
        before = frame.copy()
        frame.flags.writeable = False
        first = CALLS[name](frame)
        assert np.array_equal(frame, before)
        assert np.array_equal(CALLS[name](frame), first)


@pytest.mark.parametrize("name", ["rotation", "translation"])
def test_is_drawn_anew_each_time(name):
    frame, rng = ramp(60, 80), np.random.default_rng(0)
    moved = [getattr(camera, name)(frame, 30, rng) for _ in range(4)]
    assert len({array.tobytes() for array in moved}) > 2


shapes = st.tuples(st.integers(1, 20), st.integers(1, 20), st.sampled_from([1, 3]))
frames = shapes.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.sampled_from([0, 255, 1, 128])))


@settings(max_examples=150, deadline=None)
@given(frames, st.floats(-180, 180))
def test_any_small_frame_and_angle(frame, degrees):
    assert near(frame, camera.static_rotate(frame, degrees), turned(frame, degrees))
