"""Paint flat cartoons with antialiased edges, at 320 × 240 pixels, and record which object each pixel belongs to.

A brush stands on the floor and faces left or right. Points are complex numbers relative to its position, `forward +
height * 1j` in pixels. The fourth channel of a painted picture holds the number of an object in `OBJECTS`.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 320, 240
FLOOR_Y = 222.0  # pixel row of height 0
OVERSAMPLING = 3
_CIRCLE = np.exp(2j * np.pi * np.arange(20) / 20)

OBJECTS = (
    *("", "person", "other person", "door", "refrigerator", "table", "desk", "laptop", "chair", "shelf", "window"),
    *("mirror", "light", "broom", "sofa", "bed", "blanket", "pillow", "food", "cup", "book", "box", "phone", "towel"),
    *("comb", "bowl", "dust", "rug", "picture", "clock", "plant", "curtain", "column", "television"),
    *("bag", "clothes", "shoes", "dish", "sandwich", "medicine", "painting"),
    *("vase", "ball", "cat", "wind", "lightning"),
    *(
        "desk chair",
        "side table",
        "dressing table",
        "stored food",
        "bed pillow",
        "bedspread",
        "television table",
    ),  # parts of furniture
)
"""Names of all objects by number. 0 is the empty room."""
_NUMBERS = {name: number for number, name in enumerate(OBJECTS)}

Colour = tuple[int, int, int]
Points = Sequence[complex] | NDArray[np.complex128]


@cache
def colour(code: str) -> Colour:
    """Convert a colour code such as "#00ff80" to RGB, with values from 0 to 255."""
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """Blend two colours. `share` is the weight of `second`, from 0 to 1."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def oval(centre: complex, width: float, height: float, turn: float = 0.0) -> NDArray[np.complex128]:
    """Return 20 points on the outline of an ellipse, given its half axes and its anticlockwise rotation in radians."""
    outline: NDArray[np.complex128] = _CIRCLE.real * width + 1j * (_CIRCLE.imag * height)
    placed: NDArray[np.complex128] = centre + outline * np.exp(1j * turn)
    return placed


def box(corner: complex, opposite: complex) -> list[complex]:
    """Return the four corners of an axis-aligned rectangle."""
    a, b = corner, opposite
    return [a, complex(b.real, a.imag), b, complex(a.real, b.imag)]


def canvas(wall: Colour, wider: float = 0.0) -> Image.Image:
    """Return an empty picture at three times the final resolution, `wider` final pixels wider than a frame."""
    return Image.new("RGBX", (round((WIDTH + wider) * OVERSAMPLING), HEIGHT * OVERSAMPLING), (*wall, 0))


def finish(picture: Image.Image) -> NDArray[np.uint8]:
    """Scale a painted picture down to its final size, a uint8 RGB array of shape (240, 320, 3)."""
    return np.ascontiguousarray(np.asarray(picture.reduce(OVERSAMPLING))[..., :3])


def objects_in(picture: Image.Image) -> NDArray[np.uint8]:
    """Return the number of the object in the centre of each final pixel, uint8 of shape (240, 320)."""
    return np.asarray(picture.resize((WIDTH, HEIGHT), Image.Resampling.NEAREST))[..., 3]


@dataclass(frozen=True)
class Brush:
    """A brush that draws on one picture from one position on the floor.

    Attributes:
        picture: A picture from `canvas`.
        x: Pixel column of the position.
        facing: 1 for right, -1 for left, values in between for directions toward the viewer.
        origin: Origin of the brush's coordinates.
        tilt: Complex number of magnitude 1, the rotation about the origin.
        floor: Pixel row of height 0.
        scale: Size of everything that is drawn, 1 in the built-in samples.
        thing: Number of the object that is drawn.
    """

    picture: Image.Image
    x: float = 0.0
    facing: float = 1.0
    origin: complex = 0j
    tilt: complex = 1 + 0j
    floor: float = FLOOR_Y
    scale: float = 1.0
    thing: int = 0

    def of(self, thing: str) -> Brush:
        """Return a copy that draws an object of `OBJECTS`."""
        return replace(self, thing=_NUMBERS[thing])

    def moved(self, forward: float, turn: float) -> Brush:
        """Return a copy moved forward by a number of pixels, with the direction multiplied by `turn`."""
        return replace(self, x=self.x + self.facing * forward * self.scale, facing=self.facing * turn)

    def at(self, origin: complex, turn: float = 0.0) -> Brush:
        """Return a copy with another origin, rotated backward by `turn` radians."""
        tilt = self.tilt * cmath.exp(1j * turn)
        return replace(self, origin=self.origin + origin * self.tilt, tilt=tilt)

    def fill(self, outline: Points, colour: Colour) -> None:
        """Fill a polygon."""
        self._draw.polygon(self._pixels(outline), (*colour, self.thing))

    def line(self, points: Points, colour: Colour, width: float) -> None:
        """Draw an open line with round ends through the points. `width` is in pixels."""
        pixels, thickness = self._pixels(points), max(1, round(width * self.scale * OVERSAMPLING))
        self._draw.line(pixels, (*colour, self.thing), thickness)
        for x, y in pixels:
            self._round(x, y, thickness / 2, colour)

    def disc(self, centre: complex, radius: float, colour: Colour) -> None:
        """Fill a circle."""
        self._round(*self._pixels([centre])[0], radius * self.scale * OVERSAMPLING, colour)

    @cached_property
    def _draw(self) -> ImageDraw.ImageDraw:
        return ImageDraw.Draw(self.picture)

    def _round(self, x: int, y: int, radius: float, colour: Colour) -> None:
        self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), (*colour, self.thing))

    def _pixels(self, points: Points) -> list[tuple[int, int]]:
        placed = [self.origin + point * self.tilt for point in map(complex, points)]  # faster than NumPy for few points
        x, facing, scale, floor = self.x * OVERSAMPLING, self.facing * OVERSAMPLING * self.scale, self.scale, self.floor
        return [(round(x + facing * z.real), round((floor - z.imag * scale) * OVERSAMPLING)) for z in placed]
