"""Scene graphs: objects, relations and actions in the frames of a video, whatever their source."""

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
    """An instance of an action: AGQA's phrase, start and end in seconds, and at least one frame."""

    phrase: str
    start: float
    end: float
    frames: Frames


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """The scene graph of a video.

    Attributes:
        times: Times of the annotated frames in seconds, ascending.
        relations: Frames in which each relation (attention, spatial, contact or verb) holds, by relation and object.
        contacts: Frames in which the person touches each object.
        visible: Frames in which each object is known to be visible.
        actions: Instances of actions, sorted by start.
        provenance: Source of the annotations.
        seen: Objects known to be in the video; their absence from a relation is no reason to answer "no".
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
    """Return the frames from `start` to `end` seconds; if there are none, the frame nearest to the middle."""
    inside = sum(1 << number for number, time in enumerate(times) if start <= time <= end)
    if inside or not times:
        return inside
    middle = (start + end) / 2
    return 1 << min(range(len(times)), key=lambda number: abs(times[number] - middle))


def graph_as_json(graph: SceneGraph) -> dict[str, Any]:
    """Convert a graph to JSON values; sets of frames become hexadecimal strings."""
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
    """Convert the result of `graph_as_json` back to a graph."""
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
