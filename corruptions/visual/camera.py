"""Rotate or shift individual frames as a moving camera would, keeping their size.

Source: Schiappa et al. 2022 (arXiv 2207.02159). The paper does not state the levels, so those of the released code are
used. Frames are uint8 arrays of shape (H, W, C) with C = 1 or 3, of any size, and are never modified.

Rotated frames are within ±1 of bilinear interpolation in float64. This requires OpenCV 5: up to 4.14, `warpAffine`
rounds sampling positions to 1/32 of a pixel, an error of eight levels at a hard edge.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from . import Frame


def static_rotate(frame: Frame, degrees: float) -> Frame:
    """Rotate a frame about its centre, by the same angle for every frame of a clip.

    Sampling is bilinear about the centre ((W - 1) / 2, (H - 1) / 2). Everything outside the frame is black, and is
    interpolated with the edge of the frame.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        degrees: Counter-clockwise angle; 7.5 15 30 45 90 in the released code. Rotating a square by 90 is lossless.

    Returns:
        A new (H, W, C) uint8 frame with black corners. Unlike in the released code, interpolation is exact.
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
        frame: uint8 array of shape (H, W, C); not modified.
        degrees: Maximum angle. Angles are integers from -degrees to degrees; 6 12 18 24 30 in the released code.
        rng: Random generator, from which one number is drawn.
    """
    return static_rotate(frame, int(rng.integers(-degrees, degrees, endpoint=True)))


def translation(frame: Frame, reach: int, rng: np.random.Generator) -> Frame:
    """Shift a frame up and left like camera shake: out[y, x] = frame[min(y + dy, H - 1), min(x + dx, W - 1)].

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        reach: Exclusive maximum of the integers dx and dy; 8 16 24 32 40 in the released code.
        rng: Random generator, from which two numbers are drawn, dx first.

    Returns:
        A new (H, W, C) uint8 frame of the same size, with repeated edge pixels and without resampling. The released
        code instead scales the short side to 256 pixels and crops 224 x 224.
    """
    height, width, _ = frame.shape
    dx, dy = (int(offset) for offset in rng.integers(0, reach, 2))
    dx, dy = min(dx, width - 1), min(dy, height - 1)
    moved = cv2.copyMakeBorder(frame[dy:, dx:], 0, dy, 0, dx, cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.uint8).reshape(frame.shape)
