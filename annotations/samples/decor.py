"""Draw what decorates a wall, and what stands in front of everything, in a given colour.

Points are relative to a column of the floor; `LEFT` and `RIGHT` are the columns that a camera can show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .paint import Brush, Colour, blend, box, oval

LEFT, RIGHT, TOP = -100, 420, 330
SKIRTING = 48
DARK, PALE = (52, 44, 44), (252, 250, 244)


def _stripes(brush: Brush, colour: Colour) -> None:
    for x in range(LEFT, RIGHT, 26):
        brush.fill(box(x + SKIRTING * 1j, x + 12 + TOP * 1j), colour)


def _dots(brush: Brush, colour: Colour) -> None:
    for row, y in enumerate(range(SKIRTING + 16, TOP, 22)):
        for x in range(LEFT + 13 * (row % 2), RIGHT, 26):
            brush.disc(complex(x, y), 3.2, colour)


def _tiles(brush: Brush, colour: Colour) -> None:
    for x in range(LEFT, RIGHT, 20):
        brush.line([x + SKIRTING * 1j, x + TOP * 1j], colour, 1.2)
    for y in range(SKIRTING, TOP, 20):
        brush.line([LEFT + y * 1j, RIGHT + y * 1j], colour, 1.2)


def _panels(brush: Brush, colour: Colour) -> None:
    brush.fill(box(LEFT + SKIRTING * 1j, RIGHT + 108j), colour)
    brush.line([LEFT + 108j, RIGHT + 108j], blend(colour, PALE, 0.5), 4)
    for x in range(LEFT, RIGHT, 34):
        brush.line([x + 52j, x + 104j], blend(colour, DARK, 0.2), 1.2)


def _bricks(brush: Brush, colour: Colour) -> None:
    for row, y in enumerate(range(SKIRTING, TOP, 14)):
        brush.line([LEFT + y * 1j, RIGHT + y * 1j], colour, 1.2)
        for x in range(LEFT + 15 * (row % 2), RIGHT, 30):
            brush.line([x + y * 1j, x + (y + 14) * 1j], colour, 1.2)


def _zigzag(brush: Brush, colour: Colour) -> None:
    for y in range(SKIRTING + 14, TOP, 30):
        brush.line([x + (y + 9 * (n % 2)) * 1j for n, x in enumerate(range(LEFT, RIGHT, 12))], colour, 2)


def _picture(brush: Brush, colour: Colour) -> None:
    brush = brush.of("painting")
    brush.fill(box(-26 + 178j, 26 + 218j), (140, 98, 60))
    brush.fill(box(-22 + 182j, 22 + 214j), PALE)
    brush.fill([-22 + 182j, -8 + 204j, 2 + 190j, 10 + 199j, 22 + 182j], colour)
    brush.disc(13 + 207j, 4, (244, 196, 80))


def _clock(brush: Brush, colour: Colour) -> None:
    brush = brush.of("clock")
    brush.disc(200j, 17, colour)
    brush.disc(200j, 13.5, PALE)
    brush.line([200j, 210j], DARK, 2)
    brush.line([200j, 7 + 197j], DARK, 2)


def _curtain(brush: Brush, colour: Colour) -> None:
    brush = brush.of("curtain")
    brush.fill([-17 + 232j, 17 + 232j, 12 + 150j, 19 + 54j, -19 + 54j, -12 + 150j], colour)
    for x in (-9, 0, 9):
        brush.line([x + 228j, 0.7 * x + 150j, 1.1 * x + 58j], blend(colour, DARK, 0.25), 1.4)
    brush.line([-15 + 150j, 15 + 150j], blend(colour, DARK, 0.4), 4)


def _plant(brush: Brush, colour: Colour) -> None:
    brush = brush.of("plant").at(-24j)  # close to the camera
    for angle in (-34, -18, -4, 10, 24, 38):
        brush.fill(oval(complex(0.55 * angle, 44 - 0.3 * abs(angle)), 4.5, 22, -angle / 60), colour)
    brush.fill([-11 + 20j, 11 + 20j, 8 - 14j, -8 - 14j], (196, 106, 66))
    brush.line([-12 + 20j, 12 + 20j], (170, 86, 52), 4)


def _column(brush: Brush, colour: Colour) -> None:
    brush = brush.of("column")
    brush.fill(box(-5 - 40j, 5 + TOP * 1j), colour)
    brush.fill(box(-5 - 40j, -3 + TOP * 1j), blend(colour, PALE, 0.5))
    brush.fill(box(2 - 40j, 5 + TOP * 1j), blend(colour, DARK, 0.25))


PAINTERS: Mapping[str, Callable[[Brush, Colour], None]] = {
    **{"stripes": _stripes, "dots": _dots, "tiles": _tiles, "panels": _panels, "bricks": _bricks, "zigzag": _zigzag},
    **{"picture": _picture, "clock": _clock, "curtain": _curtain, "plant": _plant, "column": _column},
}
