"""Write the annotations of drawn videos in the format of Action Genome: boxes of the drawn pixels, and relations.

Relations follow from the script. Action Genome annotates one object of each class in a frame: here, the one that the
person uses, or else the largest.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from math import ceil
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ...core.documents import package_table
from ..action_genome import FRAMES, OBJECTS
from ..samples.movements import CARRYING
from ..samples.paint import FLOOR_Y, HEIGHT, WIDTH
from ..samples.room import WALL_FOOT
from ..samples.stage import cue_at, held_at
from .scenes import Scene

PEOPLE = "person_bbox.pkl"
PER_ACTION = 5  # annotated frames of each action, as in Action Genome
FEWEST = 25  # visible pixels of an annotated thing
LOOKING = (0.1, 0.92)  # share of an action in which the person looks at what it is done to
SUPPORTS = frozenset(("sitting_on", "lying_on"))
Row = dict[str, Any]


@cache
def _words() -> Mapping[str, Any]:
    words: Mapping[str, Any] = package_table(Path(__file__).with_suffix(".yaml"))
    return words


@dataclass
class _Pickle:
    """A pickled dictionary that grows item by item, without the objects in memory. It contains only builtins."""

    content: io.BytesIO = field(default_factory=lambda: io.BytesIO(b"\x80\x02}"))  # protocol 2, an empty dictionary

    def __post_init__(self) -> None:
        self.content.seek(0, io.SEEK_END)

    def add(self, key: str, value: Any) -> None:
        for part in (key, value):
            self.content.write(pickle.dumps(part, protocol=2)[2:-1])
        self.content.write(pickle.SETITEM)

    def finish(self) -> bytes:
        return self.content.getvalue() + pickle.STOP


def action_genome_files(scenes: Iterator[Scene], table: Path) -> dict[str, str | bytes]:
    """Return the files of Action Genome by name. `table` is the Parquet file with what each frame shows."""
    objects, people, listed = _Pickle(), _Pickle(), list[str]()
    for scene, rows in zip(scenes, _by_video(table), strict=True):
        chosen = annotated_frames(scene)
        for row in (row for row in rows if row["frame"] in chosen):
            frame = f"{scene.id}.mp4/{row['frame'] + 1:06}.png"
            listed.append(frame)
            boxes = {thing["name"]: thing for thing in row["objects"]}
            people.add(frame, _person(boxes.get("person")))
            objects.add(frame, [*objects_of(scene, row, frame)])
    return {OBJECTS: objects.finish(), PEOPLE: people.finish(), FRAMES: "".join(f"{name}\n" for name in listed)}


def _by_video(table: Path) -> Iterator[list[Row]]:
    """Yield the rows of each video. They are consecutive."""
    with pq.ParquetFile(table) as file:
        rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
        for _, video in groupby(rows, key=itemgetter("video_id")):
            yield list(video)


def annotated_frames(scene: Scene) -> set[int]:
    """Return the numbers of the annotated frames, counted from 0: one a second, and five of each action."""
    times = [second + 0.5 for second in range(ceil(scene.stage.length_s - 0.5))]
    shares = [(part + 0.5) / PER_ACTION for part in range(PER_ACTION)]
    times += [cue.start + share * (cue.end - cue.start) for cue in scene.cues for share in shares]
    return {min(round(time * scene.rate), scene.num_frames - 1) for time in times}


def _person(thing: Row | None) -> Row:
    boxes = [[float(thing[edge]) for edge in ("left", "top", "right", "bottom")]] if thing else []
    return {"bbox": boxes, "bbox_score": [1.0] * len(boxes), "bbox_size": (WIDTH, HEIGHT), "bbox_mode": "xyxy"}


def contacts_at(scene: Scene, t: float) -> dict[str, set[str]]:
    """Return how the person touches things at `t` seconds."""
    person, words = scene.stage.actors[0], _words()
    carried = cue_at([person.carry] if person.carry else [], t)
    contacts: dict[str, set[str]] = {CARRYING[carried.action]: {"holding", "touching"}} if carried else {}
    cue = cue_at(person.cues, t)
    for thing in held_at(person.cues, t) & words["held"].keys():
        contacts.setdefault(words["held"][thing], set()).update(("holding", "touching"))
    if cue:
        for contact, thing, begin, end in words["contact"].get(cue.action, ()):
            if begin <= cue.share(t) <= end:
                contacts.setdefault(thing, set()).add(contact)
    return contacts


def objects_of(scene: Scene, row: Row, frame: str) -> Iterator[Row]:
    """Yield the annotations of a frame."""
    t, words = row["time_s"], _words()
    contacts, boxes = contacts_at(scene, t), {thing["name"]: thing for thing in row["objects"]}
    cue = cue_at(scene.stage.actors[0].cues, t)
    at = words["attention"].get(cue.action) if cue and LOOKING[0] <= cue.share(t) <= LOOKING[1] else None
    best: dict[str, tuple[bool, bool, int, str]] = {}
    for name, thing in boxes.items():
        if name in words["classes"] and (thing["pixels"] >= FEWEST or name in contacts):
            label = words["classes"][name]
            rank = (name in contacts, name == at, thing["pixels"], name)
            best[label] = max(best.get(label, rank), rank)
    for label, (*_, name) in sorted(best.items()):
        attention = "looking_at" if name == at else "not_looking_at"
        contact = sorted(contacts.get(name, ())) or ["not_contacting"]
        spatial = _place(scene, row, boxes, name, contact)
        left, top, right, bottom = (float(boxes[name][edge]) for edge in ("left", "top", "right", "bottom"))
        yield _annotation(scene, frame, label, (left, top, right - left, bottom - top), attention, spatial, contact)
    if contact := sorted(contacts.get("floor", ())):  # everybody stands on it
        edge = FLOOR_Y - WALL_FOOT * scene.stage.camera.zoom
        box = (0.0, edge, float(WIDTH), HEIGHT - edge)
        yield _annotation(scene, frame, "floor", box, "not_looking_at", "beneath", contact)


def _annotation(
    scene: Scene, frame: str, label: str, box: tuple[float, ...], attention: str, spatial: str, contact: list[str]
) -> Row:
    tag = frame.replace("/", f"/{label}/")
    return {
        "class": label,
        "bbox": box,
        "attention_relationship": [attention],
        "spatial_relationship": [spatial],
        "contacting_relationship": contact,
        "visible": True,
        "metadata": {"tag": tag.removesuffix(".png"), "set": scene.split},
    }


def _place(scene: Scene, row: Row, boxes: Mapping[str, Row], name: str, contact: list[str]) -> str:
    """Return where a thing is, as the camera sees it: before or behind the person if the two overlap, else beside."""
    if SUPPORTS & {*contact}:
        return "beneath"
    if "holding" in contact and name in CARRYING.values():
        return "on_the_side_of"
    if "holding" in contact and name in _words()["held"].values():
        return "in_front_of"
    person, thing = boxes.get("person"), boxes[name]
    middle = (person["left"] + person["right"]) / 2 if person else -1
    if not thing["left"] <= middle < thing["right"]:
        return "on_the_side_of"
    stations = dict(scene.stage.stations)
    station = stations.get(_words()["parts"].get(name, name))
    nearer = station is not None and station.depth < row["people"][0]["row"]
    return "in_front_of" if nearer else "behind"
