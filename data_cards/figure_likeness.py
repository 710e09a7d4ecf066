"""Compare a figure of an output with the same figure drawn here, possibly by another version of Matplotlib."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float32]

BEGINNING = b"\x89PNG\r\n\x1a\n"
EQUAL = 2.0  # grey levels
NEAR, LEVELS = 12, 16.0  # Texts of Matplotlib 3.9 and 3.11 are up to 12 pixels apart; beyond that, they differ by 11.
BLOCK, BLOCK_LEVELS = 16, 35.0  # The means of their blocks differ by at most 17.4.


def unlike_drawn(content: bytes, drawn: bytes) -> str | None:
    """Explain how a PNG file differs from the drawn one. Return "" for equal pixels, and None for another rendering.

    Files that name the same version of Matplotlib must have equal pixels. Another rendering has the same colours within
    a few pixels, and the same amount of ink in every block. Words on the background and other bars are neither.
    """
    from matplotlib.image import imread

    try:
        kinds, expected = ([kind for kind in _chunks(each) if kind != "IDAT"] for each in (content, drawn))
        if kinds != expected:
            return f"it has the parts {', '.join(kinds)}, not {', '.join(expected)}"
        head = len(BEGINNING) + 8 + 13
        if content[:head] != drawn[:head]:  # possibly too large to open
            return "it has another size or format"
        one, other = (255 * np.asarray(imread(io.BytesIO(each), format="png"), np.float32) for each in (content, drawn))
    except (OSError, ValueError, SyntaxError) as error:
        return f"it is damaged ({error})"
    if one.shape != other.shape:
        return "it has another size or format"
    if np.abs(one - other).max() <= EQUAL:
        return ""
    if b"Matplotlib" in _software(drawn) and _software(content) == _software(drawn):
        return "its pixels differ, although it names the same version of Matplotlib"
    outside = max(_beyond(one, other), _beyond(other, one))
    blocks = float(np.abs(_means(one) - _means(other)).max())
    if outside > LEVELS or blocks > BLOCK_LEVELS:
        return "its pixels differ by more than between versions of Matplotlib"
    return None


def _chunks(content: bytes) -> Iterator[str]:
    """Yield the types of a PNG file's chunks. Raise ValueError if it has other bytes."""
    place = len(BEGINNING)
    if content[:place] != BEGINNING:
        raise ValueError("it is no PNG file")
    kind = b""
    while place < len(content):
        if kind == b"IEND":
            raise ValueError("there are bytes after its end")
        kind = content[place + 4 : place + 8]
        yield kind.decode("ascii", "replace")
        place += 12 + int.from_bytes(content[place : place + 4], "big")
    if kind != b"IEND" or place != len(content):
        raise ValueError("its end is missing")


def _software(content: bytes) -> bytes:
    """Return the text chunk that names the program which wrote a PNG file, or nothing."""
    start = content.find(b"tEXtSoftware\0")
    return b"" if start < 4 else content[start : start + 4 + int.from_bytes(content[start - 4 : start], "big")]


def _beyond(one: Pixels, other: Pixels) -> float:
    """Return how far a pixel is outside of the range of the other picture's pixels around its place."""
    low, high = _spread(other, np.minimum), _spread(other, np.maximum)
    return float(np.maximum(low - one, one - high).max())


def _spread(pixels: Pixels, choose: Any) -> Pixels:
    found = pixels
    for axis in (0, 1):
        width = [(NEAR, NEAR) if each == axis else (0, 0) for each in range(pixels.ndim)]
        padded, length, found = np.pad(found, width, mode="edge"), found.shape[axis], found.copy()
        for shift in range(2 * NEAR + 1):
            choose(found, np.take(padded, range(shift, shift + length), axis), out=found)
    return found


def _means(pixels: Pixels) -> Pixels:
    height, width = (size // BLOCK * BLOCK for size in pixels.shape[:2])
    tiles = pixels[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, -1)
    return np.asarray(tiles.mean(axis=(1, 3)), np.float32)
