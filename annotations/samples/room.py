"""Draw the rooms: furniture, and objects that open, light up, disappear or move.

Furniture is drawn as seen by a person who faces it; points are `forward + height * 1j` in pixels. `state` holds the
change of each object, from 0 to 1 (see `stage.state_at`).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping

from .paint import WIDTH, Brush, Colour, blend, box, oval

State = Mapping[str, float]
Painter = Callable[[Brush, State], None]


class Things(dict[str, float]):
    """A dictionary of the changes of objects, which default to 0."""

    def __missing__(self, thing: str) -> float:
        return 0.0


WALL_FOOT = 42.0
WOOD, DARK_WOOD, PALE_WOOD = (176, 122, 74), (126, 82, 48), (214, 170, 118)
WHITE, STEEL, INK = (250, 250, 248), (176, 184, 192), (52, 52, 62)
RED, YELLOW, GREEN, BLUE = (206, 60, 54), (240, 190, 60), (88, 160, 84), (72, 122, 196)
DUST = (96, 84, 66)

BOOK_COLOURS = (RED, YELLOW)
DOOR_HINGE, DOOR_WIDTH = 66.0, 42.0
FRIDGE_HINGE, FRIDGE_WIDTH = 74.0, 48.0
SIDE_TABLE_TOP, SHELF_TOP = 58.0, 120.0
BED_TOP = 46.0
SASH_HINGE, SASH_WIDTH = 81.0, 32.0
GLASS = 44 + 117j  # centre of the window and the mirror
CORD = 27 + 104j
POWER = 26 + 47.5j  # button of the television


def shell(brush: Brush, wall: Colour, floor: Colour, margin: float = 0.0) -> None:
    """Draw the wall, skirting board and floor, `margin` pixels wider than a picture on both sides."""
    left, right = -margin, WIDTH + margin
    brush.fill(box(left - 20 - 40j, right + 20 + WALL_FOOT * 1j), floor)
    for depth in (30, 16, -1):
        brush.line([left + depth * 1j, right + depth * 1j], blend(floor, INK, 0.08), 1)
    brush.fill(box(left + WALL_FOOT * 1j, right + (WALL_FOOT + 6) * 1j), blend(wall, WHITE, 0.55))
    brush.line([left + WALL_FOOT * 1j, right + WALL_FOOT * 1j], blend(floor, INK, 0.35), 1)


def swung(hinge: float, width: float, opened: float) -> tuple[float, float]:
    """Return how far forward the free edge of a swinging door is, and how much taller it appears."""
    angle = opened * math.radians(78)
    return hinge - width * math.cos(angle), 11 * math.sin(angle)


def door_knob(opened: float) -> complex:
    """Return the position of the door knob. `opened` is 0 for a closed and 1 for an open door."""
    edge, _ = swung(DOOR_HINGE, DOOR_WIDTH, opened)
    return edge + (DOOR_HINGE - edge) * 0.12 + 98j


def fridge_grip(opened: float) -> complex:
    """Return the position of the refrigerator handle. `opened` is 0 for a closed and 1 for an open door."""
    edge, _ = swung(FRIDGE_HINGE, FRIDGE_WIDTH, opened)
    return edge + (FRIDGE_HINGE - edge) * 0.1 + 92j


def _door_frame(brush: Brush, _: State) -> None:  # with the bright hallway behind
    brush.fill(box(18 + 40j, 70 + 174j), DARK_WOOD)
    brush.fill(box(22 + 41j, 66 + 170j), (252, 240, 190))
    brush.fill([22 + 41j, 66 + 41j, 58 + 66j, 30 + 66j], (216, 176, 120))
    brush.fill(box(30 + 66j, 58 + 150j), (255, 250, 222))
    brush.fill(box(38 + 96j, 50 + 118j), (150, 196, 160))


def _door_leaf(brush: Brush, state: State) -> None:
    edge, nearer = swung(DOOR_HINGE, DOOR_WIDTH, state["door"])
    across = DOOR_HINGE - edge

    def at(share: float, height: float) -> complex:
        grown = (1 - share) * nearer * (height - 105) / 65
        return edge + share * across + (height + grown) * 1j

    def panel(a: float, b: float, low: float, high: float, colour: Colour) -> None:
        brush.fill([at(a, low), at(b, low), at(b, high), at(a, high)], colour)

    panel(0, 1, 41, 169, blend((186, 96, 62), INK, 0.15 * state["door"]))
    for low, high in ((50, 84), (108, 160)):
        panel(0.18, 0.84, low, high, (160, 76, 48))
    brush.line([at(0, 41), at(0, 169)], (140, 66, 42), 2)
    brush.disc(door_knob(state["door"]), 3.4, YELLOW)


def _fridge(brush: Brush, state: State) -> None:
    opened = state["fridge"]
    body = (206, 220, 226)
    brush.fill(box(24 + 14j, 78 + 150j), blend(body, INK, 0.25))
    brush.fill(box(26 + 18j, 76 + 148j), body)
    brush.fill(box(27 + 122j, 75 + 146j), blend(body, WHITE, 0.4))
    brush.line([31 + 126j, 31 + 136j], STEEL, 2.5)
    if opened > 0:
        brush.fill(box(27 + 20j, 75 + 119j), (255, 250, 205))
        for level in (46, 70, 94):
            brush.line([28 + level * 1j, 74 + level * 1j], (190, 206, 214), 2)
        food = brush.of("stored food")
        food.fill(box(34 + 71j, 42 + 88j), WHITE)
        food.fill(box(34 + 82j, 42 + 88j), BLUE)
        food.disc(53 + 76j, 6, RED)
        food.disc(64 + 76j, 6, (240, 150, 40))
        food.fill([34 + 95j, 56 + 95j, 50 + 106j], YELLOW)
        food.fill(box(60 + 95j, 68 + 110j), GREEN)
        food.fill(box(34 + 47j, 54 + 58j), (222, 130, 110))
        food.disc(64 + 53j, 7, GREEN)
        food.fill(box(31 + 22j, 71 + 38j), (170, 210, 160))
    edge, nearer = swung(FRIDGE_HINGE, FRIDGE_WIDTH, opened)
    low, high = 19 - nearer, 120 + nearer * 0.4
    leaf = [complex(FRIDGE_HINGE, 19), complex(edge, low), complex(edge, high), complex(FRIDGE_HINGE, 120)]
    brush.fill(leaf, blend(body, WHITE, 0.4 - 0.3 * opened))
    brush.line([*leaf, leaf[0]], STEEL, 1)
    grip = fridge_grip(opened)
    brush.line([grip - 12j, grip + 10j], (120, 130, 140), 3)


def _legs(brush: Brush, left: float, right: float, top: float, colour: Colour) -> None:
    for x in (left, right):
        brush.line([x - 2j, x + top * 1j], blend(colour, INK, 0.2), 4)


def _table(brush: Brush, state: State) -> None:
    _legs(brush, 24, 74, 60, WOOD)
    brush.fill(box(17 + 58j, 81 + 65j), WOOD)
    brush.line([17 + 65j, 81 + 65j], PALE_WOOD, 2)
    apples = 3 - round(state["apple"] > 0) - round(state["snack"] > 0)
    for spot in (61 + 75j, 53 + 74j, 68 + 74j)[:apples]:
        apple(brush.at(spot))
    brush.of("bowl").fill([46 + 74j, 76 + 74j, 69 + 65j, 53 + 65j], BLUE)
    if not state["cup"]:
        cup(brush.at(29 + 72j))


def apple(brush: Brush, bitten: float = 0.0) -> None:
    """Draw an apple at the origin. `bitten` is the fraction of its front that has been eaten."""
    brush = brush.of("food")
    brush.disc(0j, 6, RED)
    brush.line([6j, 1 + 9j], DARK_WOOD, 1.5)
    brush.fill(oval(4 + 8j, 3, 1.5, 0.4), GREEN)
    if bitten > 0:
        for y in (-2.4, 2.4):
            brush.disc(complex(-7 + 4 * bitten, y), 3.2, (252, 240, 200))


def cup(brush: Brush) -> None:
    """Draw a blue cup at the origin."""
    brush = brush.of("cup")
    brush.line([-4 + 3j, -9 + 3j, -9 - 3j, -4 - 3j], (40, 90, 170), 2)
    brush.fill([-5 + 7j, 5 + 7j, 4 - 7j, -4 - 7j], (64, 130, 220))
    brush.line([-5 + 7j, 5 + 7j], WHITE, 2)


def _desk(brush: Brush, _: State) -> None:
    _chair(brush.of("desk chair"), INK)
    _legs(brush, 26, 86, 58, DARK_WOOD)
    brush.fill(box(20 + 57j, 92 + 63j), DARK_WOOD)
    brush.line([20 + 63j, 92 + 63j], WOOD, 2)
    brush.fill(box(74 + 64j, 84 + 76j), GREEN)
    for lean in (-3, 1, 4):
        brush.line([79 + 74j, 79 + lean + 90j], (232, 178, 60), 1.8)


def _laptop(brush: Brush, state: State) -> None:
    brush = brush.of("laptop")
    hinge, angle = 56 + 65j, state["laptop"] * math.radians(112)
    lid = 27 * cmath.exp(1j * (math.pi - angle))
    slant = 9 * math.sin(angle) + 0j
    brush.fill([hinge - 26, hinge + 2, hinge + 2 + 3j, hinge - 26 + 3j], STEEL)
    if state["laptop"] > 0:
        quad = [hinge + 2j, hinge + slant + 3j, hinge + slant + lid + 4j, hinge + lid + 2j]
        brush.fill(quad, INK)
        inner = [quad[0] + (corner - quad[0]) * 0.8 + lid * 0.1 + slant * 0.12 for corner in quad]
        brush.fill(inner, (120, 226, 250))
    else:
        brush.line([hinge - 25 + 4j, hinge + 4j], INK, 2)


def _chair(brush: Brush, colour: Colour) -> None:
    _legs(brush, -41, -4, 38, colour)
    brush.line([-44 + 40j, -49 + 96j], blend(colour, INK, 0.15), 6)
    brush.fill(box(-46 + 34j, 41j), colour)


def _red_chair(brush: Brush, _: State) -> None:
    _chair(brush, RED)


def _bookcase(brush: Brush, _: State) -> None:
    brush.fill(box(32 + 20j, 92 + SHELF_TOP * 1j), DARK_WOOD)
    for level in (26, 56, 86):
        brush.fill(box(36 + level * 1j, 88 + (level + 27) * 1j), (92, 58, 34))
    spines = [(4, BLUE), (5, GREEN), (3, WHITE), (5, (150, 90, 160)), (4, BLUE), (5, (220, 140, 60))]
    for level, x in ((26, 60.0), (56, 62.0), (86, 64.0)):
        for number, (width, colour) in enumerate(spines):
            tall = 19 + 3 * ((number * 7 + level) % 3)
            if x + width < 88:
                brush.fill(box(x + level * 1j, x + width + (level + tall) * 1j), colour)
            x += width + 0.6
    table = brush.of("side table")
    for x in (22, 50):
        table.line([x - 2j, x + 55j], DARK_WOOD, 3.5)
    table.fill(box(16 + 53j, 56 + SIDE_TABLE_TOP * 1j), PALE_WOOD)


def _shelf_things(brush: Brush, state: State) -> None:
    for number, colour in enumerate(BOOK_COLOURS):
        moved = state[f"book{number}"]
        if moved == 0 and not state["reading"] and "box" not in state:
            closed_book(brush.at(30 + number + (SIDE_TABLE_TOP + 3 + 6 * (1 - number)) * 1j), colour)
        elif moved == 1:
            closed_book(brush.at(slot(number), math.pi / 2), colour)
    if state["box"] == 0:
        carton(brush.at(54 + (SHELF_TOP + 12) * 1j))
    elif state["box"] == 1:
        carton(brush.at(36 + (SIDE_TABLE_TOP + 12) * 1j))


def slot(number: int) -> complex:
    """Return the position of the book with this number in the bookcase."""
    return 42 + 8 * number + 98j


def closed_book(brush: Brush, colour: Colour) -> None:
    """Draw a closed book lying at the origin."""
    brush = brush.of("book")
    brush.fill(box(-12 - 3j, 12 + 3j), colour)
    brush.line([-9 + 0j, 11.5 + 0j], WHITE, 2)


def open_book(brush: Brush, leaf: float) -> None:
    """Draw an open book at the origin. `leaf` tells how far the page has been turned, from 0 to 1."""
    brush = brush.of("book")
    brush.fill([-16 + 10j, 0j - 2, 17 + 10j, 15 - 9j, 0 - 14j, -15 - 9j], RED)
    for way in (-1, 1):
        brush.fill([0j, way * 14 + 9j, way * 13 - 7j, -11j], WHITE)
        for row in (1, 5, 9):
            brush.line([way * 3 - row * 1j, way * 11 + (6 - row) * 1j], (150, 150, 160), 1)
    tip = 14 * math.cos(math.pi * leaf) + (9 + 7 * math.sin(math.pi * leaf)) * 1j
    brush.fill([0j, tip, tip - 15j, -11j], (236, 236, 226))


def carton(brush: Brush) -> None:
    """Draw a cardboard box at the origin."""
    brush = brush.of("box")
    brush.fill(box(-15 - 12j, 15 + 12j), (206, 160, 100))
    brush.fill(box(-15 + 6j, 15 + 12j), (224, 182, 124))
    brush.fill(box(-3 - 12j, 3 + 12j), (184, 134, 76))
    brush.line([*box(-15 - 12j, 15 + 12j), -15 - 12j], (140, 98, 54), 1)


def _window(brush: Brush, _: State) -> None:
    brush.fill(box(14 + 84j, 84 + 166j), WHITE)
    brush.fill(box(18 + 90j, 80 + 162j), (150, 208, 246))
    brush.disc(68 + 150j, 7, (255, 226, 110))
    brush.fill([18 + 90j, 18 + 106j, 36 + 114j, 56 + 104j, 80 + 112j, 80 + 90j], (122, 184, 104))
    brush.line([49 + 90j, 49 + 162j], WHITE, 3)
    brush.fill(box(10 + 82j, 88 + 87j), (226, 226, 220))


def _mirror(brush: Brush, _: State) -> None:
    brush.fill(oval(GLASS, 27, 39), (214, 164, 60))
    brush.fill(oval(GLASS, 23, 35), (196, 226, 236))
    for shift in (0, 8):
        brush.line([GLASS - 12 + shift - 4j, GLASS + 2 + shift + 18j], (226, 244, 250), 3)
    table = brush.of("dressing table")
    table.fill(box(22 + 66j, 70 + 72j), WOOD)
    _legs(table, 27, 65, 66, WOOD)


def sash_knob(opened: float) -> complex:
    """Return the position of the window's handle. `opened` is 0 for a closed and 1 for an open window."""
    return swung(SASH_HINGE, SASH_WIDTH, opened)[0] + 3 + 112j


def _window_things(brush: Brush, state: State) -> None:
    if "sash" in state:
        edge, nearer = swung(SASH_HINGE, SASH_WIDTH, state["sash"])
        brush.fill(box(49 + 90j, 80 + 162j), (94, 164, 226))
        brush.disc(68 + 150j, 7, YELLOW)
        brush.fill([49 + 90j, 49 + 108j, 56 + 104j, 80 + 112j, 80 + 90j], (74, 140, 66))
        leaf = [SASH_HINGE + 91j, edge + (91 - nearer) * 1j, edge + (161 + nearer) * 1j, SASH_HINGE + 161j]
        brush.fill(leaf, (190, 226, 246))
        brush.line([*leaf, leaf[0]], blend(WHITE, INK, 0.12 + 0.15 * state["sash"]), 4)
        brush.disc(sash_knob(state["sash"]), 3, INK)
    if not state["cloth"]:
        cloth(brush.at(28 + 89j), YELLOW)


def _mirror_things(brush: Brush, state: State) -> None:
    if not state["rag"]:
        cloth(brush.at(32 + 75j), YELLOW)
    if not state["comb"]:
        comb(brush.at(46 + 74j))


def cloth(brush: Brush, colour: Colour) -> None:
    """Draw a crumpled cloth at the origin."""
    brush = brush.of("towel")
    brush.fill([-9 - 5j, -7 + 5j, 1 + 8j, 9 + 5j, 10 - 4j, 2 - 7j], colour)
    brush.line([-4 - 1j, 2 + 1j, 5 - 1j], blend(colour, INK, 0.3), 1)


def comb(brush: Brush) -> None:
    """Draw a comb at the origin, with its teeth pointing down."""
    brush = brush.of("comb")
    brush.line([-9 + 0j, 9 + 0j], (160, 40, 120), 3)
    for x in range(-7, 9, 3):
        brush.line([x + 0j, x - 5j], (160, 40, 120), 1)


def _lamp(brush: Brush, state: State) -> None:
    light = state["light"]
    brush.line([44 + 8j, 44 + 140j], INK, 3)
    brush.fill(oval(44 + 7j, 15, 4), INK)
    pull = 7j * math.sin(math.pi * min(1.0, state["pull"]))
    brush.line([27 + 128j, CORD - pull], INK, 1.2)
    brush.disc(CORD - pull, 2.8, RED)
    brush.fill([18 + 126j, 70 + 126j, 58 + 160j, 30 + 160j], blend((150, 130, 110), (255, 236, 140), light))
    if light > 0:
        brush.fill([24 + 129j, 64 + 129j, 55 + 157j, 33 + 157j], (255, 250, 214))


def lamp_halo(brush: Brush, wall: Colour, strength: float) -> None:
    """Draw the glow that the lamp casts on the wall. `strength` is from 0 to 1."""
    for radius, glow in ((50, (250, 234, 196)), (38, (255, 242, 206))):
        brush.disc(44 + 140j, radius, blend(wall, glow, strength))


def _broom_corner(brush: Brush, state: State) -> None:
    hook = brush.of("")
    hook.fill(box(10 + 146j, 32 + 152j), DARK_WOOD)
    hook.disc(20 + 149j, 3, WOOD)
    if not state["broom"]:
        broom(brush, 20 + 152j, 20 + 46j)
    swept = state["dust"]
    for number in range(9):
        home = 36 + 6.5 * number + (5 + 5 * (number * 5 % 4)) * 1j
        goal = 100 + 3 * (number % 5) + (4 + 3.5 * (number // 3)) * 1j
        share = min(max(1.8 * swept - 0.08 * number, 0.0), 1.0)
        spot = oval(home + (goal - home) * share, 4.2 - number % 2, 2.6, number + 4 * share)
        brush.of("dust").fill(spot, (DUST, (238, 236, 224), (150, 120, 70))[number % 3])


def broom(brush: Brush, top: complex, foot: complex) -> None:
    """Draw a broom between two points."""
    brush = brush.of("broom")
    along = (foot - top) / abs(foot - top)
    side = along * 1j
    neck = foot - 15 * along
    brush.line([top, neck], (222, 160, 70), 3.2)
    brush.fill([neck - 4 * side, neck + 4 * side, foot + 11 * side, foot - 11 * side], YELLOW)
    brush.line([neck - 5 * side, neck + 5 * side], RED, 3)
    for offset in (-5, 0, 5):
        brush.line([neck + offset / 2 * side + 3 * along, foot + offset * side], (190, 140, 30), 1)


def _sofa(brush: Brush, _: State) -> None:
    cover = (92, 134, 158)
    brush.fill(box(-78 + 20j, 80 + 86j), blend(cover, INK, 0.18))
    brush.line([-78 + 82j, 80 + 82j], blend(cover, INK, 0.18), 12)
    brush.fill(box(-72 + 14j, 76 + 36j), blend(cover, INK, 0.3))
    for left in (-70, 4):
        brush.line([left + 6 + 40j, left + 64 + 40j], cover, 12)
    for x in (-78, 82):
        brush.line([x + 22j, x + 60j], blend(cover, WHITE, 0.12), 14)


def _bed(brush: Brush, _: State) -> None:
    brush = brush.of("bed")
    # the head end is behind the person
    brush.line([-80 + 10j, -80 + 92j], DARK_WOOD, 7)
    brush.line([82 + 10j, 82 + 58j], DARK_WOOD, 7)
    brush.fill(box(-80 + 14j, 82 + 30j), WOOD)
    brush.line([-72 + 37j, 74 + 37j], WHITE, 15)
    brush.of("bedspread").fill(box(4 + 29j, 79 + 46j), (124, 106, 178))
    brush.of("bed pillow").fill(oval(-56 + 51j, 18, 8), (232, 236, 246))


def _pillow_things(brush: Brush, state: State) -> None:
    if state["pillow"] == 0:
        pillow(brush.at(46 + 57j, 0.25))
    elif state["pillow"] == 1:
        pillow(brush.at(-126 + 8j))


def pillow(brush: Brush) -> None:
    """Draw a pillow at the origin."""
    brush = brush.of("pillow")
    brush.fill([-19 - 10j, -16 + 0j, -19 + 11j, 9j, 19 + 11j, 16 + 0j, 19 - 10j, -9j], (240, 150, 60))
    brush.fill(oval(0j, 9, 5), (250, 196, 120))


def _blanket_things(brush: Brush, state: State) -> None:
    brush = brush.of("blanket")
    top = BED_TOP
    if state["blanket"] == 0:
        heap = [18 + top * 1j, 20 + (top + 12) * 1j, 32 + (top + 19) * 1j, 42 + (top + 10) * 1j]
        brush.fill([*heap, 54 + (top + 17) * 1j, 64 + (top + 8) * 1j, 70 + top * 1j, 58 + 30j, 30 + 34j], GREEN)
        brush.line([26 + (top + 4) * 1j, 34 + (top + 12) * 1j, 40 + (top + 2) * 1j], (60, 120, 60), 1.5)
    elif state["blanket"] == 1:
        for level in range(3):
            brush.line([26 + (top + 3 + 5 * level) * 1j, 52 + (top + 3 + 5 * level) * 1j], GREEN, 5)
            brush.line([26 + (top + 1 + 5 * level) * 1j, 52 + (top + 1 + 5 * level) * 1j], (60, 120, 60), 1)


def _rug(brush: Brush, _: State) -> None:  # on which actions without furniture are performed
    brush = brush.of("rug")
    brush.fill(oval(10 + 2j, 52, 13), (196, 110, 96))
    brush.fill(oval(10 + 2j, 40, 9), (232, 180, 150))


def _television(brush: Brush, state: State) -> None:
    brush.of("television table").fill(box(24 - 2j, 84 + 38j), DARK_WOOD)
    for left in (28, 56):
        brush.of("television table").fill(box(left + 4j, left + 24 + 32j), WOOD)
    brush.line([54 + 38j, 54 + 46j], INK, 16)
    brush.fill(box(22 + 44j, 86 + 98j), INK)
    brush.disc(POWER, 2.2, RED)
    scene, screen = 3 * state["show"], box(26 + 51j, 82 + 94j)
    if not state["television"]:
        brush.fill(screen, (74, 78, 92))
        return
    brush.fill(screen, ((120, 200, 250), (250, 180, 110))[int(scene) % 2])
    brush.fill(box(26 + 51j, 82 + 62j), GREEN)
    brush.disc(74 + 86j, 5, YELLOW)
    runner = 31 + 30 * (scene % 1) + (71 + 4 * abs(math.sin(12 * scene))) * 1j  # a dog
    brush.line([runner, runner + 13], DARK_WOOD, 7)
    brush.disc(runner + 17 + 5j, 5, DARK_WOOD)
    for leg in (0, 12):
        brush.line([runner + leg, runner + leg + 5 * math.sin(24 * scene + leg) - 9j], DARK_WOOD, 2.5)


NAMES = {"fridge": "refrigerator", "lamp": "light", "floor": ""}  # of furniture whose object has another name
STANDING: dict[str, Painter] = {  # these parts never change
    **{"door": _door_frame, "desk": _desk, "chair": _red_chair, "shelf": _bookcase},
    **{"window": _window, "mirror": _mirror, "rug": _rug},
}
CHANGING: dict[str, Painter] = {
    **{"door": _door_leaf, "fridge": _fridge, "table": _table, "desk": _laptop, "shelf": _shelf_things},
    **{"window": _window_things, "mirror": _mirror_things, "lamp": _lamp, "broom": _broom_corner},
    **{"sofa": _sofa, "bed": _bed, "blanket": _blanket_things, "pillow": _pillow_things, "television": _television},
}
