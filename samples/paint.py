"""A brush for flat cartoons: filled shapes with smooth edges at fractions of a pixel.

A picture is 320×240 pixels and is drawn at twice that size. A brush stands somewhere on the floor and looks left or
right; what it paints is given relative to that place as complex numbers, `forward + height * 1j` in pixels.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 320, 240
FLOOR_Y = 222.0  # picture row of height 0
OVERSAMPLING = 2
_FRACTION_BITS = 4
_UNIT = OVERSAMPLING << _FRACTION_BITS
_CIRCLE = np.exp(2j * np.pi * np.arange(20) / 20)

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]
Points = Sequence[complex] | NDArray[np.complex128]


@cache
def colour(code: str) -> Colour:
    """The RGB colour, 0 to 255 each, that `code` (`"#rrggbb"`) names."""
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """The colour `share` (0 to 1) of the way from `first` to `second`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def oval(centre: complex, width: float, height: float, turn: float = 0.0) -> NDArray[np.complex128]:
    """The outline, shape (20,), of an ellipse with the given half axes, `turn` radians anticlockwise."""
    outline: NDArray[np.complex128] = _CIRCLE.real * width + 1j * (_CIRCLE.imag * height)
    placed: NDArray[np.complex128] = centre + outline * np.exp(1j * turn)
    return placed


def box(corner: complex, opposite: complex) -> list[complex]:
    """The four corners of an upright rectangle."""
    a, b = corner, opposite
    return [a, complex(b.real, a.imag), b, complex(a.real, b.imag)]


def canvas(wall: Colour) -> Image:
    """An empty picture to paint on, uint8 RGB of shape (480, 640, 3)."""
    return np.full((HEIGHT * OVERSAMPLING, WIDTH * OVERSAMPLING, 3), wall, np.uint8)


def finish(picture: Image) -> Image:
    """The painted picture at its final size, uint8 RGB of shape (240, 320, 3)."""
    return cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)  # type: ignore[return-value]


@dataclass(frozen=True)
class Brush:
    """Paints on one picture, seen from one place on the floor.

    Attributes:
        picture: What `canvas` returned.
        x: Picture column of the place.
        facing: 1 looks right, -1 left, values between are turned to the viewer.
        origin: Point that the brush calls 0.
        tilt: Factor of length 1 by which it is turned about that point.
    """

    picture: Image
    x: float = 0.0
    facing: float = 1.0
    origin: complex = 0j
    tilt: complex = 1 + 0j

    def moved(self, forward: float, turn: float) -> Brush:
        """A brush that stands `forward` pixels further on and is turned by the factor `turn`."""
        return replace(self, x=self.x + self.facing * forward, facing=self.facing * turn)

    def at(self, origin: complex, turn: float = 0.0) -> Brush:
        """A brush that calls the point `origin` 0 and is turned `turn` radians backward."""
        tilt = self.tilt * cmath.exp(1j * turn)
        return replace(self, origin=self.origin + origin * self.tilt, tilt=tilt)

    def fill(self, outline: Points, colour: Colour) -> None:
        """Fill the polygon with this outline."""
        pixels = self._pixels(outline)
        cv2.fillPoly(self.picture, [pixels], colour, cv2.LINE_AA, _FRACTION_BITS)

    def line(self, points: Points, colour: Colour, width: float) -> None:
        """Draw the open line through the points with round ends, `width` pixels wide."""
        pixels, thickness = self._pixels(points), max(1, round(width * OVERSAMPLING))
        cv2.polylines(self.picture, [pixels], False, colour, thickness, cv2.LINE_AA, _FRACTION_BITS)

    def disc(self, centre: complex, radius: float, colour: Colour) -> None:
        """Fill a circle."""
        x, y = self._pixels([centre])[0].tolist()
        size = round(radius * _UNIT)
        cv2.circle(self.picture, (x, y), size, colour, cv2.FILLED, cv2.LINE_AA, _FRACTION_BITS)

    def _pixels(self, points: Points) -> NDArray[np.int32]:
        """The points as fixed-point pixel positions, int32 of shape (n, 2)."""
        z = self.origin + np.asarray(points, np.complex128) * self.tilt
        xy = np.column_stack((self.x + self.facing * z.real, FLOOR_Y - z.imag))
        return np.rint(xy * _UNIT).astype(np.int32)
