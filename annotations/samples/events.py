"""Animate what happens without the person, and the reactions to it: balls that fly in, things that fall or break.

A root event is drawn with a brush at the station of the other person, and hits a target. A thing is drawn like
furniture, and the change of its state is named like the thing.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from functools import partial

from . import room
from .decor import PAINTERS
from .figure import STAND, Body, Pose, mix
from .movements import ACTS, TAU, Act, Change, Moment, ease
from .paint import Brush, Colour, box, oval

HIT, RELEASE = 0.6, 0.34  # of a root event: when the thing is hit, and when something thrown leaves the hands
FAR = 430.0  # pixels to where nobody sees a ball
HAND = 40 + 118j  # where the hand lets something go
SOIL, SHADOW, GINGER = (84, 58, 40), (58, 74, 96), (222, 132, 60)

Root = Callable[[Brush, complex, float], None]
"""Draws a root event, given its target and how much of it has passed."""

TARGETS: Mapping[str, complex] = {
    **{"box": 46 + 138j, "clock": 46 + 150j, "door": 44 + 112j, "fridge": 50 + 96j},
    **{"lamp": 44 + 142j, "picture": 46 + 150j, "plant": 46 + 92j, "vase": 46 + 92j, "window": room.GLASS + 8j},
}
"""Where a thing is hit, relative to its station."""


def _stand(brush: Brush) -> None:
    brush = brush.of("table")
    brush.line([46 + 8j, 46 + 66j], room.DARK_WOOD, 7)
    for height in (10, 70):
        brush.fill(box(26 + (height - 6) * 1j, 66 + height * 1j), room.WOOD)


def _fallen(brush: Brush, home: complex, state: float, turn: float, rest: float) -> Brush:
    """Return a brush at something that falls and turns on its way to the floor."""
    height = home.imag + (rest - home.imag) * state**2
    return brush.at(complex(home.real + 8 * state, height), turn * state)


def _on_the_wall(brush: Brush, state: room.State, name: str, paint: Colour) -> None:
    brush.disc(TARGETS[name] + 12j, 2, room.INK)
    PAINTERS[name](_fallen(brush, TARGETS[name], state[name], 0.5, 24.0).at(-200j), paint)


def _box(brush: Brush, state: room.State) -> None:
    brush.of("shelf").fill(box(20 + 120j, 72 + 126j), room.DARK_WOOD)
    room.carton(_fallen(brush, TARGETS["box"], state["box"], -0.4, 13.0))


def _plant(brush: Brush, state: room.State) -> None:
    _stand(brush)
    spilled = ease(state["plant"], 0.6, 1)
    brush.of("dust").fill(oval(64 + 5j, 26 * spilled + 0.1, 6 * spilled + 0.1), SOIL)
    PAINTERS["plant"](_fallen(brush, 46 + 84j, state["plant"], -1.5, 14.0), room.GREEN)


def _vase(brush: Brush, state: room.State) -> None:
    _stand(brush)
    broken, named = state["vase"], brush.of("vase")
    outline = [46 + x + 70j for x in (-7, -13 + 16j, -5 + 32j, -8 + 40j, 8 + 40j, 5 + 32j, 13 + 16j, 7)]
    if not broken:
        named.fill(outline, room.BLUE)
        named.line([34 + 86j, 58 + 86j], room.WHITE, 3)
    for number, point in enumerate(outline) if broken else ():
        spot = complex(46 + 13 * (number - 3.5) * broken, point.imag * (1 - broken**2) + 6)
        named.at(spot, number + 3 * broken).fill([-8 - 5j, 7 - 6j, 1 + 9j], (room.BLUE, room.WHITE)[number % 3 == 0])


def _cracks(brush: Brush, state: room.State) -> None:
    grown, centre = min(1.0, 3 * state["window"]), TARGETS["window"]
    if not grown:
        return
    for tip in (-26 + 37j, -2 + 37j, 24 + 37j, 36 + 6j, 30 - 34j, 3 - 34j, -22 - 34j, -26 - 2j):
        for paint, width in ((SHADOW, 2.6), (room.WHITE, 1.4)):
            brush.line([centre, centre + grown * tip * (0.5 + 0.15j), centre + grown * tip], paint, width)
    brush.fill([centre + grown * cmath.rect(9 + 6 * (k % 2), TAU * k / 14) for k in range(14)], SHADOW)


THINGS: Mapping[str, room.Painter] = {
    **{"box": _box, "plant": _plant, "vase": _vase, "window": _cracks},
    "clock": partial(_on_the_wall, name="clock", paint=room.RED),
    "picture": partial(_on_the_wall, name="picture", paint=room.BLUE),
}


def _flight(share: float, start: complex, goal: complex, after: complex, rise: float = 0.0) -> complex:
    """Return the position of something that flies from `start` to `goal`, hits it, and drops to `after`."""
    if share < HIT:
        way = share / HIT
        return start + (goal - start) * way + 4j * rise * way * (1 - way)
    way = (share - HIT) / (1 - HIT)
    return goal + (after - goal).real * way + 1j * (after - goal).imag * way * way


def _ball(brush: Brush, target: complex, share: float) -> None:
    spot = _flight(share, FAR + 150j, target, target.real + 90 + 10j, 20)
    ball = brush.of("ball").at(spot, 14 * share)
    ball.disc(0j, 11, room.WHITE)
    for radius in (11, -11):
        ball.fill([cmath.rect(radius, angle / 10) for angle in range(-8, 9)], room.RED)


def _cat(brush: Brush, target: complex, share: float) -> None:
    goal, way = target + 16 - 20j, -1 if share < HIT else 1  # toward the thing, and back
    spot = _flight(share, complex(FAR, goal.imag), goal, complex(FAR, 0))
    height = goal.imag * math.sin(math.pi / 2 * ease(share, 0.35, HIT + 0.1)) if way < 0 else max(spot.imag, 0)
    cat, head = brush.of("cat").at(complex(spot.real, height)), way * 24 + 32j
    cat.line([-way * 18 + 22j, -way * 32 + 30j, -way * 36 + 46j], GINGER, 5)
    for leg in (-14, -8, 9, 15):
        cat.line([leg + 16j, leg + 6 * math.sin(40 * share + leg) + 3j], GINGER, 6)
    cat.fill(oval(20j, 22, 11), GINGER)
    cat.disc(head, 12, GINGER)
    for x in (-7, 6):
        cat.fill([head + x - 4 + 4j, head + x + 4 + 4j, head + x + 17j], GINGER)
        cat.disc(head + x / 2 + 2j, 2, room.INK)
        cat.line([x + 22j, x + 30j], room.DARK_WOOD, 3)


def _gust(brush: Brush, target: complex, share: float) -> None:
    front = FAR + 60 - (FAR + 60 - target.real) * share / HIT
    for number in range(7):
        x, y = front + 34 * (number % 3) - 20, 84 + 17 * number
        wave = [complex(x + 9 * k, y + 5 * math.sin(0.6 * k + 20 * share + number)) for k in range(12)]
        brush.of("wind").line(wave, (238, 246, 255), 3.5)
        leaf = complex(x + 50 * math.sin(3 * number), y + 12 * math.sin(25 * share + 2 * number))
        brush.of("wind").fill(oval(leaf, 7, 3.4, 9 * share + number), (room.GREEN, (206, 126, 44))[number % 2])


def _lightning(brush: Brush, target: complex, share: float) -> None:
    brush, top = brush.of("lightning"), complex(target.real, 205 + 70 * (1 - ease(share, 0, 0.4)) ** 2)
    if share > 0.8:
        top += 400j * (share - 0.8)
    for dx, dy, radius in ((-30, 0, 15), (-12, 8, 19), (12, 8, 20), (31, 0, 15), (0, -2, 19)):
        brush.disc(top + dx + dy * 1j, radius, (92, 98, 116))
    if HIT - 0.08 < share < HIT + 0.12:
        along = [top + (target - top) * k / 4 + (13 if k % 2 else -7) * (0 < k < 4) for k in range(5)]
        brush.line(along, room.YELLOW, 9)
        brush.line(along, room.WHITE, 4)


def _thrown(brush: Brush, target: complex, share: float, paint: Callable[[Brush], None]) -> None:
    if share > RELEASE:
        since = HIT * (share - RELEASE) / (HIT - RELEASE) if share < HIT else share
        paint(brush.at(_flight(since, HAND, target, target.real + 20 + 9j, 45), 9 * min(share, 0.9)))


def _sneeze(brush: Brush, target: complex, share: float) -> None:
    way = (share - RELEASE - 0.02) / (HIT - RELEASE - 0.02)
    mouth = 26 + 112j
    for number in range(9) if 0 < way < 1.15 else ():
        behind = max(way - 0.02 * number, 0.0)
        spot = mouth + (target - mouth) * behind + 10j * math.sin(3 * number) * behind
        brush.of("").disc(spot, 7 - 0.5 * number, (226, 240, 252) if number % 2 else (176, 212, 246))


def _book(brush: Brush) -> None:
    for x, paint in ((-13, room.WHITE), (-8, room.BLUE)):
        brush.of("book").fill(box(x - 11j, 14 + 11j), paint)
    brush.of("book").line([-3 + 4j, 9 + 4j], room.YELLOW, 2.5)


THROWN: Mapping[str, Callable[[Brush], None]] = {"book": _book, "pillow": room.pillow}
ROOTS: Mapping[str, Root] = {
    **{"ball": _ball, "cat": _cat, "gust": _gust, "lightning": _lightning, "sneeze": _sneeze},
    **{name: partial(_thrown, paint=paint) for name, paint in THROWN.items()},
}


def _throw(moment: Moment) -> Pose:
    low = Pose(near=24 + 84j, far=28 + 86j, nod=0.1)
    back = Pose(near=-14 + 128j, far=4 + 124j, lean=-0.22, far_foot=14 + 4j)
    loose = Pose(near=HAND, far=34 + 98j, lean=0.24, far_foot=16 + 4j, near_foot=-12 + 4j)
    return moment.through((0.1, low), (0.24, back), (RELEASE, loose), (0.5, loose))


def _hold_thrown(moment: Moment, here: Brush, body: Body, paint: Callable[[Brush], None]) -> None:
    if 0.08 < moment.share <= RELEASE:
        paint(body.brush.at(body.hand("near") + 4 + 4j))


def _jump(moment: Moment) -> Pose:
    lift = 30j * abs(math.sin(TAU * moment.share * 1.5)) * moment.hold(0.0, 0.06, 0.94, 1.0)
    up = Pose(hip=66j + lift, near=-12 + 150j + lift, far=26 + 152j + lift, turn=0.7, mouth=1.0)
    up = up._replace(near_foot=-14 + 4j + lift, far_foot=16 + 4j + lift)
    return mix(STAND, up, moment.hold(0.0, 0.08, 0.9, 1.0))


def _stay(moment: Moment, pose: Pose) -> Pose:
    return moment.through((0.12, pose), (0.87, pose))


COVER = Pose(turn=0.7, lean=-0.1, nod=0.16, near=8 + 128j, far=17 + 128j, near_foot=-10 + 4j)
CROUCH = Pose(hip=-12 + 28j, lean=0.7, nod=0.5, near=24 + 88j, far=30 + 84j, near_foot=-8 + 4j, far_foot=8 + 4j)
REACTIONS: Mapping[str, Callable[[Moment], Pose]] = {
    "cover": partial(_stay, pose=COVER),
    "crouch": partial(_stay, pose=CROUCH),
    "jump": _jump,
}
STILL = partial(_stay, pose=STAND)
ACTIONS: Mapping[str, Act] = {
    **ACTS,
    **{name: Act(name, STILL, (Change(name, 0.0, 1.0, 1.0),)) for name in TARGETS},
    "lamp": Act("lamp", STILL, (Change("light", 0.0, 0.1, 0.0),)),
    **{root: Act("", STILL) for root in ROOTS},
    **{name: Act("", _throw, (), partial(_hold_thrown, paint=paint)) for name, paint in THROWN.items()},
    "sneeze": ACTS["c153"],
    **{name: Act("", move) for name, move in REACTIONS.items()},
}
"""All actions and events by name: `ACTS`, and those of `causes.yaml`. A root is also what the other person does."""
