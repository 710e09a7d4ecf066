"""The three camera perturbations of MSRVTT-P and YouCook2-P on one frame: turned or moved, the size kept.

Source: Schiappa et al. 2022 (arXiv 2207.02159). The paper gives no levels; those here are the released code's. Frames
are (H, W, C) uint8, C = 1 or 3, of any size from 1 x 1; they are never modified.

A turned frame is within ±1 of bilinear interpolation in float64. That needs OpenCV 5: up to 4.14 `warpAffine` rounds
where it samples to 1/32 of a pixel, eight levels at a hard edge.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""


def static_rotate(frame: Frame, degrees: float) -> Frame:
    """Turn the frame about its centre, the same for every frame of a clip.

    Pixel (x, y) samples the frame at the centre ((W - 1) / 2, (H - 1) / 2) plus its distance from there turned
    clockwise, bilinearly; outside the frame all is black, also where that is mixed with the frame's edge.

    Args:
        frame: (H, W, C) uint8; not modified.
        degrees: Counter-clockwise; 7.5 15 30 45 90 in the released code. A square is turned by 90 without a change.

    Returns:
        A new (H, W, C) uint8 frame with black corners, interpolated exactly, which the released code's isn't.
    """
    height, width, channels = frame.shape
    x, y = (width - 1) / 2, (height - 1) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    matrix = np.array([[cos, -sin, x - cos * x + sin * y], [sin, cos, y - sin * x - cos * y]])
    wide = frame if channels == 1 else cv2.cvtColor(frame, cv2.COLOR_RGB2RGBA)  # four channels are sampled faster
    turned = cv2.warpAffine(wide, matrix, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    turned = turned if channels == 1 else cv2.cvtColor(turned, cv2.COLOR_RGBA2RGB)
    return np.asarray(turned, np.uint8).reshape(frame.shape)


def rotation(frame: Frame, degrees: int, rng: np.random.Generator) -> Frame:
    """Turn the frame by a new angle each time, as `static_rotate` does.

    Args:
        frame: (H, W, C) uint8; not modified.
        degrees: The angle is an integer, uniform in -degrees to degrees, both included; 6 12 18 24 30 as released.
        rng: One number is drawn from it.

    Returns:
        A new (H, W, C) uint8 frame with black corners, interpolated exactly, which the released code's isn't.
    """
    return static_rotate(frame, int(rng.integers(-degrees, degrees, endpoint=True)))


def translation(frame: Frame, reach: int, rng: np.random.Generator) -> Frame:
    """Move the picture up and left, as a camera that shakes: out[y, x] = frame[min(y + dy, H - 1), min(x + dx, W - 1)].

    Args:
        frame: (H, W, C) uint8; not modified.
        reach: dx and dy are integers, uniform in 0 to reach - 1; 8 16 24 32 40 as released.
        rng: Two numbers are drawn from it, dx first.

    Returns:
        A new (H, W, C) uint8 frame of the same size, the edge repeated, nothing resampled. The released code instead
        enlarges the short side to 256 pixels and cuts out 224 x 224 from there.
    """
    height, width, _ = frame.shape
    dx, dy = (int(number) for number in rng.integers(0, reach, 2))
    dx, dy = min(dx, width - 1), min(dy, height - 1)
    moved = cv2.copyMakeBorder(frame[dy:, dx:], 0, dy, 0, dx, cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.uint8).reshape(frame.shape)
