"""Record what each frame of a drawn video shows: the visible pixels of every object, and what the people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..samples.paint import HEIGHT, OBJECTS, WIDTH
from ..samples.stage import ROLES, frame_at, state_at, where
from .scenes import Scene

_EDGES = [(edge, pa.int16()) for edge in ("left", "top", "right", "bottom")]
_OBJECT = pa.struct([("name", pa.string()), ("pixels", pa.int32()), *_EDGES])
_ACTION = pa.struct([("action", pa.string()), ("phase", pa.float32())])
_PERSON = pa.struct(
    {"role": pa.string(), "name": pa.string(), "x": pa.float32(), "row": pa.float32(), "actions": pa.list_(_ACTION)}
)
SCHEMA = pa.schema(
    [
        pa.field("video_id", pa.string(), nullable=False),
        pa.field("frame", pa.int32(), nullable=False),
        pa.field("time_s", pa.float64(), nullable=False),
        pa.field("objects", pa.list_(_OBJECT)),
        pa.field("people", pa.list_(_PERSON)),
        pa.field("state", pa.list_(pa.struct([("thing", pa.string()), ("value", pa.float32())]))),
    ]
)
"""Columns of the table `world`.

`objects`: number of visible pixels and bounding box (`right` and `bottom` exclusive) of each visible object. `people`:
where each person stands (column of the room; row from 0, front, to 1, back), and the current actions with the share of
each that has passed. `state`: how far each change of an object is, such as 1 for an open door.
"""


def frames(scene: Scene, rows: list[dict[str, Any]]) -> Iterator[NDArray[np.uint8]]:
    """Draw the frames of a video one by one, as uint8 RGB arrays of shape (240, 320, 3), and append a row for each."""
    for frame in range(scene.num_frames):
        picture, objects = frame_at(scene.stage, float(frame / scene.rate))
        rows.append(row_of(scene, frame, objects))
        yield picture


def row_of(scene: Scene, frame: int, objects: NDArray[np.uint8]) -> dict[str, Any]:
    """Return the row of a frame, whose pixels show the objects with these numbers."""
    t, stage = float(frame / scene.rate), scene.stage
    state = state_at(stage.cues, t)
    people = []
    for actor, role, name in zip(stage.actors, ROLES, (scene.person, scene.other), strict=False):
        station, pose = where(stage, actor, t, state)
        current = [cue for cue in actor.all_cues if cue.start <= t < cue.end]
        done = [{"action": cue.action, "phase": cue.share(t)} for cue in current]
        x = station.x + station.facing * pose.step
        people.append({"role": role, "name": name, "x": x, "row": station.depth, "actions": done})
    changes = [{"thing": thing, "value": value} for thing, value in sorted(state.items())]
    return {
        "video_id": scene.id,
        "frame": frame,
        "time_s": t,
        "objects": boxes(objects),
        "people": people,
        "state": changes,
    }


def boxes(objects: NDArray[np.uint8]) -> list[dict[str, Any]]:
    """Return name, number of pixels and bounding box of each object in a frame, uint8 of shape (240, 320)."""
    pixels = np.bincount(objects.ravel(), minlength=len(OBJECTS))
    columns, lines = np.zeros((len(OBJECTS), WIDTH), bool), np.zeros((len(OBJECTS), HEIGHT), bool)
    columns[objects, np.arange(WIDTH)] = True
    lines[objects, np.arange(HEIGHT)[:, None]] = True
    rows = []
    for number in np.flatnonzero(pixels[1:]) + 1:
        across, down = np.flatnonzero(columns[number]), np.flatnonzero(lines[number])
        box = {"left": across[0], "top": down[0], "right": across[-1] + 1, "bottom": down[-1] + 1}
        rows.append({"name": OBJECTS[number], "pixels": int(pixels[number]), **{k: int(v) for k, v in box.items()}})
    return rows
