"""Rotate or shift single frames at constant size, as by a moving camera.

Source: Schiappa et al. 2022 (arXiv 2207.02159). The paper states no levels; these are those of the released code.
Frames are (H, W, C) uint8, C = 1 or 3, of any size, and are never modified.

Rotated frames are within ±1 of bilinear interpolation in float64. This requires OpenCV 5: up to 4.14, `warpAffine`
rounds sampling positions to 1/32 of a pixel, an error of eight levels at a hard edge.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""


def static_rotate(frame: Frame, degrees: float) -> Frame:
    """Rotate the frame about its centre, by the same angle for every frame of a clip.

    Sampling is bilinear about the centre ((W - 1) / 2, (H - 1) / 2). Everything outside the frame is black, and is
    interpolated with the frame's edge.

    Args:
        frame: (H, W, C) uint8; not modified.
        degrees: Counter-clockwise angle; 7.5 15 30 45 90 in the released code. Rotating a square by 90 is lossless.

    Returns:
        A new (H, W, C) uint8 frame, with black corners and exact interpolation, unlike the released code's.
    """
    height, width, channels = frame.shape
    x, y = (width - 1) / 2, (height - 1) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    matrix = np.array([[cos, -sin, x - cos * x + sin * y], [sin, cos, y - sin * x - cos * y]])
    wide = frame if channels == 1 else cv2.cvtColor(frame, cv2.COLOR_RGB2RGBA)  # sampling four channels is faster
    turned = cv2.warpAffine(wide, matrix, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    turned = turned if channels == 1 else cv2.cvtColor(turned, cv2.COLOR_RGBA2RGB)
    return np.asarray(turned, np.uint8).reshape(frame.shape)


def rotation(frame: Frame, degrees: int, rng: np.random.Generator) -> Frame:
    """Rotate each frame by a new random angle; see `static_rotate`.

    Args:
        frame: (H, W, C) uint8; not modified.
        degrees: Maximum angle; angles are integers from -degrees to degrees. 6 12 18 24 30 in the released code.
        rng: Random generator; one number is used.
    """
    return static_rotate(frame, int(rng.integers(-degrees, degrees, endpoint=True)))


def translation(frame: Frame, reach: int, rng: np.random.Generator) -> Frame:
    """Shift the frame up and left like camera shake: out[y, x] = frame[min(y + dy, H - 1), min(x + dx, W - 1)].

    Args:
        frame: (H, W, C) uint8; not modified.
        reach: Exclusive maximum of dx and dy, which are integers; 8 16 24 32 40 in the released code.
        rng: Random generator; two numbers are used, dx first.

    Returns:
        A new (H, W, C) uint8 frame of the same size, with repeated edge pixels and without resampling. The released
        code instead scales the short side to 256 pixels and crops 224 x 224.
    """
    height, width, _ = frame.shape
    dx, dy = (int(number) for number in rng.integers(0, reach, 2))
    dx, dy = min(dx, width - 1), min(dy, height - 1)
    moved = cv2.copyMakeBorder(frame[dy:, dx:], 0, dy, 0, dx, cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.uint8).reshape(frame.shape)
