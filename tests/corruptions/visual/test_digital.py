"""JPEG against PIL, bit for bit."""

from __future__ import annotations

import io
import math
from itertools import product

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from stressreel.corruptions.visual import digital

QUALITIES = [25, 18, 15, 10, 7]
SIDES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64]


def pil(frame, quality):
    grey = frame.shape[2] == 1
    file = io.BytesIO()
    Image.fromarray(frame[..., 0] if grey else frame).save(file, format="JPEG", quality=quality)
    with Image.open(file) as image:
        return np.asarray(image).reshape(frame.shape)


def smooth(height, width, channels=3, seed=1):
    """A picture with detail of every size."""
    rng = np.random.default_rng(seed)
    layers = [cv2.resize(rng.random((n, n, channels)), (width, height)) for n in (2, 5, 17)]
    return np.clip(sum(layers) * 85, 0, 255).astype(np.uint8).reshape(height, width, channels)


@pytest.mark.parametrize("quality", [*QUALITIES, 1, 50, 95, 100])
@pytest.mark.parametrize("channels", [1, 3])
def test_bit_identical_to_pil_at_every_size(quality, channels):
    rng = np.random.default_rng(0)
    for height, width in product(SIDES, SIDES):
        noise = rng.integers(0, 256, (height, width, channels), dtype=np.uint8)
        for frame in (noise, (noise > 127).astype(np.uint8) * 255, smooth(height, width, channels)):
            got = digital.jpeg(frame, quality)
            assert got.dtype == np.uint8
            assert got.flags.c_contiguous
            assert np.array_equal(got, pil(frame, quality)), frame.shape


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("size", [(240, 320), (241, 319), (360, 640), (1, 1000), (1000, 1)])
def test_bit_identical_to_pil_on_large_frames(quality, size):
    frame = smooth(*size)
    assert np.array_equal(digital.jpeg(frame, quality), pil(frame, quality))


@settings(max_examples=100, deadline=None)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 3])).flatmap(lambda s: arrays(np.uint8, s)),
    st.integers(1, 100),
)
def test_bit_identical_to_pil_on_any_small_frame(frame, quality):
    assert np.array_equal(digital.jpeg(frame, quality), pil(frame, quality))


def test_leaves_the_input():
    frame = smooth(48, 64)
    before = frame.copy()
    frame.flags.writeable = False
    digital.jpeg(frame, 10)
    assert np.array_equal(frame, before)


def test_psnr_falls_with_severity():
    frame = smooth(96, 128)
    errors = [np.mean((frame.astype(float) - digital.jpeg(frame, quality)) ** 2) for quality in QUALITIES]
    quality = [10 * math.log10(255**2 / error) for error in errors]
    assert quality == sorted(quality, reverse=True)
    assert len(set(quality)) == 5
