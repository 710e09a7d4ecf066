"""Scene graphs: objects, relations and actions on the frames of a video.

AGQA's scene graphs, Charades' actions and animated videos share this form, so that one engine answers questions about
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Provenance = Literal["agqa", "action_genome", "charades", "drawn"]
"""Who says so: AGQA's scene graphs; Action Genome's frames with Charades' actions; Charades' actions alone, which are
not exhaustive; or the drawing, which is."""

Frames = int
"""A set of annotated frames as the bits of a number: bit i is frame i."""


@dataclass(frozen=True, slots=True)
class ActionSpan:
    """An instance of an action: AGQA's phrase, start and end in seconds, and its frames (at least one)."""

    phrase: str
    start: float
    end: float
    frames: Frames


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """The graph of a video.

    Attributes:
        times: Times of the annotated frames in seconds, ascending.
        relations: For each relation (attention, spatial, contact or verb) and object, the frames on which it holds.
        contacts: For each object, the frames on which the person touches the object.
        visible: For each object, the frames on which the object is known to be visible.
        actions: Instances of actions, by start.
        provenance: The source of the annotation.
        seen: Objects known to be in the video; the answer to a question is never "no" because one of them is missing.
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
    """Return the frames from `start` to `end` seconds, or the frame nearest to the middle if there are none."""
    inside = sum(1 << number for number, time in enumerate(times) if start <= time <= end)
    if inside or not times:
        return inside
    middle = (start + end) / 2
    return 1 << min(range(len(times)), key=lambda number: abs(times[number] - middle))


def graph_as_json(graph: SceneGraph) -> dict[str, Any]:
    """Return a graph as JSON values; sets of frames become hexadecimal numbers."""
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
    """Return the graph that `graph_as_json` serialized."""
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
