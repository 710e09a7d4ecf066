"""Scene graphs: the objects, relations and actions in the frames of a video, in a form shared by all sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Provenance = Literal["agqa", "action_genome", "charades", "drawn"]
"""Source of a graph: AGQA's scene graphs; Action Genome's frames with Charades' actions; Charades' actions only, which
are not exhaustive; or the script of an animation, which is."""

Frames = int
"""A set of annotated frames as a bit mask: bit i is frame i."""


@dataclass(frozen=True, slots=True)
class ActionSpan:
    """One occurrence of an action: AGQA's phrase, its start and end in seconds, and its frames (at least one)."""

    phrase: str
    start: float
    end: float
    frames: Frames


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """The scene graph of a video.

    Attributes:
        times: Times of the annotated frames in seconds, ascending.
        relations: For each relation (attention, spatial, contact or verb) and object, the frames in which it holds.
        contacts: Frames in which the person touches each object.
        visible: Frames in which each object is known to be visible.
        actions: All occurrences of actions, sorted by start.
        provenance: Source of the annotations.
        seen: Objects known to be in the video. That they have no relation is not evidence for the answer "no".
    """

    video_id: str
    times: tuple[float, ...]
    relations: Mapping[str, Mapping[str, Frames]]
    contacts: Mapping[str, Frames]
    actions: tuple[ActionSpan, ...]
    provenance: Provenance
    seen: frozenset[str] = frozenset()
    visible: Mapping[str, Frames] = field(default_factory=dict)


def frames_of(times: Sequence[float], start: float, end: float) -> Frames:
    """Return the frames between `start` and `end` seconds or, if there are none, the frame closest to the midpoint."""
    inside = sum(1 << number for number, time in enumerate(times) if start <= time <= end)
    if inside or not times:
        return inside
    middle = (start + end) / 2
    return 1 << min(range(len(times)), key=lambda number: abs(times[number] - middle))


def graph_as_json(graph: SceneGraph) -> dict[str, Any]:
    """Convert a graph to values that JSON supports, with sets of frames as hexadecimal strings."""
    return {
        "times": list(graph.times),
        "relations": {name: _written(things) for name, things in graph.relations.items()},
        "contacts": _written(graph.contacts),
        "actions": [[span.phrase, span.start, span.end, f"{span.frames:x}"] for span in graph.actions],
        "provenance": graph.provenance,
        "seen": sorted(graph.seen),
        "visible": _written(graph.visible),
    }


def graph_from_json(video_id: str, content: Mapping[str, Any]) -> SceneGraph:
    """Rebuild a graph from the result of `graph_as_json`."""
    return SceneGraph(
        video_id,
        tuple(content["times"]),
        {name: _read(things) for name, things in content["relations"].items()},
        _read(content["contacts"]),
        tuple(ActionSpan(phrase, start, end, int(bits, 16)) for phrase, start, end, bits in content["actions"]),
        content["provenance"],
        frozenset(content["seen"]),
        _read(content["visible"]),
    )


def _written(things: Mapping[str, Frames]) -> dict[str, str]:
    return {name: f"{frames:x}" for name, frames in things.items()}


def _read(things: Mapping[str, str]) -> dict[str, Frames]:
    return {name: int(bits, 16) for name, bits in things.items()}
