"""Turning and moving against their definitions, and the laws of what is drawn."""

import math

import numpy as np
import pytest
from stressreel.corruptions.visual import camera

SHAPES = [(48, 64, 3), (21, 34, 1), (1, 1, 3), (1, 7, 3), (7, 1, 1), (64, 64, 3)]
CHI2_999 = {7: 24.3, 12: 32.9, 39: 72.1, 60: 99.6}  # 99.9% points by degrees of freedom


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


def assert_turned(frame, degrees, turn=camera.static_rotate, *given):
    before = frame.copy()
    frame.flags.writeable = False
    got = turn(frame, *(given or [degrees]))
    assert (got.dtype, got.shape, got.flags.c_contiguous) == (np.uint8, frame.shape, True)
    assert np.abs(got - np.rint(turned(frame, degrees))).max() <= 1
    assert np.array_equal(frame, before)


def assert_uniform(values, low, high):
    assert (values.min(), values.max()) == (low, high)
    counts = np.bincount(values - low)
    expected = counts.sum() / len(counts)
    assert ((counts - expected) ** 2 / expected).sum() < CHI2_999[len(counts) - 1]


@pytest.mark.parametrize("degrees", [7.5, 15, 30, 45, 90])
def test_static_rotate_is_bilinear_interpolation(degrees):
    for shape in SHAPES:
        for frame in pictures(shape):
            assert_turned(frame, degrees)


def test_a_square_by_90_degrees_is_exact_and_counter_clockwise():
    for size in (1, 2, 33, 64):
        for frame in pictures((size, size, 3)):
            assert np.array_equal(camera.static_rotate(frame, 90), np.rot90(frame))


@pytest.mark.parametrize("degrees", [6, 30])
def test_rotation_turns_by_whole_angles_drawn_uniformly(degrees, monkeypatch):
    for seed in range(4):
        angle = int(np.random.default_rng(seed).integers(-degrees, degrees + 1))
        for frame in pictures((33, 21, 3)):
            assert_turned(frame, angle, camera.rotation, degrees, np.random.default_rng(seed))
    drawn, rng = [], np.random.default_rng(0)
    monkeypatch.setattr(camera, "static_rotate", lambda frame, angle: drawn.append(angle) or frame)
    for _ in range(6000):
        camera.rotation(np.zeros((1, 1, 1), np.uint8), degrees, rng)
    assert all(type(angle) is int for angle in drawn)
    assert_uniform(np.array(drawn), -degrees, degrees)


@pytest.mark.parametrize("reach", [8, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_translation_is_the_definition(shape, reach):
    height, width, _ = shape
    for seed in range(4):
        dx, dy = np.random.default_rng(seed).integers(0, reach, 2)
        y, x = np.minimum(np.arange(height) + dy, height - 1), np.minimum(np.arange(width) + dx, width - 1)
        for frame in pictures(shape):
            got = camera.translation(frame, reach, np.random.default_rng(seed))
            assert np.array_equal(got, frame[y][:, x])
            assert got.flags.c_contiguous
            assert not np.shares_memory(got, frame)


@pytest.mark.parametrize("reach", [8, 40])
def test_offsets_are_uniform_independent_and_below_the_reach(reach):
    y, x = np.mgrid[:50, :50]
    frame, rng = np.stack([x, y, 0 * x], -1).astype(np.uint8), np.random.default_rng(0)
    dx, dy = np.array([camera.translation(frame, reach, rng)[0, 0, :2] for _ in range(6000)], int).T
    assert_uniform(dx, 0, reach - 1)
    assert_uniform(dy, 0, reach - 1)
    assert abs(np.corrcoef(dx, dy)[0, 1]) < 0.05
