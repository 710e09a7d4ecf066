import io
from itertools import product

import cv2
import numpy as np
import pytest
from PIL import Image
from stressreel.corruptions.visual import digital

SIDES = [1, 2, 7, 8, 9, 16, 17, 33]


def pil(frame, quality):
    grey = frame.shape[2] == 1
    file = io.BytesIO()
    Image.fromarray(frame[..., 0] if grey else frame).save(file, format="JPEG", quality=quality)
    with Image.open(file) as image:
        return np.asarray(image).reshape(frame.shape)


def smooth(height, width, channels=3):
    """A picture with detail of every size."""
    rng = np.random.default_rng(1)
    layers = [cv2.resize(rng.random((n, n, channels)), (width, height)) for n in (2, 5, 17)]
    return np.clip(sum(layers) * 85, 0, 255).astype(np.uint8).reshape(height, width, channels)


@pytest.mark.parametrize("quality", [25, 18, 15, 10, 7, 1, 50, 100])
@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_is_bit_identical_to_pil(quality, channels):
    rng = np.random.default_rng(0)
    for height, width in [*product(SIDES, SIDES), (241, 319), (1, 1000), (1000, 1)]:
        noise = rng.integers(0, 256, (height, width, channels), dtype=np.uint8)
        for frame in (noise, (noise > 127).astype(np.uint8) * 255, smooth(height, width, channels)):
            frame.flags.writeable = False
            got = digital.jpeg(frame, quality)
            assert (got.dtype, got.flags.c_contiguous) == (np.uint8, True)
            assert np.array_equal(got, pil(frame, quality)), frame.shape
