"""Action Genome: objects and relations on frames of Charades' videos.

Ji et al. 2020, "Action Genome: Actions as Compositions of Spatio-temporal Scene Graphs" (arXiv 1912.06992). Its pickle
is read by an unpickler that makes lists, tuples, dictionaries, sets, text, numbers and nothing else: a pickle can run
code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..templates.agqa import load_agqa
from ..video.source_files import find_file
from .charades_graphs import frames_of, graph_of
from .pickles import read_pickle
from .scene_graphs import Frames, SceneGraph

OBJECTS = "object_bbox_and_relationship.pkl"
FRAMES = "frame_list.txt"
ADVICE = "Download Action Genome's annotations again: https://github.com/JingweiJ/ActionGenome"
INVERTED = MappingProxyType({"in front of": "behind", "behind": "in front of", "above": "beneath", "beneath": "above"})
"""Action Genome says where the object is, questions say where the person is."""
NOT_SAID = frozenset(("unsure", "other relationship", "not contacting"))
WITHOUT_PLACE = frozenset(("floor",))
"""Everything is above the floor."""
_KEY = re.compile(r"(?P<video>[^/]+?)(?:\.mp4)?/(?P<frame>\d+)(?:\.png|\.jpg)?\Z")
_FAMILIES = ("attention_relationship", "spatial_relationship", "contacting_relationship")


@dataclass(frozen=True, slots=True)
class SeenObject:
    """An object on a frame.

    Attributes:
        name: Action Genome's name, such as "cup/glass/bottle".
        attention, spatial, contact: Its relations to the person as Action Genome has them, spaces for underscores.
    """

    name: str
    attention: tuple[str, ...]
    spatial: tuple[str, ...]
    contact: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GenomeFrame:
    """An annotated frame.

    Attributes:
        number: Of its file, from 1.
        objects: What is visible on it; the person is not among them.
    """

    number: int
    objects: tuple[SeenObject, ...]


def read_action_genome(folder: Path) -> dict[str, tuple[GenomeFrame, ...]]:
    """Read the annotated frames of every video.

    Args:
        folder: Holds `object_bbox_and_relationship.pkl`, and `frame_list.txt` if it is to be compared, itself or up to
            two folders below.

    Returns:
        Frames by video id, in order of their numbers.

    Raises:
        UsageError: There is no such folder.
        InputError: The pickle is missing or damaged, holds more than plain values, or lacks a frame of the list.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. {ADVICE}")
    path = find_file(folder, OBJECTS)
    if not path:
        raise InputError(f"no {OBJECTS} in {folder} or two folders below it. {ADVICE}")
    table = read_pickle(path, ADVICE)
    if not isinstance(table, dict):
        _refuse(path, "it is no dictionary of frames")
    videos: dict[str, list[GenomeFrame]] = defaultdict(list)
    for key, rows in table.items():
        video, number = _place(path, key)
        videos[video].append(GenomeFrame(number, tuple(_seen(path, key, row) for row in _visible(path, key, rows))))
    _check_list(folder, path, table)
    return {video: tuple(sorted(frames, key=lambda frame: frame.number)) for video, frames in sorted(videos.items())}


def genome_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files that `read_action_genome` reads, by name."""
    found = [find_file(folder, name) for name in (OBJECTS, FRAMES)]
    return {path.name: sha256_file(path) for path in found if path}


def _refuse(path: Path, why: str) -> NoReturn:
    raise InputError(f"{path}: {why}. {ADVICE}")


def _place(path: Path, key: object) -> tuple[str, int]:
    match = _KEY.match(key) if isinstance(key, str) else None
    if not match:
        _refuse(path, f"{key!r} is no frame such as 001YG.mp4/000089.png")
    return match["video"], int(match["frame"])


def _visible(path: Path, key: str, rows: object) -> list[dict[str, Any]]:
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("class"), str) for row in rows
    ):
        _refuse(path, f"{key} has no list of objects, each with its class")
    return [row for row in rows if row.get("visible", True) and row["class"] != "person"]


def _seen(path: Path, key: str, row: dict[str, Any]) -> SeenObject:
    found = []
    for family in _FAMILIES:
        names = row.get(family) or ()
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            _refuse(path, f"{key}: the {family} of {row['class']} is no list of names")
        found.append(tuple(name.replace("_", " ") for name in names))
    return SeenObject(row["class"], *found)


def _check_list(folder: Path, path: Path, table: Mapping[str, object]) -> None:
    listed = find_file(folder, FRAMES)
    if listed:
        missing = [line for line in map(str.strip, read_text(listed).splitlines()) if line and line not in table]
        if missing:
            _refuse(path, f"{len(missing)} frames of {FRAMES} are not in it, first {missing[0]}")


def with_action_genome(graph: SceneGraph, frames: Sequence[GenomeFrame], fps: float) -> SceneGraph:
    """Add Action Genome's objects and relations to a graph of Charades' actions.

    Args:
        graph: Of the actions.
        frames: The video's annotated frames; without any the graph stays as it is.
        fps: Of the video. Action Genome's frames are taken to be numbered from 1 at this rate, as its own script
            writes them: frame n is shown (n - 1) / fps seconds into the video.

    Returns:
        The graph on Action Genome's frames. Spatial relations are turned round, objects that AGQA joins are one, and
        what an action is done with is touched in its frames.
    """
    if not frames:
        return graph
    times = tuple((frame.number - 1) / fps for frame in frames)
    spans = [replace(span, frames=frames_of(times, span.start, span.end)) for span in graph.actions]
    base = graph_of(graph.video_id, times, spans, "action_genome", graph.seen)
    relations: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
    for relation, things in base.relations.items():
        relations[relation].update(things)
    contacts: dict[str, Frames] = defaultdict(int, base.contacts)
    visible: dict[str, Frames] = defaultdict(int)
    names = load_agqa().of_charades
    for number, frame in enumerate(frames):
        for thing in frame.objects:
            name = names.get(thing.name, thing.name)
            visible[name] |= 1 << number
            for relation in _relations(thing, name):
                relations[relation][name] |= 1 << number
            if set(thing.contact) - NOT_SAID:
                contacts[name] |= 1 << number
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    return replace(
        base,
        relations=plain,
        contacts=dict(sorted(contacts.items())),
        seen=base.seen | visible.keys(),
        visible=dict(sorted(visible.items())),
    )


def _relations(thing: SeenObject, name: str) -> set[str]:
    spatial = () if name in WITHOUT_PLACE else thing.spatial
    turned = {INVERTED.get(relation, relation) for relation in spatial}
    return (turned | {*thing.attention, *thing.contact}) - NOT_SAID
