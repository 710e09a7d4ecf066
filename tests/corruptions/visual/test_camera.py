"""Rotation and translation against their definitions."""

import math

import numpy as np
import pytest
from stressreel.corruptions.visual import camera

SHAPES = [(48, 64, 3), (21, 34, 1), (1, 1, 3), (1, 7, 3), (7, 1, 1), (64, 64, 3), (33, 33, 3)]


def pictures(shape):
    rng = np.random.default_rng(0)
    for frame in (rng.integers(0, 256, shape), rng.integers(0, 2, shape) * 255, np.full(shape, 255)):
        yield frame.astype(np.uint8)


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


def assert_turned(rotated, frame, degrees):
    assert (rotated.dtype, rotated.shape, rotated.flags.c_contiguous) == (np.uint8, frame.shape, True)
    assert not np.shares_memory(rotated, frame)
    assert np.abs(rotated - np.rint(turned(frame, degrees))).max() <= 1


@pytest.mark.parametrize("degrees", [7.5, 15, 30, 45, 90])
@pytest.mark.parametrize("shape", SHAPES)
def test_static_rotate_is_bilinear_interpolation(shape, degrees):
    for frame in pictures(shape):
        assert_turned(camera.static_rotate(frame, degrees), frame, degrees)
        if degrees == 90 and shape[0] == shape[1]:
            assert np.array_equal(camera.static_rotate(frame, 90), np.rot90(frame))  # lossless, counter-clockwise


@pytest.mark.parametrize("degrees", [6, 30])
def test_rotation_draws_a_whole_angle(degrees):
    for seed in range(8):
        angle = int(np.random.default_rng(seed).integers(-degrees, degrees + 1))
        for frame in pictures((33, 21, 3)):
            assert_turned(camera.rotation(frame, degrees, np.random.default_rng(seed)), frame, angle)


@pytest.mark.parametrize("reach", [8, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_translation_equals_its_definition(shape, reach):
    height, width, _ = shape
    for seed in range(8):
        dx, dy = np.random.default_rng(seed).integers(0, reach, 2)
        y, x = np.minimum(np.arange(height) + dy, height - 1), np.minimum(np.arange(width) + dx, width - 1)
        for frame in pictures(shape):
            moved = camera.translation(frame, reach, np.random.default_rng(seed))
            assert np.array_equal(moved, frame[y][:, x])
            assert moved.flags.c_contiguous
            assert not np.shares_memory(moved, frame)
