"""Perturbations of single frames against direct implementations of their definitions in float64."""

import io
import math
from itertools import product
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from PIL import Image
from stressreel.corruptions.registry import visual_corruptions
from stressreel.corruptions.visual import blur, digital

SHAPES = [(32, 40, 3), (21, 33, 1), (33, 33, 3), (1, 1, 3), (7, 1, 1), (3, 60, 3)]


def pictures(shape):
    """Noise, hard edges between pixels, hard edges between blocks, and white, where what is too heavy shows."""
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 2, shape).repeat(9, 0).repeat(9, 1)[: shape[0], : shape[1]]
    for frame in (rng.integers(0, 256, shape), rng.integers(0, 2, shape) * 255, blocks * 255, np.full(shape, 255)):
        yield frame.astype(np.uint8)


def defocus(frame, radius, sigma):
    reach = max(8, radius)
    x, y = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1))
    disk = (x**2 + y**2 <= radius**2).astype(np.float64)
    kernel = cv2.GaussianBlur(disk / disk.sum(), (5, 5) if radius > 8 else (3, 3), sigma)
    padded = np.pad(frame.astype(np.float64), ((reach, reach), (reach, reach), (0, 0)), "reflect")
    total = np.zeros(frame.shape)
    for (y, x), weight in np.ndenumerate(kernel):
        total += weight * padded[y : y + frame.shape[0], x : x + frame.shape[1]]
    return total


def motion(frame, radius, sigma, rng):
    width = 2 * radius + 1
    weights = np.exp(-(np.arange(width) ** 2) / (2 * sigma**2))
    angle = math.radians(90 * rng.random() - 45)
    point = (width - 1) * math.sin(angle), (width - 1) * math.cos(angle)
    rows, columns = np.arange(frame.shape[0]), np.arange(frame.shape[1])
    total = np.zeros(frame.shape)
    for i, weight in enumerate(weights / weights.sum()):
        dy, dx = (-math.ceil(i * side / math.hypot(*point) - 0.5) for side in point)
        total += weight * frame[(rows - dy).clip(0, len(rows) - 1)][:, (columns - dx).clip(0, len(columns) - 1)]
    return total


def zoomed(length, factor):
    """Return the matrix that crops, enlarges and trims an axis."""
    crop = math.ceil(length / factor)
    enlarged = round(crop * factor)
    at = np.linspace(0, crop - 1, enlarged) if enlarged > 1 else np.zeros(1)
    matrix = np.zeros((length, length))
    for row, position in enumerate(at[(enlarged - length) // 2 :][:length]):
        low = math.floor(position)
        for pixel, weight in ((low, 1 - (position - low)), (min(low + 1, crop - 1), position - low)):
            matrix[row, (length - crop) // 2 + pixel] += weight
    return matrix


def zoom(frame, max_zoom, step):
    copies = [frame.astype(np.float64)]
    for factor in np.arange(1, max_zoom, step):
        rows, columns = (zoomed(length, factor) for length in frame.shape[:2])
        copies.append(np.einsum("yj,jic,xi->yxc", rows, copies[0], columns, optimize=True))
    return sum(copies) / len(copies)


def turned(frame, degrees):
    """Interpolate bilinearly, with black outside."""
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


def moved(frame, reach, rng):
    dx, dy = rng.integers(0, reach, 2)
    rows, columns = (np.arange(length) for length in frame.shape[:2])
    return frame[np.minimum(rows + dy, len(rows) - 1)][:, np.minimum(columns + dx, len(columns) - 1)]


DEFINITIONS = {
    "defocus_blur": defocus,
    "motion_blur": motion,
    "zoom_blur": zoom,
    "static_rotate": turned,
    "rotation": lambda frame, degrees, rng: turned(frame, int(rng.integers(-degrees, degrees + 1))),
    "translation": moved,
}


def check(name, level, frame, make_rng):
    """Check that a result is within ±1 of its definition, nearly always equal to it, and apart from the frame."""
    corruption = visual_corruptions()[name]
    frame.flags.writeable = False
    got = corruption.function(frame, *level, *([make_rng()] if corruption.random else []))
    expected = DEFINITIONS[name](frame, *level, *([make_rng()] if corruption.random else []))
    assert (got.dtype, got.shape, got.flags.c_contiguous) == (np.uint8, frame.shape, True)
    assert not np.shares_memory(got, frame)
    error = np.abs(got - np.clip(np.rint(expected), 0, 255))
    lossless = name == "translation" or (name == "static_rotate" and level == (90,) and frame.shape[:2] == (33, 33))
    assert error.max() <= (not lossless)
    assert error.size < 1000 or error.mean() <= 0.05


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_result_equals_its_definition(name, shape):
    for seed, level in enumerate(visual_corruptions()[name].levels):
        for frame in pictures(shape):
            check(name, level, frame, lambda seed=seed: np.random.default_rng(seed))


@pytest.mark.parametrize("draw", [0, 0.5, 0.5 + 1e-9, 2 / 3, 1 - 2**-53])
def test_motion_goes_in_every_direction(draw):
    for frame in pictures((50, 60, 3)):
        check("motion_blur", (20, 15), frame, lambda: SimpleNamespace(random=lambda: draw))


def test_bands_leave_no_seam(monkeypatch):
    monkeypatch.setattr(blur, "_BAND", 1000)
    for frame in pictures((70, 40, 3)):
        check("defocus_blur", (10, 0.5), frame, None)
        check("zoom_blur", (1.31, 0.03), frame, None)


def test_defocus_refuses_large_radii():
    with pytest.raises(ValueError, match="21"):
        blur.defocus_blur(np.zeros((4, 4, 3), np.uint8), 21, 0.5)


def pil(frame, quality):
    file = io.BytesIO()
    Image.fromarray(frame[..., 0] if frame.shape[2] == 1 else frame).save(file, format="JPEG", quality=quality)
    with Image.open(file) as image:
        return np.asarray(image).reshape(frame.shape)


@pytest.mark.parametrize("quality", [25, 18, 15, 10, 7, 1, 50, 100])
def test_jpeg_is_bit_identical_to_pil(quality):
    sides = [1, 2, 7, 8, 9, 16, 17, 33]
    for height, width in [*product(sides, sides), (241, 319), (1, 1000), (1000, 1)]:
        smooth = sum(cv2.resize(np.random.default_rng(n).random((n, n, 3)), (width, height)) for n in (2, 5, 17)) * 85
        for frame in (*pictures((height, width, 3)), smooth.astype(np.uint8).reshape(height, width, 3)):
            for channels in (frame, np.ascontiguousarray(frame[..., :1])):
                assert np.array_equal(digital.jpeg(channels, quality), pil(channels, quality)), channels.shape
