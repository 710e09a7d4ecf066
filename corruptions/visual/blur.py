"""The three blurs of MSRVTT-P and YouCook2-P on one frame, within ±1 of their definitions in float64.

Source: Schiappa et al. 2022, "Robustness Analysis of Video-Language Models Against Visual and Language Perturbations"
(arXiv 2207.02159), after Hendrycks & Dietterich 2019 (arXiv 1903.12261). The released code cuts the result off, which
darkens a frame by half a level; here it is rounded to the nearest integer.

Frames are (H, W, C) uint8, C = 1 or 3, of any size from 1x1; they are never modified. OpenCV's sums are in float32 and
may differ in the last bit between kinds of CPU, so on another kind a rare value can come out one level apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""

_Sums = NDArray[np.uint16]
_Floats = NDArray[np.float32]

_BAND = 1 << 18  # values worked on at a time, for the cache and for the memory at 4K
_SUMMANDS = 65535 // 255  # pixels whose sum a uint16 holds
_RIM = 8  # half the smallest window in which Hendrycks' disk is softened
_UNSEEN = 1e-3  # weight of the far end of a motion that may be left out: a quarter of a grey level
_DIRECT = 129  # largest kernel, in pixels, that OpenCV sums directly, tap by tap, not through a Fourier transform


def defocus_blur(frame: Frame, radius: int, alias_sigma: float) -> Frame:
    """Blur as a lens out of focus: the mean over a disk with a softened edge.

    The kernel is Hendrycks' `disk()`: X^2 + Y^2 <= radius^2 on a window of half width max(8, radius), divided by its
    sum N, then blurred by a Gaussian of 3x3 pixels (5x5 for radius > 8) with OpenCV's default border in that window
    and at the frame's edge (mirrored without the edge pixel). From radius 8 on the disk touches the window, whose
    mirror then makes its four tips heavier: the sum is 1.5 % above 1 at radius 8, 1.2 % at 10. That is kept.

    Computed as exact sums in uint16: the disk's columns of equal height, built from runs of pixels by doubling, side by
    side. The Gaussian then works on the sums, and the heavier tips are added.

    Args:
        frame: (H, W, C) uint8; not modified.
        radius: Of the disk in pixels, 1 to 127; 3 4 6 8 10 in the paper.
        alias_sigma: Of the Gaussian in pixels; .1 .5 .5 .5 .5 in the paper.

    Returns:
        A new (H, W, C) uint8 frame. It differs from the released code's in rounding only.
    """
    height, width, channels = frame.shape
    gauss = cv2.getGaussianKernel(5 if radius > _RIM else 3, alias_sigma, cv2.CV_32F).ravel()
    ring = len(gauss) // 2
    margin = radius + ring
    padded = _pad(frame, (margin,) * 4, cv2.BORDER_REFLECT_101)
    blurred = np.empty_like(frame)
    for top, bottom in _bands(height, width * channels):
        disk = _Disk(padded[top : bottom + 2 * margin], radius)
        sums = disk.sums(ring)
        if gauss[ring + 1] > 0:
            sums = cv2.GaussianBlur(sums, (len(gauss), len(gauss)), alias_sigma).reshape(sums.shape)
        sums = sums[ring:-ring, ring:-ring]
        if radius >= _RIM:
            sums = sums + gauss[ring + 1] * disk.rim(ring)
        blurred[top:bottom] = _to_bytes(sums, 1 / disk.area)
    return blurred
