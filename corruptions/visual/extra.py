"""Perturbations of edited web videos, which AugLy has and the paper has not: text, a sticker, padding, speed.

They are not part of `all`, nor of the means over all visual perturbations. The size and the number of frames stay.
"""

from __future__ import annotations

from functools import cache, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import ImageFont

from . import Frame
from .temporal import IndexMap

TEXT = "hello, world"


def overlay_text(frame: Frame, share: float) -> Frame:
    """Write white text with a black outline into the middle. `share` is its height relative to the frame's.

    Unlike in AugLy, the font is a bitmap, so that the pixels depend on no version of FreeType.
    """
    letters, rows = _letters(), max(1, round(frame.shape[0] * share))
    columns, edge = max(1, rows * letters.shape[1] // len(letters)), -(-rows // len(letters))
    text = letters[np.arange(rows) * len(letters) // rows][:, np.arange(columns) * letters.shape[1] // columns]
    text = np.pad(text, edge)
    outline = np.asarray(cv2.dilate(text, np.ones((2 * edge + 1,) * 2, np.uint8)), np.uint8)
    height, width = (min(pair) for pair in zip(text.shape, frame.shape, strict=False))
    text, outline = (_centre(mask, height, width)[..., None] for mask in (text, outline))
    shown = frame.copy()
    middle = _centre(shown, height, width)
    middle[:] = np.where(text, 255, np.where(outline, 0, middle))
    return shown


@cache
def _letters() -> Frame:
    """Return the text as a mask of 0 and 1, of the height of its capital letters and what hangs below them."""
    mask = ImageFont.load_default_imagefont().getmask(TEXT)
    letters = np.array(mask, np.uint8).reshape(mask.size[::-1]) > 0
    return letters[letters.any(1)].astype(np.uint8)


def _centre(array: Frame, height: int, width: int) -> Frame:
    """Return a view of the middle of an array."""
    top, left = (array.shape[0] - height) // 2, (array.shape[1] - width) // 2
    return array[top : top + height, left : left + width]


def overlay_emoji(frame: Frame, share: float) -> Frame:
    """Draw a yellow smiling face into the middle. `share` is its diameter relative to the shorter side."""
    face, inside = _face(*frame.shape, share)
    shown = frame.copy()
    np.copyto(shown, face, where=inside)
    return shown


@lru_cache(maxsize=16)
def _face(height: int, width: int, channels: int, share: float) -> tuple[Frame, NDArray[np.bool_]]:
    """Return the face for frames of a size, and the mask of its pixels, of shape (height, width, 1)."""
    radius = share * min(height, width) / 2
    y, x = np.mgrid[:height, :width].astype(np.float64)
    y, x = (y - (height - 1) / 2) / radius, (x - (width - 1) / 2) / radius
    eyes = np.hypot(np.abs(x) - 0.35, y + 0.3) < 0.13
    mouth = (np.abs(np.hypot(x, y) - 0.6) < 0.07) & (y > 0.15)
    yellow = np.array([255, 204, 0] if channels == 3 else [200], np.uint8)
    return np.where((eyes | mouth)[..., None], np.uint8(0), yellow), (np.hypot(x, y) < 1)[..., None]


def padding(frame: Frame, share: float) -> Frame:
    """Shrink the frame and surround it with black. `share` is the padding on each side relative to the frame's."""
    height, width, _ = frame.shape
    top, left = round(height * share), round(width * share)
    size = (max(1, width - 2 * left), max(1, height - 2 * top))
    shown = np.zeros_like(frame)
    inner = cv2.resize(frame, size, interpolation=cv2.INTER_AREA).reshape(size[1], size[0], -1)
    shown[top : top + size[1], left : left + size[0]] = inner
    return shown


def speed(num_frames: int, factor: float) -> IndexMap:
    """Play the clip `factor` times as fast, and hold its last frame until its end."""
    shown: IndexMap = np.minimum(np.arange(num_frames) * factor, num_frames - 1).astype(np.int64)
    return shown
