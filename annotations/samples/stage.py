"""Draw a frame of a video: a room, and people who perform actions in it. It depends only on a stage and a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import decor, room
from .events import ACTIONS, ROOTS, TARGETS, THINGS
from .figure import STAND, Body, Look, Pose, alive, walking
from .movements import CARRYING, IN_HAND, LET_GO, Moment, ease, raised
from .paint import FLOOR_Y, OVERSAMPLING, WIDTH, Brush, canvas, colour, finish, objects_in

STAGES_IN_CACHE = 4
WALK_SPEED, TURN_S = 95.0, 0.3  # pixels per second; seconds per turn
THINNEST = 0.6  # minimum width of a turning body, relative to its full width
BACK_RISE, BACK_SHRINK = 8.0, 0.07  # how much higher and smaller the back row appears
FREE_DEPTH = -0.5  # row of actions that need no furniture
ROW = 30.0  # pixels walked from row to row
ROLES = ("person", "other person")
HALO = 0.55  # strength of the glow of a lamp on a wall with a pattern
GLOOM = np.array([0.52, 0.46, 0.26])  # share of red, green and blue light that is lost without the lamp


class Station(NamedTuple):
    """Where a person stands at a piece of furniture, and the direction the person faces."""

    x: float  # pixel column
    facing: float  # 1 for right, -1 for left
    depth: float = 0.0  # 1 for the back row, 0 for the row before it, below 0 for what stands in front of that


@dataclass(frozen=True)
class Cue:
    """An action to perform: its Charades class, and its start and end in seconds.

    `at` names the station where the action is performed, if it differs from that of `ACTIONS`.
    """

    action: str
    start: float
    end: float
    at: str = ""

    @property
    def place(self) -> str:
        """Return the name of the station."""
        return self.at or ACTIONS[self.action].furniture

    def share(self, t: float) -> float:
        """Return how much of the action has passed at `t` seconds: below 0 before it, above 1 after it."""
        return (t - self.start) / (self.end - self.start)


@dataclass(frozen=True)
class Actor:
    """A person, with the actions in temporal order, without overlaps.

    `carry` is an action in `CARRYING`, which the far hand performs at the same time.
    """

    look: Look
    cues: tuple[Cue, ...]
    carry: Cue | None = None

    @property
    def all_cues(self) -> tuple[Cue, ...]:
        """Return all actions by start, including the one of the far hand."""
        return tuple(sorted((*self.cues, *([self.carry] if self.carry else [])), key=attrgetter("start")))


@dataclass(frozen=True)
class Camera:
    """A camera that moves evenly from one column of the room to another.

    Attributes:
        zoom: Size of the picture relative to the room.
        start: Column of the room in the middle of the first frame.
        end: Column of the room in the middle of the last frame.
    """

    zoom: float = 1.0
    start: float = WIDTH / 2
    end: float = WIDTH / 2

    def shift(self, share: float) -> float:
        """Return the pixel column of the room's column 0, in painted pixels, after a share of the video."""
        middle = self.start + (self.end - self.start) * share
        return round((WIDTH / 2 - middle * self.zoom) * OVERSAMPLING) / OVERSAMPLING


@dataclass(frozen=True)
class Stage:
    """Everything that is shown in a video.

    Attributes:
        wall: Colour of the wall, `#rrggbb`.
        floor: Colour of the floor, `#rrggbb`.
        stations: Pieces of furniture and their stations, in drawing order.
        actors: The people, who use different furniture. The first is the person of the annotations.
        length_s: Length of the video in seconds.
        camera: The camera.
        decoration: What decorates the wall: names of `decor.PAINTERS`, columns, and colours.
        foreground: What stands in front of everything, likewise.
        tint: Factors of red, green and blue light.
        gloom: How dark it is without the lamp, from 0 to 1.
        events: What happens without a person, as actions named in `events.ROOTS` or `events.THINGS`.
    """

    wall: str
    floor: str
    stations: tuple[tuple[str, Station], ...]
    actors: tuple[Actor, ...]
    length_s: float
    camera: Camera = Camera()
    decoration: tuple[tuple[str, float, str], ...] = ()
    foreground: tuple[tuple[str, float, str], ...] = ()
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gloom: float = 1.0
    events: tuple[Cue, ...] = ()

    def station(self, cue: Cue) -> Station:
        """Return where an action is performed."""
        station = dict(self.stations)[cue.place]
        return station if ACTIONS[cue.action].furniture else station._replace(depth=FREE_DEPTH)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """Return all actions and events by start."""
        return tuple(sorted(chain(self.events, *(actor.cues for actor in self.actors)), key=attrgetter("start")))


def state_at(cues: Sequence[Cue], t: float) -> room.State:
    """Return the state of each object at `t` seconds, from 0 to 1. Unaffected objects are omitted."""
    state: dict[str, float] = {}
    for cue in cues:
        for thing, begin, end, value in ACTIONS[cue.action].changes:
            before = state.setdefault(thing, 1 - value)
            share = ease(cue.share(t), begin, end)
            state[thing] = before + (value - before) * share
    return room.Things({"light": 1.0} | state)


def held_at(cues: Sequence[Cue], t: float) -> frozenset[str]:
    """Return the names of the objects that the person holds at `t` seconds."""
    cue = cue_at(cues, t)
    if cue is None:
        return frozenset()
    state, share = state_at(cues, t), cue.share(t)
    changes = ACTIONS[cue.action].changes
    borrowed = {change.thing for change in changes if change.value == 0}
    return frozenset(
        thing
        for thing in {change.thing for change in changes} & IN_HAND
        if (0 < state[thing] < 1 or (state[thing] == 1 and thing in borrowed)) and share < LET_GO.get(thing, 1.0)
    )


def cue_at(cues: Sequence[Cue], t: float) -> Cue | None:
    """Return the action that is performed at `t` seconds, if any."""
    return next((cue for cue in cues if cue.start <= t < cue.end), None)


def picture_at(stage: Stage, t: float) -> NDArray[np.uint8]:
    """Draw the frame at `t` seconds as a uint8 RGB array of shape (240, 320, 3)."""
    return frame_at(stage, t)[0]


def frame_at(stage: Stage, t: float) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Draw the frame at `t` seconds: `picture_at`, and `paint.objects_in` of the same frame."""
    state = state_at(stage.cues, t)
    painted = _paint(stage, t, state)
    final, darkness = finish(painted), stage.gloom * (1 - state["light"])
    if darkness > 0 or stage.tint != (1.0, 1.0, 1.0):
        levels = np.rint(np.arange(256)[:, None] * (1 - GLOOM * max(darkness, 0)) * stage.tint)
        table = levels.clip(0, 255).astype(np.uint8)
        final = np.stack([np.take(table[:, band], final[..., band]) for band in range(3)], axis=-1)
    return final, objects_in(painted)


def _paint(stage: Stage, t: float, state: room.State) -> Image.Image:
    shift = stage.camera.shift(t / stage.length_s)
    picture = _background(stage, state["light"] > 0.5, shift)
    layers: list[tuple[float, Callable[[], None]]] = []
    for name, station in stage.stations:
        brush = brush_at(stage.camera, picture, station, shift)
        layers.append((station.depth, _furniture(name, brush, state, _moves(stage))))
    for actor, role in reversed(list(zip(stage.actors, ROLES, strict=False))):
        layers.append(_person(stage, actor, role, t, picture, shift, state))
    for _, draw in sorted(layers, key=lambda layer: -layer[0]):
        draw()
    for cue in stage.events:
        if cue.action in ROOTS and 0 <= cue.share(t) < 1:
            _root(stage, cue, t, brush_at(stage.camera, picture, dict(stage.stations)[""], shift))
    for name, column, paint in stage.foreground:
        decor.PAINTERS[name](brush_at(stage.camera, picture, Station(column, 1), shift), colour(paint))
    return picture


def _root(stage: Stage, cue: Cue, t: float, brush: Brush) -> None:
    """Draw what starts a chain of events, with a brush at the other person's station."""
    away = abs(stage.station(cue).x - dict(stage.stations)[""].x)
    ROOTS[cue.action](brush, away + TARGETS[cue.at], cue.share(t))


def _moves(stage: Stage) -> bool:
    """Return whether the camera or a row of furniture keeps the furniture from being part of the background."""
    return stage.camera != Camera() or any(station.depth for _, station in stage.stations)


def brush_at(camera: Camera, picture: Image.Image, station: Station, shift: float) -> Brush:
    """Return a brush that stands at a station."""
    size = camera.zoom * (1 - BACK_SHRINK * station.depth)
    floor = FLOOR_Y - BACK_RISE * station.depth * camera.zoom
    return Brush(picture, station.x * camera.zoom + shift, station.facing, floor=floor, scale=size)


def _furniture(name: str, brush: Brush, state: room.State, all_parts: bool) -> Callable[[], None]:
    def draw() -> None:
        named = brush.of(room.NAMES.get(name, name))
        if all_parts:
            _standing(name, brush)
        if name in room.CHANGING:
            room.CHANGING[name](named, state)
        if name in THINGS:
            THINGS[name](named, state)

    return draw


def _standing(name: str, brush: Brush) -> None:
    if name in room.STANDING:
        room.STANDING[name](brush.of(room.NAMES.get(name, name)), room.Things())


def _person(
    stage: Stage, actor: Actor, role: str, t: float, picture: Image.Image, shift: float, state: room.State
) -> tuple[float, Callable[[], None]]:
    """Return the depth of a person at `t` seconds, and a function that draws the person."""
    station, pose = where(stage, actor, t, state)

    def draw() -> None:
        cue = cue_at(actor.cues, t)
        here = brush_at(stage.camera, picture, station, shift).of(role)
        brush = here.moved(pose.step, pose.turn)
        brush = replace(brush, facing=math.copysign(max(abs(brush.facing), THINNEST), brush.facing))
        body = Body(brush, actor.look, alive(pose, t))
        if (carry := actor.carry) and carry.start <= t < carry.end:
            held = raised(Moment(t - carry.start, carry.end - carry.start, state))
            body = replace(body, carried=CARRYING[carry.action], raised=held)
        body.draw_behind(t)
        if cue and (hold := ACTIONS[cue.action].hold):
            hold(Moment(t - cue.start, cue.end - cue.start, state), here, body)
        body.draw_arm()

    return station.depth, draw


def where(stage: Stage, actor: Actor, t: float, state: room.State) -> tuple[Station, Pose]:
    """Return where a person is at `t` seconds, and in which pose."""
    cue = cue_at(actor.cues, t)
    if cue is None:
        return _between(stage, actor, t)
    return stage.station(cue), ACTIONS[cue.action].move(Moment(t - cue.start, cue.end - cue.start, state))


class Stop(NamedTuple):
    """A stay at a station, with the times of arrival and departure in seconds."""

    arrive: float
    leave: float
    station: Station


def _stops(stage: Stage, actor: Actor) -> Iterator[Stop]:
    """List where a person stops. Without actions, the person walks to each piece of furniture and back."""
    yield from (Stop(cue.start, cue.end, stage.station(cue)) for cue in actor.cues)
    if not actor.cues:
        round_trip = (*stage.stations, stage.stations[0])
        pause = stage.length_s / len(round_trip)
        yield from (Stop(n * pause, n * pause, station) for n, (_, station) in enumerate(round_trip))


def _between(stage: Stage, actor: Actor, t: float) -> tuple[Station, Pose]:
    stops = list(_stops(stage, actor))
    last = max((stop for stop in stops if stop.leave <= t), default=stops[0])
    following = min((stop for stop in stops if stop.arrive > t), default=last)
    origin, goal, began = last.station, following.station, last.leave
    way = goal.x - origin.x
    distance = abs(way) + ROW * abs(goal.depth - origin.depth)
    if not distance:
        return goal, STAND
    ahead = math.copysign(1.0, way or origin.facing)
    lasts = min(following.arrive - began, 0.5 + distance / WALK_SPEED)
    share = min(max((t - began - 0.15) / (lasts - 0.3), 0.0), 1.0)
    gone = ease(share, 0, 1)
    facing = origin.facing + (ahead - origin.facing) * ease(t, began, began + TURN_S)
    facing += (goal.facing - ahead) * ease(t, began + lasts - TURN_S, began + lasts)
    depth = origin.depth + (goal.depth - origin.depth) * gone
    stride = min(1.0, 1.6 * math.sin(math.pi * share))
    return Station(origin.x + way * gone, facing, depth), walking(distance * gone, stride)


def _background(stage: Stage, lit: bool, shift: float) -> Image.Image:
    """Return a copy of what never changes, as seen by the camera."""
    wide, leftmost = _empty_room(stage, lit)
    left = round((leftmost - shift) * OVERSAMPLING)
    return wide.crop((left, 0, left + WIDTH * OVERSAMPLING, wide.height))


@lru_cache(maxsize=STAGES_IN_CACHE)
def _empty_room(stage: Stage, lit: bool) -> tuple[Image.Image, float]:
    """Draw all that the camera sees in the course of the video, and return it with its shift (`Camera.shift`)."""
    camera, shifts = stage.camera, sorted(map(stage.camera.shift, (0.0, 1.0)))
    picture = canvas(colour(stage.wall), shifts[1] - shifts[0])
    brush = brush_at(camera, picture, Station(0, 1), shifts[1])
    wall, moves = colour(stage.wall), _moves(stage)
    room.shell(brush, wall, colour(stage.floor), margin=round(WIDTH * (1 / camera.zoom - 1)))
    if lit and "lamp" in dict(stage.stations):
        lamp = brush_at(camera, picture, dict(stage.stations)["lamp"], shifts[1])
        room.lamp_halo(lamp, wall, HALO if moves else 1.0)
    for name, column, paint in stage.decoration:
        decor.PAINTERS[name](brush_at(camera, picture, Station(column, 1), shifts[1]), colour(paint))
    if not moves:
        for name, station in stage.stations:
            _standing(name, brush_at(camera, picture, station, shifts[1]))
    return picture, shifts[1]
