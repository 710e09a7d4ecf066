"""Blur individual frames. Results are within ±1 of the definitions evaluated in float64.

Source: Schiappa et al. 2022 (arXiv 2207.02159), after Hendrycks & Dietterich 2019 (arXiv 1903.12261). The released code
truncates results, which darkens a frame by half a level; here they are rounded.

Frames are uint8 arrays of shape (H, W, C) with C = 1 or 3, of any size, and are never modified. OpenCV sums in float32,
so a few values may differ by one level between CPU types. Each call allocates its work arrays as one block, because
allocating many blocks of a megabyte costs more than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from . import Frame

_Sums = NDArray[np.uint16]
_Floats = NDArray[np.float32]

_BAND = 1 << 18  # values processed at a time, limited by the cache and, at 4K, by memory
_SUMMANDS = 65535 // 255  # number of pixels whose sum always fits into a uint16
_WINDOW = 8  # half the smallest window in which Hendrycks' disk is softened
_WIDEST = 20  # largest radius at which columns of equal height have at most _SUMMANDS pixels
_UNSEEN = 2e-4  # weight that is negligible at the far end of a motion: a twentieth of a grey level
_DIRECT = 129  # pixels in the largest kernel that OpenCV sums directly rather than by a Fourier transform


def defocus_blur(frame: Frame, radius: int, alias_sigma: float) -> Frame:
    """Blur a frame as if it were out of focus: average it over a disk with a softened edge.

    The kernel is Hendrycks' `disk()`: X^2 + Y^2 <= radius^2 in a window of half width max(8, radius), normalized, then
    softened by a Gaussian of 3x3 pixels (5x5 for radius > 8). OpenCV's default border, a mirror without the edge pixel,
    applies in that window and at the edge of the frame. From radius 8 on, the disk touches its window, whose mirror
    increases the weight of the four tips. The kernel therefore sums to 1.013 at radius 8 and 1.011 at 10; this is
    preserved.

    Pixels are summed exactly, by doubling, down the columns of the disk and across columns of equal height. The
    Gaussian is applied to the sums instead of the kernel. The mirrored tips are added along the rim without softening,
    which moves .001 of the kernel's weight by a pixel, or at most a quarter of a grey level.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        radius: Radius of the disk in pixels, 1 to 20; 3 4 6 8 10 in the paper.
        alias_sigma: Standard deviation of the Gaussian in pixels; .1 .5 .5 .5 .5 in the paper.

    Returns:
        A new (H, W, C) uint8 frame, equal to that of the released code except for rounding.

    Raises:
        ValueError: The radius is out of range.
    """
    if not 1 <= radius <= _WIDEST:
        raise ValueError(f"the radius of a defocus blur must be from 1 to {_WIDEST} pixels; got {radius}")
    height, width, channels = frame.shape
    gauss = cv2.getGaussianKernel(5 if radius > _WINDOW else 3, alias_sigma).ravel()
    ring = len(gauss) // 2
    margin = radius + ring
    padded = _pad(frame, (margin, margin + 1, margin, margin), cv2.BORDER_REFLECT_101)
    rows = min(height, -(-_BAND // (width * channels)))
    space = np.empty((12, padded[: rows + 2 * margin + 1].size), np.uint16)
    blurred = np.empty_like(frame)
    for top in range(0, height, rows):
        band = blurred[top : top + rows]
        disk = _Disk(padded[top : top + len(band) + 2 * margin + 1], radius, space)
        sums = disk.sums()
        if gauss[ring + 1] > 1e-9:
            cv2.GaussianBlur(sums, (len(gauss), len(gauss)), alias_sigma, dst=sums)
        sums = sums[ring : ring + len(band), ring : ring + width]
        if radius >= _WINDOW:
            cv2.scaleAdd(disk.tips(margin), gauss[ring + 1], sums, dst=sums)
        band[:] = _to_bytes(sums, 1 / disk.area)
    return blurred


def motion_blur(frame: Frame, radius: int, sigma: float, rng: np.random.Generator) -> Frame:
    """Blur a frame along a line, with a one-sided Gaussian and a new random direction for each frame.

    The kernel is ImageMagick's: 2 radius + 1 samples exp(-i^2 / (2 sigma^2)), i = 0, 1, ..., normalized. Sample i is
    the pixel ceil(i cos a - 1/2) to the right and ceil(i sin a - 1/2) below. Edge pixels are repeated. The angle a is
    uniform in [-45, 45) degrees.

    Each part of the line is filtered sparsely in float32. Samples on the same pixel are combined, and the far end is
    omitted once less than .001 of the weight remains.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        radius: Half the number of samples; 10 15 15 15 20 in the paper.
        sigma: Standard deviation in samples, which are one pixel apart; 3 5 8 12 15 in the paper.
        rng: Random generator, from which one number is drawn.

    Returns:
        A new (H, W, C) uint8 frame. Hendrycks' code uses ImageMagick and a global generator, and truncates.
    """
    height, width, _ = frame.shape
    angle = math.radians(90 * rng.random() - 45)
    samples = np.arange(2 * radius + 1)
    weights = np.exp(-0.5 * (samples / sigma) ** 2)
    weights = weights[: np.searchsorted(weights.cumsum(), (1 - _UNSEEN) * weights.sum()) + 1]
    weights /= weights.sum()
    points = np.ceil(samples[: len(weights), None] * [math.sin(angle), math.cos(angle)] - 0.5).astype(int)
    above, (below, right) = max(0, -points[:, 0].min()), points.max(0).clip(0)
    points[:, 0] += above
    padded = _pad(frame, (above, below, 0, right), cv2.BORDER_REPLICATE)
    space = np.empty((3, padded.size), np.float32)
    source, total = space[0].reshape(padded.shape), space[1]
    source[:] = padded
    for stretch in _stretches(points):
        (y, x), size = points[stretch].min(0), np.ptp(points[stretch], axis=0) + 1
        kernel = np.zeros(size, np.float32)
        np.add.at(kernel, tuple((points[stretch] - (y, x)).T), weights[stretch])
        window = source[y : y + height + size[0] - 1, x : x + width + size[1] - 1]
        part = space[2 if stretch.start else 1, : window.size].reshape(window.shape)
        cv2.filter2D(window, -1, kernel, dst=part, anchor=(0, 0))
        part = part[:height, :width]
        total = np.add(total, part, out=total) if stretch.start else part
    return _to_bytes(total)


def zoom_blur(frame: Frame, max_zoom: float, step: float) -> Frame:
    """Average a frame with copies of itself that are zoomed in on the centre.

    There is one copy for every zoom z in numpy.arange(1, max_zoom, step). This includes zoom 1, so the frame counts
    twice. As in the released code, rounding makes the first level include its bound (1 to 1.11 by .01 gives 12 copies).
    Along an axis of n pixels, copy z interpolates the middle c = ceil(n / z) pixels, starting at (n - c) // 2, linearly
    at e = round(c z) points, and keeps the middle n of these, starting at (e - n) // 2. Sums are in float32.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        max_zoom: Exclusive bound of the zoom, 1 to 1.5; 1.11 1.16 1.21 1.26 1.31 in the paper.
        step: Step between zooms; .01 .01 .02 .02 .03 in the paper.

    Returns:
        A new (H, W, C) uint8 frame. Hendrycks' code assumes square frames when cropping, and truncates.
    """
    height, width, channels = frame.shape
    zooms = np.arange(1, max_zoom, step).tolist()
    grids = [(*_zoomed(height, zoom), *_zoomed(width, zoom)) for zoom in zooms[1:]]
    wide = frame if channels == 1 else cv2.cvtColor(frame, cv2.COLOR_RGB2RGBA)  # sampling four channels is faster
    rows = min(height, -(-_BAND // wide[0].size))
    blurred = np.empty_like(frame)
    for top in range(0, height, rows):
        band = blurred[top : top + rows]
        bottom = top + len(band)
        first = min([top, *(math.floor(y + top * dy) for y, dy, _, _ in grids)])
        last = max([bottom, *(math.floor(y + (bottom - 1) * dy) + 2 for y, dy, _, _ in grids)])
        source = wide[first:last].astype(np.float32)
        total = 2 * source[top - first : bottom - first]
        copy = np.empty_like(total)
        for y, dy, x, dx in grids:
            matrix = np.array([[dx, 0, x], [0, dy, y + top * dy - first]])
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            cv2.warpAffine(source, matrix, (width, len(band)), copy, flags, cv2.BORDER_REPLICATE)
            cv2.add(total, copy, dst=total)
        mean = _to_bytes(total, 1 / (len(zooms) + 1))
        band[:] = mean if channels == 1 else cv2.cvtColor(mean, cv2.COLOR_RGBA2RGB)
    return blurred


def _pad(frame: Frame, margins: tuple[int, int, int, int], border: int) -> Frame:
    top, bottom, left, right = margins
    height, width, channels = frame.shape
    padded = np.asarray(cv2.copyMakeBorder(frame, top, bottom, left, right, border), np.uint8)
    return padded.reshape(height + top + bottom, width + left + right, channels)


def _to_bytes(values: NDArray[Any], factor: float = 1) -> Frame:
    return np.asarray(cv2.convertScaleAbs(values, alpha=factor), np.uint8).reshape(values.shape)


class _Disk:
    """Exact sums over a disk around the pixels of a padded band. `area` is the number of pixels in the disk.

    The band is contiguous, so that moving down or across is an offset. Its last row is spare, for offsets past the end.
    The sum over a run of pixels is stored at the start of the run.
    """

    def __init__(self, padded: Frame, radius: int, space: _Sums):
        """Sum runs of 2, 4, 8, ... pixels down the columns."""
        self.rows, self.columns, self.step = len(padded) - 1, *padded.shape[1:]
        self.stride, self.radius = self.columns * self.step, radius
        self.heights = [math.isqrt(radius * radius - dx * dx) for dx in range(radius + 1)]
        self.area = 2 * sum(2 * height + 1 for height in self.heights) - (2 * radius + 1)
        self.pixels, self.column, self.strip, self.total, *self.spare = space[:, : padded.size]
        self.pixels[:] = padded.ravel()
        self.down = _doubled(self.pixels, self.stride, 2 * radius + 1, self.spare)
        self.spare = self.spare[len(self.down) - 1 :]

    def sums(self) -> _Floats:
        """Return the sums over the disk at pixels at least `radius` from the edge, shape (rows, columns, C)."""
        total = self._shifted(self.total, self.radius)
        sums, summed = np.zeros(total.size, np.float32), 0
        for height, group in groupby(range(self.radius + 1), self.heights.__getitem__):
            nearest, *further = group
            length = 1 + len(further)
            column = _run(self.down, self.stride, 2 * height + 1, self.column)
            strip = _run(_doubled(column, self.step, length, self.spare), self.step, length, self.strip)
            for dx in {1 - nearest - length, nearest}:
                part = self._shifted(strip, self.radius, -height, dx)
                if summed + length * (2 * height + 1) > _SUMMANDS:
                    cv2.accumulate(total, sums)
                    summed = 0
                np.add(total, part, out=total) if summed else np.copyto(total, part)
                summed += length * (2 * height + 1)
        cv2.accumulate(total, sums)
        return self._framed(sums, self.radius)

    def tips(self, margin: int) -> _Floats:
        """Return what the mirror adds at the tips of the disk, for pixels at least `margin` from the edge.

        On each side, the second outermost column is added to the outermost, which is subtracted from the next one out.
        """
        out, length = self.heights[-2], 2 * self.heights[-2] + 1
        down = _run(self.down, self.stride, length, self.column)
        across = _run(_doubled(self.pixels, self.step, length, self.spare), self.step, length, self.strip)
        total = self._shifted(self.total, margin)
        np.copyto(total, 0)
        for side in (-self.radius, self.radius):
            total += self._shifted(down, margin, -out, side)
            total += self._shifted(across, margin, side, -out)
        for side in (-self.radius - 1, self.radius + 1):
            total -= self._shifted(self.pixels, margin, 0, side)
            total -= self._shifted(self.pixels, margin, side, 0)
        return self._framed(total.view(np.int16).astype(np.float32), margin)

    def _shifted(self, sums: _Sums, margin: int, dy: int = 0, dx: int = 0) -> _Sums:
        """Return a view that starts `margin` from the edge, shifted by (dy, dx). Its last columns are invalid."""
        start = (margin + dy) * self.stride + (margin + dx) * self.step
        return sums[start : start + (self.rows - 2 * margin) * self.stride]

    def _framed(self, sums: _Floats, margin: int) -> _Floats:
        return sums.reshape(-1, self.columns, self.step)[:, : self.columns - 2 * margin]


def _doubled(values: _Sums, step: int, longest: int, space: list[_Sums]) -> list[_Sums]:
    runs = [values]
    for out in space[: longest.bit_length() - 1]:
        last, shift = runs[-1], step << (len(runs) - 1)
        runs.append(np.add(last[:-shift], last[shift:], out=out[: last.size - shift]))
    return runs


def _run(doubled: list[_Sums], step: int, length: int, out: _Sums) -> _Sums:
    size = doubled[0].size - (length - 1) * step
    parts = []
    for power in range(length.bit_length()):
        if length >> power & 1:
            parts.append(doubled[power][(length & ((1 << power) - 1)) * step :][:size])
    total = parts[0]
    for part in parts[1:]:
        total = np.add(total, part, out=out[:size])
    return total


def _stretches(points: NDArray[np.int_]) -> Iterator[slice]:
    """Split a line into parts whose bounding boxes have at most `_DIRECT` pixels."""
    start = 0
    for stop in range(1, len(points) + 1):
        if stop == len(points) or np.prod(abs(points[stop] - points[start]) + 1) > _DIRECT:
            yield slice(start, stop)
            start = stop


def _zoomed(length: int, zoom: float) -> tuple[float, float]:
    """Return where the first pixel of a zoomed axis is in the frame, and how far apart its pixels are."""
    crop = math.ceil(length / zoom)
    enlarged = round(crop * zoom)
    apart = (crop - 1) / max(1, enlarged - 1)
    return (length - crop) // 2 + (enlarged - length) // 2 * apart, apart
