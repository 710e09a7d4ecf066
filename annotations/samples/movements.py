"""Animate actions: how the person moves, which objects are held, and what changes in the room.

Points are complex numbers, `forward + height * 1j` in pixels, relative to the spot where the person performs the
action. A `_hold_…` function draws what the hands hold.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from . import room
from .figure import STAND, Body, Pose, mix, phone
from .paint import Brush

TAU = 2 * math.pi
IN_HAND = frozenset(
    ("apple", "blanket", "book0", "book1", "box", "broom", "cloth", "comb", "cup", "phone", "pillow", "rag")
) | {"reading", "snack"}  # objects that are held while their state changes
LET_GO = {"pillow": 0.53}  # fraction of the action at which an object leaves the hands before it comes to rest
POCKET = 2 + 62j


@dataclass(frozen=True)
class Moment:
    """An instant of an action: seconds since its start, its duration in seconds, and the state of the room."""

    u: float
    duration: float
    state: room.State

    @property
    def share(self) -> float:
        """Return how much of the action has passed, from 0 to 1."""
        return self.u / self.duration

    def swing(self, period: float) -> float:
        """Return a sine wave of the given period in seconds."""
        return math.sin(TAU * self.u / period)

    def hold(self, rise: float, risen: float, fall: float, fallen: float) -> float:
        """Rise smoothly from 0 to 1 and fall back to 0. All four times are fractions of the action."""
        return ease(self.share, rise, risen) * (1 - ease(self.share, fall, fallen))

    def through(self, *stops: tuple[float, Pose]) -> Pose:
        """Interpolate between poses at the given fractions of the action, starting and ending in STAND."""
        stops = ((0.0, STAND), *stops, (1.0, STAND))
        for (start, pose), (end, following) in pairwise(stops):
            if self.share < end:
                return mix(pose, following, ease(self.share, start, end))
        return STAND

    def visit(self, reach: Pose, work: Pose) -> Pose:
        """Reach for an object, work with it, and put it back."""
        return self.through((0.13, reach), (0.25, work), (0.76, work), (0.88, reach))


class Change(NamedTuple):
    """A change in the state of an object to `value`, between two fractions of an action."""

    thing: str
    begin: float
    end: float
    value: float


class Act(NamedTuple):
    """How an action is performed: at which furniture, with which movement, and what changes or is held."""

    furniture: str
    move: Callable[[Moment], Pose]
    changes: tuple[Change, ...] = ()
    hold: Callable[[Moment, Brush, Body], None] | None = None


def ease(x: float, start: float, end: float) -> float:
    """Return 0 before `start`, 1 after `end`, and a smooth transition in between."""
    x = min(max((x - start) / (end - start), 0.0), 1.0) if end > start else float(x >= end)
    return x * x * (3 - 2 * x)


def _open_door(moment: Moment) -> Pose:
    return _swing_leaf(moment, moment.state["door"], room.door_knob(moment.state["door"]))


def _open_window(moment: Moment) -> Pose:
    return _swing_leaf(moment, moment.state["sash"], room.sash_knob(moment.state["sash"]))


def _open_fridge(moment: Moment) -> Pose:
    return _swing_leaf(moment, moment.state["fridge"], room.fridge_grip(moment.state["fridge"]))


def _swing_leaf(moment: Moment, opened: float, grip: complex) -> Pose:
    step, lean = 15 * opened, 0.1 + 0.24 * opened
    near_foot, far_foot = -12 + 4j, 12 + 4j
    at = Pose(step=step, lean=lean, nod=-0.1, near=grip - step, far=18 + 76j, near_foot=near_foot, far_foot=far_foot)
    return mix(STAND, at, moment.hold(0.0, 0.15, 0.76, 0.94))


SEAT = Pose(hip=-20 + 49j, lean=-0.06, near=4 + 55j, far=8 + 56j, near_foot=10 + 4j, far_foot=17 + 4j)
LIE = Pose(hip=10 + 55j, lean=-1.5, nod=0.3, near=-12 + 68j, far=-20 + 68j, near_foot=69 + 53j, far_foot=66 + 60j)


def _sit(moment: Moment) -> Pose:
    tap = 5j * max(0.0, moment.swing(0.9))
    seated = SEAT._replace(far_foot=SEAT.far_foot + tap, nod=0.12 * moment.swing(2.6))
    return mix(STAND, seated, moment.hold(0.0, 0.18, 0.82, 1.0))


def _lie(moment: Moment) -> Pose:
    wiggle = 3 * moment.swing(1.6)
    breath = 2j * moment.swing(2.8)
    lying = LIE._replace(far_foot=LIE.far_foot + wiggle, near=LIE.near + breath, far=LIE.far + breath)
    edge = SEAT._replace(hip=-4 + 53j, near=-22 + 58j, far=14 + 60j)
    return moment.through((0.15, edge), (0.32, lying), (0.72, lying), (0.86, edge))


def _type(moment: Moment) -> Pose:
    near = 35 + 70j + 3.5j * max(0.0, moment.swing(0.31)) + 4 * moment.swing(1.7)
    far = 42 + 71j + 3.5j * max(0.0, moment.swing(0.37)) + 3 * moment.swing(1.3)
    seated = Pose(hip=-4 + 49j, lean=0.14, nod=0.12, near=near, far=far, near_foot=18 + 4j, far_foot=27 + 4j)
    lifting = seated._replace(near=44 + (70 + 12 * moment.state["laptop"]) * 1j)
    working = mix(lifting, seated, moment.hold(0.27, 0.32, 0.78, 0.83))
    return mix(STAND, working, moment.hold(0.0, 0.17, 0.88, 1.0))


def _drink(moment: Moment) -> Pose:
    sip = ease(-math.cos(TAU * (moment.share - 0.25) / 0.26), -0.6, 0.5)
    high = Pose(near=16 + 122j, lean=-0.08, nod=-0.32, mouth=0.5)
    return moment.visit(Pose(near=27 + 72j, lean=0.08, nod=0.15), mix(Pose(near=20 + 92j), high, sip))


def _hold_cup(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["cup"]:
        tip = ease(body.hand("near").imag, 104, 120)
        room.cup(body.brush.at(body.hand("near") + 3 + 2j, 1.1 * tip))


def _read(moment: Moment) -> Pose:
    reading = Pose(near=17 + 88j, far=27 + 91j, nod=0.38 + 0.05 * moment.swing(1.5), turn=0.85)
    return moment.visit(Pose(near=26 + 66j, far=31 + 66j, lean=0.25, nod=0.2), reading)


def _hold_open_book(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["reading"]:
        leaf = ease(moment.u % 1.8, 0.9, 1.6)
        room.open_book(body.brush.at(body.grip() + 3 + 8j, 0.12), leaf)


def _shelve(moment: Moment) -> Pose:
    stops: list[tuple[float, Pose]] = []
    for number, begin in enumerate((0.0, 0.44)):
        at_slot = Pose(near=room.slot(number) - 6, lean=0.1, nod=-0.05)
        stops += [
            (begin + 0.13, Pose(near=30 + 64j, lean=0.25, nod=0.3)),
            (begin + 0.25, Pose(near=20 + 90j, far=22 + 84j)),
            (begin + 0.37, at_slot),
            (begin + 0.42, at_slot),
        ]
    return moment.through(*stops)


def _hold_books(moment: Moment, here: Brush, body: Body) -> None:
    for number, colour in enumerate(room.BOOK_COLOURS):
        moved = moment.state[f"book{number}"]
        if 0 < moved < 1:
            room.closed_book(body.brush.at(body.hand("near") + 6, math.pi / 2 * ease(moved, 0.1, 0.7)), colour)


def _take_box(moment: Moment) -> Pose:
    top = Pose(near=36 + 128j, far=44 + 132j, lean=0.12, nod=-0.25)
    lift = 2j * moment.swing(1.1)
    lifted = Pose(near=14 + 84j + lift, far=30 + 84j + lift, turn=0.8, nod=0.15)
    down = Pose(near=26 + 68j, far=42 + 68j, lean=0.22, nod=0.2)
    return moment.through((0.16, top), (0.22, top), (0.38, lifted), (0.74, lifted), (0.86, down))


def _hold_box(moment: Moment, here: Brush, body: Body) -> None:
    if 0 < moment.state["box"] < 1:
        room.carton(body.brush.at(body.grip() + 8 + 4j))


BOWL = Pose(near=46 + 78j, lean=0.2, nod=0.2)


def _take_food(moment: Moment) -> Pose:
    shown = Pose(near=25 + 104j + 3j * moment.swing(0.9), far=14 + 92j, nod=0.12)
    pocket = Pose(near=POCKET, nod=0.3)
    return moment.through((0.16, BOWL), (0.2, BOWL), (0.36, shown), (0.76, shown), (0.88, pocket))


def _eat(moment: Moment) -> Pose:
    chew = max(0.0, moment.swing(0.45))
    bite = ease(math.cos(TAU * (moment.share - 0.34) / 0.17), -0.2, 0.6)
    eating = mix(Pose(near=20 + 98j, mouth=0.7 * chew), Pose(near=17 + 119j, nod=0.12, mouth=1.0), bite)
    pocket = Pose(near=POCKET, nod=0.3)
    return moment.through((0.14, BOWL), (0.17, BOWL), (0.28, eating), (0.8, eating), (0.9, pocket))


def _hold_apple(moment: Moment, here: Brush, body: Body, thing: str) -> None:
    if 0 < moment.state[thing] < 1:
        bites = ease(moment.share, 0.3, 0.8) if thing == "snack" else 0.0
        room.apple(body.brush.at(body.hand("near") + 6 + 5j), bites)


def _phone(moment: Moment) -> Pose:
    gesture = 9j * moment.swing(1.1) + 6 * moment.swing(0.8)
    mouth = max(0.0, 0.6 + 0.6 * moment.swing(0.42) * moment.swing(1.9))
    talking = Pose(turn=0.8, near=-5 + 118j, far=26 + 84j + gesture, nod=0.08 * moment.swing(1.3), mouth=mouth)
    pocket = Pose(near=POCKET, nod=0.2)
    return moment.through((0.08, pocket), (0.2, talking), (0.8, talking), (0.92, pocket))


def _hold_phone(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["phone"]:
        phone(body.brush.at(body.hand("near") + 1 + 1j, 0.25))


def raised(moment: Moment) -> float:
    """Return how far the hand that carries something is raised, from 0 to 1."""
    raise_s = 0.6 / moment.duration
    return moment.hold(0.0, raise_s, 1 - raise_s, 1.0)


def _sneeze(moment: Moment) -> Pose:
    gasp = Pose(turn=0.8, lean=-0.14, nod=-0.4, mouth=1.0, near=12 + 112j, far=6 + 64j)
    burst = Pose(turn=0.8, lean=0.42, nod=0.5, mouth=0.5, near=31 + 106j, far=10 + 66j, squint=1.0)
    return moment.through((0.3, gasp), (0.36, burst), (0.5, burst), (0.7, gasp), (0.76, burst), (0.9, burst))


def _hold_sneeze(moment: Moment, here: Brush, body: Body) -> None:
    for begin in (0.34, 0.74):
        blown = (moment.share - begin) / 0.18
        if 0 < blown < 1:
            for number in range(12):
                ray = 0.35 * (number % 5 - 2) - 0.15 - body.pose.lean - body.pose.nod / 2
                drop = body.head + (18 + (14 + 4 * (number % 4)) * 1.6 * blown) * cmath.exp(1j * ray)
                body.brush.of("").disc(drop, 3.4 - 1.5 * blown, ((120, 180, 240), room.WHITE)[number % 2])


def _laugh(moment: Moment) -> Pose:
    shake = abs(moment.swing(0.5))
    laughing = Pose(
        turn=0.55, hip=(66 - 3 * shake) * 1j, lean=-0.12 + 0.16 * shake, nod=-0.25, mouth=0.7 + 0.5 * shake,
        near=14 + (78 + 2 * shake) * 1j, far=16 + 74j, squint=1.0,
    )  # fmt: skip
    return moment.through((0.14, laughing), (0.88, laughing))


FLOOR_SEAT = Pose(hip=-6 + 13j, lean=-0.12, near=16 + 24j, far=20 + 26j, near_foot=38 + 5j, far_foot=44 + 5j)


def _sit_on_floor(moment: Moment) -> Pose:
    rock = 0.05 * moment.swing(1.8)
    crouch = Pose(hip=-8 + 34j, lean=0.5, near=22 + 40j, far=26 + 42j)
    seated = FLOOR_SEAT._replace(lean=FLOOR_SEAT.lean + rock, nod=0.1 * moment.swing(1.4))
    return moment.through((0.14, crouch), (0.26, seated), (0.76, seated), (0.88, crouch))


def _lie_on_floor(moment: Moment) -> Pose:
    breath = 1.5j * moment.swing(1.6)
    lying = Pose(hip=8 + 12j, lean=-1.5, nod=0.2, near=-12 + 25j + breath, far=-20 + 25j + breath)
    lying = lying._replace(near_foot=68 + 8j, far_foot=64 + 14j)
    crouch = Pose(hip=-8 + 34j, lean=0.5, near=22 + 40j, far=26 + 42j)
    return moment.through(
        (0.12, crouch), (0.2, FLOOR_SEAT), (0.32, lying), (0.7, lying), (0.82, FLOOR_SEAT), (0.9, crouch)
    )


def _comb(moment: Moment) -> Pose:
    stroke = 0.5 + 0.5 * moment.swing(1.2)
    crown = cmath.rect(20.0, 0.6 + 1.4 * stroke) + 1 + 127j
    return moment.visit(Pose(near=40 + 78j, lean=0.14, nod=0.2), Pose(near=crown, far=14 + 76j, nod=0.08))


def _hold_comb(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["comb"]:
        hand = body.hand("near")
        away = cmath.phase(hand - body.head) - math.pi / 2
        room.comb(body.brush.at(hand, away * ease(hand.imag, 96, 118)))


def _pull_cord(moment: Moment) -> Pose:
    pull = 7j * math.sin(math.pi * min(1.0, moment.state["pull"]))
    reach = Pose(near=room.CORD - pull - 4, nod=-0.12)
    look = Pose(nod=-0.3, near=9 + 60j)
    return moment.through((0.2, reach), (0.5, reach), (0.66, look), (0.86, look))


def _wash(moment: Moment, home: complex) -> Pose:
    wiping = Pose(near=_wiped(moment.u), lean=0.16, nod=-0.18, far=2 + 66j)
    return moment.visit(Pose(near=home, lean=0.1, nod=0.15), wiping)


def _wiped(u: float) -> complex:
    return room.GLASS + 11 * cmath.exp(1j * TAU * u / 0.95) + 4 * math.sin(TAU * u / 3.1)


def _hold_cloth(moment: Moment, here: Brush, body: Body, thing: str) -> None:
    if not moment.state[thing]:
        return
    wet = moment.hold(0.25, 0.35, 0.74, 0.8)
    for number in range(12):
        foam = _wiped(moment.u - 0.11 * number) + 6 * cmath.exp(2.4j * number)
        here.of("").disc(foam, wet * (5.5 - 0.3 * number) + 0.1, (246, 251, 255))
    room.cloth(body.brush.at(body.hand("near") + 4, 0.3 * moment.swing(0.95)), room.YELLOW)


def _sweep(moment: Moment) -> Pose:
    stroke = moment.swing(1.25)
    step = 22 * ease(moment.share, 0.25, 0.76) * (1 - ease(moment.share, 0.76, 0.86))
    top, foot = 19 + 106j - 6 * stroke, 44 + 20 * stroke + (6 + 5 * abs(stroke)) * 1j
    sweeping = Pose(
        step=step + 4 * stroke,
        lean=0.2 + 0.06 * stroke,
        nod=0.2,
        near=top + (foot - top) * 0.08,
        far=top + (foot - top) * 0.42,
        near_foot=-11 + 4j,
        far_foot=13 + 4j,
    )
    return moment.visit(Pose(near=20 + 112j, far=20 + 92j), sweeping)


def _hold_broom(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["broom"]:
        near, far = body.hand("near"), body.pose.far if body.carried else body.hand("far")
        along = (far - near) / max(abs(far - near), 1.0)
        room.broom(body.brush, near - 10 * along, near + along * min(112, (near.imag - 6) / -along.imag))


def _throw_pillow(moment: Moment) -> Pose:
    reach = Pose(near=38 + 62j, far=44 + 62j, lean=0.5, nod=0.1)
    hug = Pose(near=20 + 88j, far=26 + 92j, turn=0.3)
    shake = 3 * moment.swing(0.5)
    wind = Pose(turn=-1, near=-12 + 140j + shake, far=-4 + 142j + shake, lean=-0.22, far_foot=14 + 4j)
    loose = Pose(turn=-1, near=38 + 112j, far=42 + 116j, lean=0.28, far_foot=18 + 4j, near_foot=-12 + 4j)
    watch = Pose(turn=-1, mouth=0.6, near=16 + 80j, far=20 + 82j)
    throwing = (0.38, wind), (0.48, wind), (0.54, loose), (0.62, loose)
    return moment.through((0.14, reach), (0.26, hug), *throwing, (0.74, watch), (0.9, watch))


def _hold_pillow(moment: Moment, here: Brush, body: Body) -> None:
    flight = (moment.share - LET_GO["pillow"]) / 0.15
    if flight >= 1 or moment.share < 0.14:
        return
    if flight < 0:
        middle = body.grip()
        room.pillow(body.brush.at(middle + 8 * 1j, 0.15))
    else:
        spot = -44 - 82 * flight + (118 * (1 - flight) + 8 * flight + 90 * flight * (1 - flight)) * 1j
        room.pillow(here.at(spot, 5 * flight))


def _fold(moment: Moment) -> Pose:
    reach = Pose(near=34 + 60j, far=42 + 62j, lean=0.5, nod=0.1)
    shake = 6j * moment.swing(0.55) * moment.hold(0.24, 0.28, 0.42, 0.46)
    spread = Pose(turn=0.9, near=10 + 108j + shake, far=50 + 112j + shake)
    joined = Pose(turn=0.9, near=24 + 108j, far=32 + 110j)
    halved = Pose(turn=0.9, near=22 + 92j, far=30 + 94j, nod=0.2)
    down = Pose(near=30 + 66j, far=38 + 66j, lean=0.45, nod=0.1)
    folding = (0.46, spread), (0.56, joined), (0.62, joined), (0.72, halved)
    return moment.through((0.12, reach), (0.24, spread), *folding, (0.76, halved), (0.87, down))


def _hold_blanket(moment: Moment, here: Brush, body: Body) -> None:
    if not 0 < moment.state["blanket"] < 1:
        return
    near, far = body.hand("near"), body.pose.far if body.carried else body.hand("far")
    if (far - near).real < 14:
        near, far = near - 7, near + 13
    drop = 54 - 28 * ease(moment.share, 0.62, 0.72) - 14 * ease(moment.share, 0.78, 0.87)
    drop *= ease(moment.share, 0.1, 0.22)
    hem = [far + (near - far) * k / 6 - 1j * drop + 3j * math.sin(2 * k + 9 * moment.u) for k in range(7)]
    brush = body.brush.of("blanket")
    brush.fill([near, far, *hem], room.GREEN)
    for k in (1, 3, 5):
        top = far + (near - far) * k / 6
        brush.line([top, (top + hem[k]) / 2, hem[k]], (60, 120, 60), 1.5)
    brush.line([near, far], (140, 200, 130), 3)


def _watch(moment: Moment) -> Pose:
    press = Pose(near=room.POWER - 3, lean=0.3, nod=0.2)
    watching = Pose(near=15 + 86j, far=15 + 82j, lean=-0.05, nod=0.14 + 0.05 * moment.swing(1.7), turn=0.85)
    return moment.through((0.12, press), (0.17, press), (0.3, watching), (0.8, watching), (0.9, press))


def _borrow(thing: str, taken: float = 0.13, returned: float = 0.88) -> tuple[Change, Change]:
    return Change(thing, taken, taken, 1.0), Change(thing, returned, returned, 0.0)


def _pulls(light: float) -> tuple[Change, ...]:
    return Change("pull", 0.3, 0.46, 1.0), Change("light", 0.4, 0.43, light)


CARRYING = {
    **{"c000": "clothes", "c019": "phone", "c020": "bag", "c053": "shoes", "c084": "picture", "c067": "sandwich"},
    **{"c118": "dish", "c128": "medicine"},
}  # what the far hand holds while the near hand does something else
FREE = {"c124": _lie_on_floor, "c125": _sit_on_floor, "c149": _laugh, "c153": _sneeze}  # need no furniture
ACTS: Mapping[str, Act] = {
    **{name: Act("", move, (), _hold_sneeze if name == "c153" else None) for name, move in FREE.items()},
    "c006": Act("door", _open_door, (Change("door", 0.2, 0.66, 0.0),)),
    "c008": Act("door", _open_door, (Change("door", 0.2, 0.66, 1.0),)),
    "c019": Act("rug", _phone, _borrow("phone", 0.09, 0.91), _hold_phone),
    "c028": Act("shelf", _shelve, (Change("book0", 0.13, 0.4, 1.0), Change("book1", 0.57, 0.84, 1.0)), _hold_books),
    "c032": Act("shelf", _read, _borrow("reading"), _hold_open_book),
    "c043": Act("shelf", _take_box, (Change("box", 0.19, 0.86, 1.0),), _hold_box),
    "c052": Act("desk", _type, (Change("laptop", 0.2, 0.28, 1.0), Change("laptop", 0.82, 0.88, 0.0))),
    "c059": Act("chair", _sit),
    "c063": Act("table", _take_food, (Change("apple", 0.18, 0.88, 1.0),), partial(_hold_apple, thing="apple")),
    "c075": Act("blanket", _fold, (Change("blanket", 0.11, 0.87, 1.0),), _hold_blanket),
    "c080": Act("pillow", _throw_pillow, (Change("pillow", 0.14, 0.68, 1.0),), _hold_pillow),
    "c089": Act("window", _open_window, (Change("sash", 0.2, 0.66, 0.0),)),
    "c090": Act("window", _open_window, (Change("sash", 0.2, 0.66, 1.0),)),
    "c091": Act("window", partial(_wash, home=28 + 89j), _borrow("cloth"), partial(_hold_cloth, thing="cloth")),
    "c095": Act("mirror", partial(_wash, home=32 + 75j), _borrow("rag"), partial(_hold_cloth, thing="rag")),
    "c102": Act("broom", _sweep, (*_borrow("broom"), Change("dust", 0.25, 0.76, 1.0)), _hold_broom),
    "c104": Act("lamp", _pull_cord, _pulls(1.0)),
    "c105": Act("lamp", _pull_cord, _pulls(0.0)),
    "c106": Act("table", _drink, _borrow("cup"), _hold_cup),
    "c122": Act("sofa", _lie),
    "c132": Act("television", _watch, (*_borrow("television", 0.15, 0.91), Change("show", 0.15, 0.91, 1.0))),
    "c134": Act("bed", _lie),
    "c142": Act("fridge", _open_fridge, (Change("fridge", 0.2, 0.66, 0.0),)),
    "c143": Act("fridge", _open_fridge, (Change("fridge", 0.2, 0.66, 1.0),)),
    "c144": Act("mirror", _comb, _borrow("comb"), _hold_comb),
    "c156": Act("table", _eat, (Change("snack", 0.15, 0.9, 1.0),), partial(_hold_apple, thing="snack")),
}  # by Charades class
