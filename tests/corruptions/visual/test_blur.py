"""The blurs against their definitions in float64, written down once more and slowly."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from stressreel.corruptions.visual import blur

DEFOCUS = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)]
MOTION = [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)]
ZOOM = [(1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)]
SHAPES = [(48, 64, 3), (33, 21, 3), (21, 33, 1), (2, 2, 3), (1, 1, 3), (1, 1, 1), (1, 7, 3), (7, 1, 1), (3, 60, 3)]


def pictures(shape):
    """Noise, hard edges between pixels, hard edges between blocks, and white, where what is too heavy shows."""
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 2, shape).repeat(9, 0).repeat(9, 1)[: shape[0], : shape[1]]
    yield rng.integers(0, 256, shape, dtype=np.uint8)
    yield (rng.integers(0, 2, shape) * 255).astype(np.uint8)
    yield (blocks * 255).astype(np.uint8)
    yield np.full(shape, 255, np.uint8)


def near(frame, got, wanted):
    """Within ±1 of the definition rounded, nearly always equal to it, of the frame's kind."""
    assert got.dtype == np.uint8
    assert got.shape == frame.shape
    assert got.flags.c_contiguous
    error = np.abs(got - np.clip(np.rint(wanted), 0, 255))
    assert error.max() <= 1
    assert error.size < 1000 or error.mean() <= 0.05
    return True


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
    weights /= weights.sum()
    angle = math.radians(degrees)
    point = (width - 1) * math.sin(angle), (width - 1) * math.cos(angle)
    hypot = math.hypot(*point)
    rows, columns = np.arange(frame.shape[0]), np.arange(frame.shape[1])
    total = np.zeros(frame.shape)
    for i, weight in enumerate(weights):
        dy, dx = (-math.ceil(i * side / hypot - 0.5) for side in point)
        total += weight * frame[(rows - dy).clip(0, len(rows) - 1)][:, (columns - dx).clip(0, len(columns) - 1)]
    return total


def angle_of(seed):
    return 90 * np.random.default_rng(seed).random() - 45


def axis(length, zoom):
    """The matrix that crops, enlarges and trims an axis."""
    crop = math.ceil(length / zoom)
    enlarged = round(crop * zoom)
    at = np.linspace(0, crop - 1, enlarged) if enlarged > 1 else np.zeros(1)
    matrix = np.zeros((length, length))
    for row, place in enumerate(at[(enlarged - length) // 2 :][:length]):
        low = math.floor(place)
        for pixel, weight in ((low, 1 - (place - low)), (min(low + 1, crop - 1), place - low)):
            matrix[row, (length - crop) // 2 + pixel] += weight
    return matrix


def zoom(frame, max_zoom, step):
    zooms = np.arange(1, max_zoom, step)
    total = frame.astype(np.float64)
    for factor in zooms:
        rows, columns = axis(frame.shape[0], factor), axis(frame.shape[1], factor)
        total = total + np.einsum("yj,jic,xi->yxc", rows, frame.astype(np.float64), columns, optimize=True)
    return total / (len(zooms) + 1)


def smooth(height=96, width=128):
    """A picture with detail of every size."""
    rng = np.random.default_rng(1)
    total = sum(cv2.resize(rng.random((n, n, 3)), (width, height), interpolation=cv2.INTER_CUBIC) for n in (4, 12, 40))
    return np.clip(total * 85, 0, 255).astype(np.uint8)


def psnr(frame, other):
    return 10 * math.log10(255**2 / np.mean((frame.astype(float) - other) ** 2))


class TestDefocusBlur:
    @pytest.mark.parametrize("level", DEFOCUS)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_is_the_definition(self, shape, level):
        assert all(near(f, blur.defocus_blur(f, *level), defocus(f, *level)) for f in pictures(shape))

    @pytest.mark.parametrize("level", DEFOCUS[:3])
    def test_below_the_window_nothing_is_approximate(self, level):
        for frame in pictures((60, 50, 3)):
            assert np.mean(blur.defocus_blur(frame, *level) != np.rint(defocus(frame, *level)).clip(0, 255)) < 1e-3

    def test_bands_leave_no_seam(self, monkeypatch):
        frames = list(pictures((70, 40, 3)))
        whole = [blur.defocus_blur(f, 10, 0.5) for f in frames]
        monkeypatch.setattr(blur, "_BAND", 1000)
        assert all(np.array_equal(blur.defocus_blur(f, 10, 0.5), w) for f, w in zip(frames, whole, strict=True))

    @pytest.mark.parametrize(("radius", "total"), [(6, 1.0), (8, 1.013), (10, 1.011)])
    def test_hendrycks_kernel_brightens_from_radius_8_on(self, radius, total):
        grey = np.full((40, 40, 1), 200, np.uint8)
        assert disk(radius, 0.5).sum() == pytest.approx(total, abs=5e-4)
        assert blur.defocus_blur(grey, radius, 0.5)[20, 20, 0] == round(200 * total)

    @pytest.mark.parametrize("radius", [1, 2, 5, 9, 12, 20])
    @pytest.mark.parametrize("sigma", [0.1, 0.5])
    def test_other_radii(self, radius, sigma):
        assert all(
            near(f, blur.defocus_blur(f, radius, sigma), defocus(f, radius, sigma)) for f in pictures((45, 50, 1))
        )

    @pytest.mark.parametrize("radius", [0, -3, 21])
    def test_refuses_radii_it_has_no_room_for(self, radius):
        with pytest.raises(ValueError, match=f"1 to 20 pixels; got {radius}"):
            blur.defocus_blur(np.zeros((4, 4, 3), np.uint8), radius, 0.5)


class TestMotionBlur:
    @pytest.mark.parametrize("level", MOTION)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_is_the_definition(self, shape, level):
        for seed in range(5):
            for frame in pictures(shape):
                got = blur.motion_blur(frame, *level, np.random.default_rng(seed))
                assert near(frame, got, motion(frame, *level, angle_of(seed)))

    @pytest.mark.parametrize("level", MOTION)
    @pytest.mark.parametrize("draw", [0, 1 / 3, 0.5, 0.5 + 1e-9, 2 / 3, 1 - 2**-53])
    def test_at_the_ends_and_the_middle_of_the_range(self, draw, level):
        class Fixed:
            def random(self):
                return draw

        for frame in pictures((50, 60, 3)):
            assert near(frame, blur.motion_blur(frame, *level, Fixed()), motion(frame, *level, 90 * draw - 45))

    def test_the_direction_is_drawn_anew(self):
        frame, rng = smooth(), np.random.default_rng(0)
        blurred = [blur.motion_blur(frame, 20, 15, rng) for _ in range(3)]
        assert not np.array_equal(blurred[0], blurred[1])
        assert not np.array_equal(blurred[1], blurred[2])

    def test_trails_go_left_and_no_steeper_than_45_degrees(self):
        point = np.zeros((101, 101, 1), np.uint8)
        point[50, 50] = 255
        rng = np.random.default_rng(0)
        ends = []
        for _ in range(200):
            y, x, _ = np.nonzero(blur.motion_blur(point, 15, 12, rng))
            assert x.max() == 50
            y, x = y[x.argmin()] - 50, 50 - x.min()
            assert abs(y) <= x + 1
            ends.append(math.degrees(math.atan2(y, x)))
        assert np.histogram(ends, 4, (-46, 46))[0].min() > 30


class TestZoomBlur:
    @pytest.mark.parametrize("level", ZOOM)
    @pytest.mark.parametrize("shape", [*SHAPES, (65, 97, 3)])
    def test_is_the_definition(self, shape, level):
        assert all(near(f, blur.zoom_blur(f, *level), zoom(f, *level)) for f in pictures(shape))

    def test_bands_leave_no_seam(self, monkeypatch):
        frames = list(pictures((70, 40, 3)))
        monkeypatch.setattr(blur, "_BAND", 1000)
        assert all(near(f, blur.zoom_blur(f, 1.31, 0.03), zoom(f, 1.31, 0.03)) for f in frames)

    def test_copies_at_the_paper_s_levels(self):
        assert [len(np.arange(1, *level)) for level in ZOOM] == [12, 16, 11, 13, 11]

    def test_the_centre_stays(self):
        frame = np.zeros((61, 81, 3), np.uint8)
        frame[25:36, 35:46] = 255
        assert (blur.zoom_blur(frame, 1.31, 0.03)[28:33, 38:43] == 255).all()


CALLS = {
    "defocus": (DEFOCUS, lambda frame, level: blur.defocus_blur(frame, *level)),
    "motion": (MOTION, lambda frame, level: blur.motion_blur(frame, *level, np.random.default_rng(7))),
    "zoom": (ZOOM, lambda frame, level: blur.zoom_blur(frame, *level)),
}


@pytest.mark.parametrize("name", CALLS)
class TestEveryBlur:
    def test_leaves_the_input_and_gives_the_same_again(self, name):
        levels, call = CALLS[name]
        for level in levels:
            frame = smooth()
            before = frame.copy()
            frame.flags.writeable = False
            first = call(frame, level)
            assert np.array_equal(frame, before)
            assert not np.shares_memory(first, frame)
            assert np.array_equal(call(frame, level), first)

    def test_psnr_falls_with_severity(self, name):
        levels, call = CALLS[name]
        frame = smooth()
        quality = [psnr(frame, call(frame, level)) for level in levels]
        assert quality == sorted(quality, reverse=True)
        assert len(set(quality)) == 5

    def test_black_stays_black(self, name):
        levels, call = CALLS[name]
        assert not any(call(np.zeros((30, 40, 3), np.uint8), level).any() for level in levels)


shapes = st.tuples(st.integers(1, 24), st.integers(1, 24), st.sampled_from([1, 3]))
frames = shapes.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.sampled_from([0, 255, 1, 128])))


@settings(max_examples=60, deadline=None)
@given(frames, st.integers(0, 4), st.integers(0, 99))
def test_any_small_frame(frame, severity, seed):
    assert near(frame, blur.defocus_blur(frame, *DEFOCUS[severity]), defocus(frame, *DEFOCUS[severity]))
    assert near(frame, blur.zoom_blur(frame, *ZOOM[severity]), zoom(frame, *ZOOM[severity]))
    got = blur.motion_blur(frame, *MOTION[severity], np.random.default_rng(seed))
    assert near(frame, got, motion(frame, *MOTION[severity], angle_of(seed)))
