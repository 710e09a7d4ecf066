"""Draw a frame of a video: a room, and a person who performs actions in it. It depends only on a stage and a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import room
from .figure import STAND, Body, Look, Pose, alive, walking
from .movements import ACTS, IN_HAND, LET_GO, Moment, ease
from .paint import Brush, canvas, colour, finish

STAGES_IN_CACHE = 4
WALK_SPEED, TURN_S = 95.0, 0.3  # pixels per second; seconds per turn
THINNEST = 0.6  # minimum width of a turning body, relative to its full width


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
    cue = _cue_at(cues, t)
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


def _cue_at(cues: Sequence[Cue], t: float) -> Cue | None:
    return next((cue for cue in cues if cue.start <= t < cue.end), None)


def picture_at(stage: Stage, t: float) -> NDArray[np.uint8]:
    """Draw the frame at `t` seconds as a uint8 RGB array of shape (240, 320, 3)."""
    state = state_at(stage.cues, t)
    picture = _empty_room(stage, state["light"] > 0.5).copy()
    for name, station in stage.stations:
        if name in room.CHANGING:
            room.CHANGING[name](Brush(picture, *station), state)
    _draw_person(stage, t, picture, state)
    final, darkness = finish(picture), 1 - state["light"]
    if darkness <= 0:
        return final
    return np.rint(final * (1 - np.array([0.52, 0.46, 0.26]) * darkness)).astype(np.uint8)


def _draw_person(stage: Stage, t: float, picture: Image.Image, state: room.State) -> None:
    cue = _cue_at(stage.cues, t)
    if cue is None:
        station, pose = _between(stage, t)
    else:
        act, moment = ACTS[cue.action], Moment(t - cue.start, cue.end - cue.start, state)
        station, pose = dict(stage.stations)[act.furniture], act.move(moment)
    here = Brush(picture, *station)
    brush = here.moved(pose.step, pose.turn)
    brush = replace(brush, facing=math.copysign(max(abs(brush.facing), THINNEST), brush.facing))
    body = Body(brush, stage.look, alive(pose, t))
    body.draw_behind(t)
    if cue and act.hold:
        act.hold(moment, here, body)
    body.draw_arm()


class Stop(NamedTuple):
    """A stay at a station, with the times of arrival and departure in seconds."""

    arrive: float
    leave: float
    station: Station


def _stops(stage: Stage) -> list[Stop]:
    """List where the person stops. If there are no actions, the person walks to each piece of furniture and back."""
    if stage.cues:
        return [Stop(cue.start, cue.end, dict(stage.stations)[ACTS[cue.action].furniture]) for cue in stage.cues]
    round_trip = (*stage.stations, stage.stations[0])
    pause = stage.length_s / len(round_trip)
    return [Stop(n * pause, n * pause, station) for n, (_, station) in enumerate(round_trip)]


def _between(stage: Stage, t: float) -> tuple[Station, Pose]:
    stops = _stops(stage)
    last = max((stop for stop in stops if stop.leave <= t), default=stops[0])
    following = min((stop for stop in stops if stop.arrive > t), default=last)
    origin, goal, way = last.station, following.station, following.station.x - last.station.x
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
            room.lamp_halo(Brush(picture, *station))
        if name in room.STANDING:
            room.STANDING[name](Brush(picture, *station), room.Things())
    return picture
