"""Animate actions: how the person moves, which objects are held, and what changes in the room.

`picture_at` depends only on a stage and a time. Points are complex numbers, `forward + height * 1j` in pixels, relative
to the spot where the person performs the action.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import room
from .figure import STAND, Body, Look, Pose, alive, mix, walking
from .paint import Brush, canvas, colour, finish

TAU = 2 * math.pi
STAGES_IN_CACHE = 4
WALK_SPEED, TURN_S = 95.0, 0.3  # pixels per second; seconds per turn
THINNEST = 0.6  # minimum width of a turning body, relative to its full width
IN_HAND = frozenset(
    ("apple", "blanket", "book0", "book1", "box", "broom", "cloth", "comb", "cup", "phone", "pillow", "rag")
) | {"reading", "snack"}  # objects that are held while their state changes
LET_GO = {"pillow": 0.53}  # fraction of the action at which an object leaves the hands before it comes to rest


class Station(NamedTuple):
    """Where the person stands at a piece of furniture, and the direction the person faces."""

    x: float  # pixel column
    facing: float  # 1 for right, -1 for left


@dataclass(frozen=True)
class Cue:
    """An action to perform: its Charades class, and its start and end in seconds."""

    action: str
    start: float
    end: float


@dataclass(frozen=True)
class Stage:
    """Everything that is shown in a video.

    Attributes:
        wall: Colour of the wall, `#rrggbb`.
        floor: Colour of the floor, `#rrggbb`.
        stations: Pieces of furniture and their stations, in drawing order.
        look: Appearance of the person.
        cues: Actions in temporal order, without overlaps.
        length_s: Length of the video in seconds.
    """

    wall: str
    floor: str
    stations: tuple[tuple[str, Station], ...]
    look: Look
    cues: tuple[Cue, ...]
    length_s: float

    def station(self, furniture: str) -> Station:
        """Return where the person stands at a piece of furniture."""
        return dict(self.stations)[furniture]


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

    def swing(self, period: float, lag: float = 0.0) -> float:
        """Return a sine wave of the given period and lag, both in seconds."""
        return math.sin(TAU * (self.u - lag) / period)

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


class Change(NamedTuple):
    """A change in the state of an object to `value`, between two fractions of an action."""

    thing: str
    begin: float
    end: float
    value: float


Mover = Callable[[Moment], Pose]
Holder = Callable[[Moment, Brush, Body], None]


def _nothing(moment: Moment, here: Brush, body: Body) -> None: ...


class Act(NamedTuple):
    """How an action is performed: at which furniture, with which movement, and what changes or is held."""

    furniture: str
    move: Mover
    changes: tuple[Change, ...] = ()
    hold: Holder = _nothing


def ease(x: float, start: float, end: float) -> float:
    """Return 0 before `start`, 1 after `end`, and a smooth transition in between."""
    x = min(max((x - start) / (end - start), 0.0), 1.0) if end > start else float(x >= end)
    return x * x * (3 - 2 * x)


def _borrow(thing: str) -> tuple[Change, Change]:
    return Change(thing, 0.13, 0.13, 1.0), Change(thing, 0.88, 0.88, 0.0)


def _visit(moment: Moment, reach: Pose, work: Pose) -> Pose:
    return moment.through((0.13, reach), (0.25, work), (0.76, work), (0.88, reach))


# --- doors -----------------------------------------------------------------------------------------------------------


def _swinging(thing: str, grip: Callable[[float], complex]) -> Mover:
    def move(moment: Moment) -> Pose:
        opened = moment.state[thing]
        step, lean = 15 * opened, 0.1 + 0.24 * opened
        at = Pose(
            step=step,
            lean=lean,
            nod=-0.1,
            near=grip(opened) - step,
            far=18 + 76j,
            near_foot=-12 + 4j,
            far_foot=12 + 4j,
        )
        return mix(STAND, at, moment.hold(0.0, 0.15, 0.76, 0.94))

    return move


# --- sitting and lying -----------------------------------------------------------------------------------------------

SEAT = Pose(hip=-20 + 49j, lean=-0.06, near=4 + 55j, far=8 + 56j, near_foot=10 + 4j, far_foot=17 + 4j)
LIE = Pose(
    hip=10 + 55j,
    lean=-1.5,
    nod=0.3,
    near=-12 + 68j,
    far=-20 + 68j,
    near_foot=69 + 53j,
    far_foot=66 + 60j,
)


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
    taps = 3.5j * max(0.0, moment.swing(0.31)), 3.5j * max(0.0, moment.swing(0.37))
    lid = moment.state["laptop"]
    seated = Pose(
        hip=-4 + 49j,
        lean=0.14,
        nod=0.12,
        near=35 + 70j + taps[0] + 4 * moment.swing(1.7),
        far=42 + 71j + taps[1] + 3 * moment.swing(1.3),
        near_foot=18 + 4j,
        far_foot=27 + 4j,
    )
    lifting = seated._replace(near=44 + (70 + 12 * lid) * 1j)
    return mix(
        STAND,
        mix(lifting, seated, moment.hold(0.27, 0.32, 0.78, 0.83)),
        moment.hold(0.0, 0.17, 0.88, 1.0),
    )


# --- things in the hand ----------------------------------------------------------------------------------------------


def _drink(moment: Moment) -> Pose:
    sip = ease(-math.cos(TAU * (moment.share - 0.25) / 0.26), -0.6, 0.5)
    low = Pose(near=20 + 92j)
    high = Pose(near=16 + 122j, lean=-0.08, nod=-0.32, mouth=0.5)
    return _visit(moment, Pose(near=27 + 72j, lean=0.08, nod=0.15), mix(low, high, sip))


def _hold_cup(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["cup"]:
        tip = ease(body.hand("near").imag, 104, 120)
        room.cup(body.brush.at(body.hand("near") + 3 + 2j, 1.1 * tip))


def _read(moment: Moment) -> Pose:
    reading = Pose(near=17 + 88j, far=27 + 91j, nod=0.38 + 0.05 * moment.swing(1.5), turn=0.85)
    reach = Pose(near=26 + 66j, far=31 + 66j, lean=0.25, nod=0.2)
    return _visit(moment, reach, reading)


def _hold_open_book(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["reading"]:
        leaf = ease(moment.u % 1.8, 0.9, 1.6)
        room.open_book(body.brush.at((body.hand("near") + body.hand("far")) / 2 + 3 + 8j, 0.12), leaf)


def _shelve(moment: Moment) -> Pose:
    stops: list[tuple[float, Pose]] = []
    for number, begin in enumerate((0.0, 0.44)):
        stops += [
            (begin + 0.13, Pose(near=30 + 64j, lean=0.25, nod=0.3)),
            (begin + 0.25, Pose(near=20 + 90j, far=22 + 84j)),
            (begin + 0.37, Pose(near=room.slot(number) - 6, lean=0.1, nod=-0.05)),
            (begin + 0.42, Pose(near=room.slot(number) - 6, lean=0.1, nod=-0.05)),
        ]
    return moment.through(*stops)


def _hold_books(moment: Moment, here: Brush, body: Body) -> None:
    for number, paint in enumerate(room.BOOK_COLOURS):
        moved = moment.state[f"book{number}"]
        if 0 < moved < 1:
            at = body.brush.at(body.hand("near") + 6, math.pi / 2 * ease(moved, 0.1, 0.7))
            room.closed_book(at, paint)


def _take_box(moment: Moment) -> Pose:
    top = Pose(near=36 + 128j, far=44 + 132j, lean=0.12, nod=-0.25)
    chest = Pose(near=14 + 84j, far=30 + 84j, turn=0.8, nod=0.15)
    lifted = chest._replace(near=chest.near + 2j * moment.swing(1.1), far=chest.far + 2j * moment.swing(1.1))
    down = Pose(near=26 + 68j, far=42 + 68j, lean=0.22, nod=0.2)
    return moment.through((0.16, top), (0.22, top), (0.38, lifted), (0.74, lifted), (0.86, down))


def _hold_box(moment: Moment, here: Brush, body: Body) -> None:
    if 0 < moment.state["box"] < 1:
        room.carton(body.brush.at((body.hand("near") + body.hand("far")) / 2 + 8 + 4j))


def _take_food(moment: Moment) -> Pose:
    bowl = Pose(near=46 + 78j, lean=0.2, nod=0.2)
    toss = 3j * moment.swing(0.9)
    shown = Pose(near=25 + 104j + toss, far=14 + 92j, nod=0.12)
    pocket = Pose(near=2 + 62j, nod=0.3)
    return moment.through((0.16, bowl), (0.2, bowl), (0.36, shown), (0.76, shown), (0.88, pocket))


def _eat(moment: Moment) -> Pose:
    bowl = Pose(near=46 + 78j, lean=0.2, nod=0.2)
    chew = max(0.0, moment.swing(0.45))
    bite = ease(math.cos(TAU * (moment.share - 0.34) / 0.17), -0.2, 0.6)
    eating = mix(Pose(near=20 + 98j, mouth=0.7 * chew), Pose(near=17 + 119j, nod=0.12, mouth=1.0), bite)
    pocket = Pose(near=2 + 62j, nod=0.3)
    return moment.through((0.14, bowl), (0.17, bowl), (0.28, eating), (0.8, eating), (0.9, pocket))


def _hold_apple(thing: str, eaten: bool) -> Holder:
    def hold(moment: Moment, here: Brush, body: Body) -> None:
        if 0 < moment.state[thing] < 1:
            bites = ease(moment.share, 0.3, 0.8) if eaten else 0.0
            room.apple(body.brush.at(body.hand("near") + 6 + 5j), bites)

    return hold


def _phone(moment: Moment) -> Pose:
    chatter = 0.6 + 0.6 * moment.swing(0.42) * moment.swing(1.9)
    talking = Pose(
        turn=0.8,
        near=-5 + 118j,
        far=26 + 84j + 9j * moment.swing(1.1) + 6 * moment.swing(0.8),
        nod=0.08 * moment.swing(1.3),
        mouth=max(0.0, chatter),
    )
    pocket = Pose(near=2 + 62j, nod=0.2)
    return moment.through((0.08, pocket), (0.2, talking), (0.8, talking), (0.92, pocket))


def _hold_phone(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["phone"]:
        at = body.brush.at(body.hand("near") + 1 + 1j, 0.25)
        at.line([-8j, 9j], room.INK, 7)
        at.line([-6j, 7j], (110, 210, 240), 3.5)


def _comb(moment: Moment) -> Pose:
    stroke = 0.5 + 0.5 * moment.swing(1.2)
    crown = cmath.rect(20.0, 0.6 + 1.4 * stroke) + 1 + 127j
    combing = Pose(near=crown, far=14 + 76j, nod=0.08)
    return _visit(moment, Pose(near=40 + 78j, lean=0.14, nod=0.2), combing)


def _hold_comb(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["comb"]:
        hand = body.hand("near")
        raised = ease(hand.imag, 96, 118)
        away = cmath.phase(hand - body.head) - math.pi / 2
        room.comb(body.brush.at(hand, away * raised))


# --- the lamp --------------------------------------------------------------------------------------------------------


def _pull_cord(moment: Moment) -> Pose:
    pull = 7j * math.sin(math.pi * min(1.0, moment.state["pull"]))
    reach = Pose(near=room.CORD - pull - 4, nod=-0.12)
    look = Pose(nod=-0.3, near=9 + 60j)
    return moment.through((0.2, reach), (0.5, reach), (0.66, look), (0.86, look))


def _pulls(light: float) -> tuple[Change, ...]:
    return Change("pull", 0.3, 0.46, 1.0), Change("light", 0.4, 0.43, light)


# --- cleaning --------------------------------------------------------------------------------------------------------


def _wash(home: complex) -> Mover:
    def move(moment: Moment) -> Pose:
        wiping = Pose(near=_wiped(moment.u), lean=0.16, nod=-0.18, far=2 + 66j)
        return _visit(moment, Pose(near=home, lean=0.1, nod=0.15), wiping)

    return move


def _wiped(u: float) -> complex:
    return room.GLASS + 11 * cmath.exp(1j * TAU * u / 0.95) + 4 * math.sin(TAU * u / 3.1)


def _washing(thing: str) -> Holder:
    def hold(moment: Moment, here: Brush, body: Body) -> None:
        if not moment.state[thing]:
            return
        wet = moment.hold(0.25, 0.35, 0.74, 0.8)
        for number in range(12):
            foam = _wiped(moment.u - 0.11 * number) + 6 * cmath.exp(2.4j * number)
            here.disc(foam, wet * (5.5 - 0.3 * number) + 0.1, (246, 251, 255))
        room.cloth(body.brush.at(body.hand("near") + 4, 0.3 * moment.swing(0.95)), room.YELLOW)

    return hold


def _sweep(moment: Moment) -> Pose:
    stroke = moment.swing(1.25)
    step = 22 * ease(moment.share, 0.25, 0.76) * (1 - ease(moment.share, 0.76, 0.86))
    top, foot = _broom_ends(stroke)
    sweeping = Pose(
        step=step + 4 * stroke,
        lean=0.2 + 0.06 * stroke,
        nod=0.2,
        near=top + (foot - top) * 0.08,
        far=top + (foot - top) * 0.42,
        near_foot=-11 + 4j,
        far_foot=13 + 4j,
    )
    return _visit(moment, Pose(near=20 + 112j, far=20 + 92j), sweeping)


def _broom_ends(stroke: float) -> tuple[complex, complex]:
    return 19 + 106j - 6 * stroke, 44 + 20 * stroke + (6 + 5 * abs(stroke)) * 1j


def _hold_broom(moment: Moment, here: Brush, body: Body) -> None:
    if moment.state["broom"]:
        near, far = body.hand("near"), body.hand("far")
        along = (far - near) / max(abs(far - near), 1.0)
        room.broom(body.brush, near - 10 * along, near + along * min(112, (near.imag - 6) / -along.imag))


def _throw_pillow(moment: Moment) -> Pose:
    reach = Pose(near=38 + 62j, far=44 + 62j, lean=0.5, nod=0.1)
    hug = Pose(near=20 + 88j, far=26 + 92j, turn=0.3)
    shake = 3 * moment.swing(0.5)
    wind = Pose(turn=-1, near=-12 + 140j + shake, far=-4 + 142j + shake, lean=-0.22, far_foot=14 + 4j)
    loose = Pose(turn=-1, near=38 + 112j, far=42 + 116j, lean=0.28, far_foot=18 + 4j, near_foot=-12 + 4j)
    watch = Pose(turn=-1, mouth=0.6, near=16 + 80j, far=20 + 82j)
    return moment.through(
        (0.14, reach),
        (0.26, hug),
        (0.38, wind),
        (0.48, wind),
        (0.54, loose),
        (0.62, loose),
        (0.74, watch),
        (0.9, watch),
    )


def _hold_pillow(moment: Moment, here: Brush, body: Body) -> None:
    flight = (moment.share - LET_GO["pillow"]) / 0.15
    if flight >= 1 or moment.share < 0.14:
        return
    if flight < 0:
        middle = (body.hand("near") + body.hand("far")) / 2
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
    return moment.through(
        (0.12, reach),
        (0.24, spread),
        (0.46, spread),
        (0.56, joined),
        (0.62, joined),
        (0.72, halved),
        (0.76, halved),
        (0.87, down),
    )


def _hold_blanket(moment: Moment, here: Brush, body: Body) -> None:
    if not 0 < moment.state["blanket"] < 1:
        return
    near, far = body.hand("near"), body.hand("far")
    if (far - near).real < 14:
        near, far = near - 7, near + 13
    drop = 54 - 28 * ease(moment.share, 0.62, 0.72) - 14 * ease(moment.share, 0.78, 0.87)
    drop *= ease(moment.share, 0.1, 0.22)
    hem = [far + (near - far) * k / 6 - 1j * drop + 3j * math.sin(2 * k + 9 * moment.u) for k in range(7)]
    body.brush.fill([near, far, *hem], room.GREEN)
    for k in (1, 3, 5):
        top = far + (near - far) * k / 6
        body.brush.line([top, (top + hem[k]) / 2, hem[k]], (60, 120, 60), 1.5)
    body.brush.line([near, far], (140, 200, 130), 3)


_AT_DOOR = _swinging("door", room.door_knob)
_AT_FRIDGE = _swinging("fridge", room.fridge_grip)

ACTS: Mapping[str, Act] = {
    "c006": Act("door", _AT_DOOR, (Change("door", 0.2, 0.66, 0.0),)),
    "c008": Act("door", _AT_DOOR, (Change("door", 0.2, 0.66, 1.0),)),
    "c019": Act("rug", _phone, (Change("phone", 0.09, 0.09, 1.0), Change("phone", 0.91, 0.91, 0.0)), _hold_phone),
    "c028": Act("shelf", _shelve, (Change("book0", 0.13, 0.4, 1.0), Change("book1", 0.57, 0.84, 1.0)), _hold_books),
    "c032": Act("shelf", _read, _borrow("reading"), _hold_open_book),
    "c043": Act("shelf", _take_box, (Change("box", 0.19, 0.86, 1.0),), _hold_box),
    "c052": Act("desk", _type, (Change("laptop", 0.2, 0.28, 1.0), Change("laptop", 0.82, 0.88, 0.0))),
    "c059": Act("chair", _sit),
    "c063": Act("table", _take_food, (Change("apple", 0.18, 0.88, 1.0),), _hold_apple("apple", False)),
    "c075": Act("blanket", _fold, (Change("blanket", 0.11, 0.87, 1.0),), _hold_blanket),
    "c080": Act("pillow", _throw_pillow, (Change("pillow", 0.14, 0.68, 1.0),), _hold_pillow),
    "c091": Act("window", _wash(28 + 89j), _borrow("cloth"), _washing("cloth")),
    "c095": Act("mirror", _wash(32 + 75j), _borrow("rag"), _washing("rag")),
    "c102": Act("broom", _sweep, (*_borrow("broom"), Change("dust", 0.25, 0.76, 1.0)), _hold_broom),
    "c104": Act("lamp", _pull_cord, _pulls(1.0)),
    "c105": Act("lamp", _pull_cord, _pulls(0.0)),
    "c106": Act("table", _drink, _borrow("cup"), _hold_cup),
    "c122": Act("sofa", _lie),
    "c134": Act("bed", _lie),
    "c142": Act("fridge", _AT_FRIDGE, (Change("fridge", 0.2, 0.66, 0.0),)),
    "c143": Act("fridge", _AT_FRIDGE, (Change("fridge", 0.2, 0.66, 1.0),)),
    "c144": Act("mirror", _comb, _borrow("comb"), _hold_comb),
    "c156": Act("table", _eat, (Change("snack", 0.15, 0.9, 1.0),), _hold_apple("snack", True)),
}  # by Charades class


# --- the whole picture -----------------------------------------------------------------------------------------------


def state_at(cues: Sequence[Cue], t: float) -> room.State:
    """Return the state of each object at `t` seconds, from 0 to 1. Unaffected objects are omitted."""
    state: dict[str, float] = {}
    for cue in cues:
        for thing, begin, end, value in ACTS[cue.action].changes:
            before = state.setdefault(thing, 1 - value)
            share = ease((t - cue.start) / (cue.end - cue.start), begin, end)
            state[thing] = before + (value - before) * share
    return room.Things({"light": 1.0} | state)


def held_at(cues: Sequence[Cue], t: float) -> frozenset[str]:
    """Return the names of the objects that the person holds at `t` seconds."""
    cue = next((cue for cue in cues if cue.start <= t < cue.end), None)
    if cue is None:
        return frozenset()
    state, share = state_at(cues, t), (t - cue.start) / (cue.end - cue.start)
    changes = ACTS[cue.action].changes
    borrowed = {change.thing for change in changes if change.value == 0}
    return frozenset(
        thing
        for thing in {change.thing for change in changes} & IN_HAND
        if (0 < state[thing] < 1 or (state[thing] == 1 and thing in borrowed)) and share < LET_GO.get(thing, 1.0)
    )


def picture_at(stage: Stage, t: float) -> NDArray[np.uint8]:
    """Draw the frame at `t` seconds as a uint8 RGB array of shape (240, 320, 3)."""
    state = state_at(stage.cues, t)
    picture = _empty_room(stage, state["light"] > 0.5).copy()
    for name, station in stage.stations:
        if name in room.CHANGING:
            room.CHANGING[name](Brush(picture, *station), state)
    _draw_person(stage, t, picture, state)
    final = finish(picture)
    return final if state["light"] >= 1 else _dimmed(final, 1 - state["light"])


def _draw_person(stage: Stage, t: float, picture: Image.Image, state: room.State) -> None:
    cue = next((cue for cue in stage.cues if cue.start <= t < cue.end), None)
    if cue is None:
        place, pose = _between(stage, t)
        act, moment = None, None
    else:
        act, moment = ACTS[cue.action], Moment(t - cue.start, cue.end - cue.start, state)
        place, pose = stage.station(act.furniture), act.move(moment)
    here = Brush(picture, *place)
    body = Body(_turned(here.moved(pose.step, pose.turn)), stage.look, alive(pose, t))
    body.draw_behind(t)
    if act and moment:
        act.hold(moment, here, body)
    body.draw_arm()


def _turned(brush: Brush) -> Brush:
    """Keep the body at a minimum width when it faces the viewer."""
    return replace(brush, facing=math.copysign(max(abs(brush.facing), THINNEST), brush.facing))


class Stop(NamedTuple):
    """A stay at a station, with the times of arrival and departure in seconds."""

    arrive: float
    leave: float
    place: Station


def _stops(stage: Stage) -> list[Stop]:
    """List where the person stops. If there are no actions, the person walks to each piece of furniture and back."""
    if stage.cues:
        return [Stop(cue.start, cue.end, stage.station(ACTS[cue.action].furniture)) for cue in stage.cues]
    round_trip = (*stage.stations, stage.stations[0])
    pause = stage.length_s / len(round_trip)
    return [Stop(n * pause, n * pause, place) for n, (_, place) in enumerate(round_trip)]


def _between(stage: Stage, t: float) -> tuple[Station, Pose]:
    stops = _stops(stage)
    last = max((stop for stop in stops if stop.leave <= t), default=stops[0])
    following = min((stop for stop in stops if stop.arrive > t), default=last)
    origin, goal, way = last.place, following.place, following.place.x - last.place.x
    if not way:
        return goal, STAND
    began, ahead = last.leave, math.copysign(1.0, way)
    lasts = min(following.arrive - began, 0.5 + abs(way) / WALK_SPEED)
    share = min(max((t - began - 0.15) / (lasts - 0.3), 0.0), 1.0)
    gone = ease(share, 0, 1)
    facing = origin.facing + (ahead - origin.facing) * ease(t, began, began + TURN_S)
    facing += (goal.facing - ahead) * ease(t, began + lasts - TURN_S, began + lasts)
    return Station(origin.x + way * gone, facing), walking(abs(way) * gone, min(1.0, 1.6 * math.sin(math.pi * share)))


@lru_cache(maxsize=STAGES_IN_CACHE)
def _empty_room(stage: Stage, lit: bool) -> Image.Image:
    """Draw the static background. It is cached, so callers must not modify it."""
    picture = canvas(colour(stage.wall))
    room.shell(Brush(picture), colour(stage.wall), colour(stage.floor))
    for name, station in stage.stations:
        if name == "lamp" and lit:
            room.lamp_halo(Brush(picture, *station), room.Things({"light": 1.0}))
        if name in room.STANDING:
            room.STANDING[name](Brush(picture, *station), room.Things())
    return picture


def _dimmed(picture: NDArray[np.uint8], darkness: float) -> NDArray[np.uint8]:
    share = np.array([0.52, 0.46, 0.26]) * darkness
    return np.rint(picture * (1 - share)).astype(np.uint8)
