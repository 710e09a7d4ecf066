"""Load the objects and relations that Action Genome annotates in Charades frames (Ji et al. 2020, arXiv 1912.06992)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from ..core.documents import read_pickle, read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..templates.agqa import load_agqa
from ..video.source_files import find_file
from .scene_graphs import Frames, SceneGraph, frames_of, graph_of

OBJECTS = "object_bbox_and_relationship.pkl"
FRAMES = "frame_list.txt"
ADVICE = "Download Action Genome's annotations again: https://github.com/JingweiJ/ActionGenome"
INVERTED = MappingProxyType({"in front of": "behind", "behind": "in front of", "above": "beneath", "beneath": "above"})
"""Inverses of spatial relations: Action Genome locates the object, AGQA's questions the person."""
UNKNOWN_RELATIONS = frozenset(("unsure", "other relationship", "not contacting"))
WITHOUT_PLACE = frozenset(("floor",))  # every object is above the floor
_KEY = re.compile(r"(?P<video>[^/]+?)(?:\.mp4)?/(?P<frame>\d+)(?:\.png|\.jpg)?\Z")
_FAMILIES = ("attention_relationship", "spatial_relationship", "contacting_relationship")


@dataclass(frozen=True, slots=True)
class GenomeObject:
    """An annotated object, such as "cup/glass/bottle", and how it relates to the person in one frame."""

    name: str
    attention: tuple[str, ...]
    spatial: tuple[str, ...]
    contact: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GenomeFrame:
    """An annotated frame, counted from 1, with all its visible objects except the person."""

    number: int
    objects: tuple[GenomeObject, ...]


def read_action_genome(folder: Path) -> dict[str, tuple[GenomeFrame, ...]]:
    """Load the annotated frames of each video, sorted by frame number.

    Args:
        folder: Folder that contains `object_bbox_and_relationship.pkl`, at most two levels deep. If it also contains
            `frame_list.txt`, every listed frame must be annotated.

    Raises:
        UsageError: The folder does not exist.
        InputError: The pickle is missing, is damaged, contains objects other than builtins, or lacks a listed frame.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. {ADVICE}")
    path = find_file(folder, OBJECTS)
    if not path:
        raise InputError(f"found no {OBJECTS} in {folder} or its subfolders (up to two levels deep). {ADVICE}")
    table = read_pickle(path, ADVICE)
    if not isinstance(table, dict):
        _refuse(path, "it is not a dictionary of frames")
    videos: dict[str, list[GenomeFrame]] = defaultdict(list)
    for key, rows in table.items():
        match = _KEY.match(key) if isinstance(key, str) else None
        if not match:
            _refuse(path, f"{key!r} is not a frame such as 001YG.mp4/000089.png")
        if not isinstance(rows, list) or not all(
            isinstance(row, dict) and isinstance(row.get("class"), str) for row in rows
        ):
            _refuse(path, f"{key} has no list of objects, each with its class")
        visible = [row for row in rows if row.get("visible", True) and row["class"] != "person"]
        objects = tuple(_object(path, key, row) for row in visible)
        videos[match["video"]].append(GenomeFrame(int(match["frame"]), objects))
    if listed := find_file(folder, FRAMES):
        missing = [line for line in map(str.strip, read_text(listed).splitlines()) if line and line not in table]
        if missing:
            _refuse(path, f"{len(missing)} frames of {FRAMES} are missing, first {missing[0]}")
    return {video: tuple(sorted(frames, key=lambda frame: frame.number)) for video, frames in sorted(videos.items())}


def genome_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 hash of each file read by `read_action_genome`, keyed by file name."""
    paths = [find_file(folder, name) for name in (OBJECTS, FRAMES)]
    return {path.name: sha256_file(path) for path in paths if path}


def _refuse(path: Path, why: str) -> NoReturn:
    raise InputError(f"{path}: {why}. {ADVICE}")


def _object(path: Path, key: str, row: dict[str, Any]) -> GenomeObject:
    relations = []
    for family in _FAMILIES:
        names = row.get(family) or ()
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            _refuse(path, f"{key}: the {family} of {row['class']} is not a list of names")
        relations.append(tuple(name.replace("_", " ") for name in names))
    return GenomeObject(row["class"], *relations)


def with_action_genome(
    graph: SceneGraph, frames: Sequence[GenomeFrame], fps: float, *, drawn: bool = False
) -> SceneGraph:
    """Add Action Genome's frames, objects and relations to a graph of Charades actions.

    As in AGQA, spatial relations are inverted and synonymous objects are merged, unless a question could then mention
    one that is not there. The person is assumed to touch the object of an action for as long as the action lasts.

    Args:
        graph: Graph of the Charades actions.
        frames: Annotated frames of the video. If there are none, the graph is returned unchanged.
        fps: Frame rate of the video. Frame n is at (n - 1) / fps seconds, as in Action Genome's own script.
        drawn: Whether the frames are those of a drawn world, where every visible object is annotated.
    """
    if not frames:
        return graph
    times = tuple((frame.number - 1) / fps for frame in frames)
    spans = [replace(span, frames=frames_of(times, span.start, span.end)) for span in graph.actions]
    base = graph_of(graph.video_id, times, spans, "drawn_frames" if drawn else "action_genome", graph.seen)
    relations: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
    for relation, things in base.relations.items():
        relations[relation].update(things)
    contacts: dict[str, Frames] = defaultdict(int, base.contacts)
    visible: dict[str, Frames] = defaultdict(int)
    names = load_agqa().of_charades
    for index, frame in enumerate(frames):
        for thing in frame.objects:
            name = names.get(thing.name, thing.name)
            visible[name] |= 1 << index
            spatial = () if name in WITHOUT_PLACE else thing.spatial
            inverted = {INVERTED.get(relation, relation) for relation in spatial}
            for relation in (inverted | {*thing.attention, *thing.contact}) - UNKNOWN_RELATIONS:
                relations[relation][name] |= 1 << index
            if set(thing.contact) - UNKNOWN_RELATIONS:
                contacts[name] |= 1 << index
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    return replace(
        base,
        relations=plain,
        contacts=dict(sorted(contacts.items())),
        seen=base.seen | visible.keys(),
        visible=dict(sorted(visible.items())),
    )
