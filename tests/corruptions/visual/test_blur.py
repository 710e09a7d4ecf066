"""Blurs against direct implementations of their definitions in float64."""

import math
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from stressreel.corruptions.visual import blur

DEFOCUS = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)]
MOTION = [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)]
ZOOM = [(1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)]
SHAPES = [(32, 40, 3), (21, 33, 1), (1, 1, 3), (7, 1, 1), (3, 60, 3)]


def pictures(shape):
    """Noise, hard edges between pixels, hard edges between blocks, and white, where what is too heavy shows."""
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 2, shape).repeat(9, 0).repeat(9, 1)[: shape[0], : shape[1]]
    for frame in (rng.integers(0, 256, shape), rng.integers(0, 2, shape) * 255, blocks * 255, np.full(shape, 255)):
        yield frame.astype(np.uint8)


def disk(radius, sigma):
    reach = max(8, radius)
    x, y = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1))
    kernel = (x**2 + y**2 <= radius**2).astype(np.float64)
    return cv2.GaussianBlur(kernel / kernel.sum(), (5, 5) if radius > 8 else (3, 3), sigma)


def defocus(frame, radius, sigma):
    kernel = disk(radius, sigma)
    reach = len(kernel) // 2
    padded = np.pad(frame.astype(np.float64), ((reach, reach), (reach, reach), (0, 0)), "reflect")
    total = np.zeros(frame.shape)
    for (y, x), weight in np.ndenumerate(kernel):
        total += weight * padded[y : y + frame.shape[0], x : x + frame.shape[1]]
    return total


def motion(frame, radius, sigma, degrees):
    width = 2 * radius + 1
    weights = np.exp(-(np.arange(width) ** 2) / (2 * sigma**2))
    angle = math.radians(degrees)
    point = (width - 1) * math.sin(angle), (width - 1) * math.cos(angle)
    rows, columns = np.arange(frame.shape[0]), np.arange(frame.shape[1])
    total = np.zeros(frame.shape)
    for i, weight in enumerate(weights / weights.sum()):
        dy, dx = (-math.ceil(i * side / math.hypot(*point) - 0.5) for side in point)
        total += weight * frame[(rows - dy).clip(0, len(rows) - 1)][:, (columns - dx).clip(0, len(columns) - 1)]
    return total


def axis(length, zoom):
    """The matrix that crops, enlarges and trims an axis."""
    crop = math.ceil(length / zoom)
    enlarged = round(crop * zoom)
    at = np.linspace(0, crop - 1, enlarged) if enlarged > 1 else np.zeros(1)
    matrix = np.zeros((length, length))
    for row, position in enumerate(at[(enlarged - length) // 2 :][:length]):
        low = math.floor(position)
        for pixel, weight in ((low, 1 - (position - low)), (min(low + 1, crop - 1), position - low)):
            matrix[row, (length - crop) // 2 + pixel] += weight
    return matrix


def zoom(frame, max_zoom, step):
    zooms = np.arange(1, max_zoom, step)
    total = frame.astype(np.float64)
    for factor in zooms:
        rows, columns = axis(frame.shape[0], factor), axis(frame.shape[1], factor)
        total = total + np.einsum("yj,jic,xi->yxc", rows, frame.astype(np.float64), columns, optimize=True)
    return total / (len(zooms) + 1)


def check(function, definition, frame, level, draw=None):
    """Check that a blur is within ±1 of its definition, nearly always equal to it, and does not modify its input.

    `draw` is the random number in [0, 1) that a motion blur draws for its direction.
    """
    frame.flags.writeable = False
    rng = () if draw is None else (SimpleNamespace(random=lambda: draw),)
    degrees = () if draw is None else (90 * draw - 45,)
    blurred = function(frame, *level, *rng)
    assert (blurred.dtype, blurred.shape, blurred.flags.c_contiguous) == (np.uint8, frame.shape, True)
    assert not np.shares_memory(blurred, frame)
    error = np.abs(blurred - np.clip(np.rint(definition(frame, *level, *degrees)), 0, 255))
    assert error.max() <= 1
    assert error.size < 1000 or error.mean() <= 0.05


@pytest.mark.parametrize("severity", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_blurs_equal_their_definitions(shape, severity):
    for frame in pictures(shape):
        check(blur.defocus_blur, defocus, frame, DEFOCUS[severity])
        check(blur.motion_blur, motion, frame, MOTION[severity], 0.3)
        check(blur.zoom_blur, zoom, frame, ZOOM[severity])


@pytest.mark.parametrize("draw", [0, 0.5, 0.5 + 1e-9, 2 / 3, 1 - 2**-53])
def test_every_direction_of_motion(draw):
    for frame in pictures((50, 60, 3)):
        check(blur.motion_blur, motion, frame, MOTION[4], draw)


def test_bands_leave_no_seam(monkeypatch):
    monkeypatch.setattr(blur, "_BAND", 1000)
    for frame in pictures((70, 40, 3)):
        check(blur.defocus_blur, defocus, frame, DEFOCUS[4])
        check(blur.zoom_blur, zoom, frame, ZOOM[4])


def test_defocus_refuses_large_radii():
    with pytest.raises(ValueError, match="21"):
        blur.defocus_blur(np.zeros((4, 4, 3), np.uint8), 21, 0.5)
