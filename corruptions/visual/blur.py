"""The three blurs of MSRVTT-P and YouCook2-P on one frame, within ±1 of their definitions in float64.

Source: Schiappa et al. 2022, "Robustness Analysis of Video-Language Models Against Visual and Language Perturbations"
(arXiv 2207.02159), after Hendrycks & Dietterich 2019 (arXiv 1903.12261). The released code cuts the result off, which
darkens a frame by half a level; here it is rounded to the nearest integer.

Frames are (H, W, C) uint8, C = 1 or 3, of any size from 1 x 1; they are never modified. OpenCV's sums are in float32,
whose last bit may differ between kinds of CPU, so on another kind a rare value can come out one level apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""

_Sums = NDArray[np.uint16]
_Floats = NDArray[np.float32]

_BAND = 1 << 19  # values worked on at a time, for the cache and for the memory at 4K
_SUMMANDS = 65535 // 255  # pixels whose sum a uint16 surely holds
_RIM = 8  # half the smallest window in which Hendrycks' disk is softened
_UNSEEN = 1e-3  # weight of the far end of a motion that may be left out: a quarter of a grey level
_DIRECT = 129  # pixels of the largest kernel that OpenCV sums tap by tap instead of by a Fourier transform


def defocus_blur(frame: Frame, radius: int, alias_sigma: float) -> Frame:
    """Blur as a lens out of focus: the mean over a disk with a softened edge.

    The kernel is Hendrycks' `disk()`: X^2 + Y^2 <= radius^2 on a window of half width max(8, radius), divided by its
    sum N, then softened by a Gaussian of 3x3 pixels (5x5 for radius > 8). OpenCV's default border, the mirror without
    the edge pixel, holds in that window and at the frame's edge. From radius 8 on the disk touches its window, whose
    mirror makes the four tips heavier, so the kernel's sum is 1.013 at radius 8 and 1.011 at 10. That is kept.

    Computed from exact sums: runs of pixels down the columns of the disk, by doubling, then columns of equal height
    side by side; the Gaussian softens the sums, and the heavier tips are added.

    Args:
        frame: (H, W, C) uint8; not modified.
        radius: Of the disk in pixels, 1 to 127; 3 4 6 8 10 in the paper.
        alias_sigma: Of the Gaussian in pixels; .1 .5 .5 .5 .5 in the paper.

    Returns:
        A new (H, W, C) uint8 frame. It differs from the released code's in rounding only.
    """
    gauss = cv2.getGaussianKernel(5 if radius > _RIM else 3, alias_sigma, cv2.CV_64F).ravel()
    ring = len(gauss) // 2
    margin = radius + ring
    padded = _pad(frame, margin, margin, margin, margin + 1, cv2.BORDER_REFLECT_101)
    blurred = np.empty_like(frame)
    for top, bottom in _bands(frame.shape):
        disk = _Disk(padded[top : bottom + 2 * margin + 1], radius)
        sums = disk.sums(ring)
        if gauss[ring + 1] > 1e-9:
            sums = cv2.GaussianBlur(sums, (len(gauss), len(gauss)), alias_sigma).reshape(sums.shape)
        sums = sums[ring : sums.shape[0] - ring, ring : sums.shape[1] - ring]
        if radius >= _RIM:
            sums = cv2.scaleAdd(disk.tips(margin), gauss[ring + 1], sums)
        blurred[top:bottom] = _to_bytes(sums, 1 / disk.area).reshape(blurred[top:bottom].shape)
    return blurred


class _Disk:
    """Exact sums over a disk at every pixel of a padded band, whose last row is spare.

    Pixels lie in one row of memory, so a shift by (dy, dx) is an offset, and a run of pixels is known by its first.
    """

    def __init__(self, padded: Frame, radius: int):
        self.shape = padded.shape
        self.radius = radius
        self.pixels: _Sums = padded.astype(np.uint16).ravel()
        self.down = {1: self.pixels}  # length of a run down a column: the sums of such runs
        self.heights = [math.isqrt(radius * radius - dx * dx) for dx in range(radius + 1)]
        self.area = sum((2 * height + 1) * (2 if dx else 1) for dx, height in enumerate(self.heights))

    def sums(self, ring: int) -> _Floats:
        """Sum over the disk, for the frame's pixels and `ring` more on each side."""
        totals: list[_Sums] = []
        room = 0
        for height, group in groupby(range(self.radius + 1), self.heights.__getitem__):
            first, *_, last = *group, -1
