"""What is annotated of a video over time: objects, relations and actions on its frames.

The form that AGQA's scene graphs, Charades' actions and drawn videos are all brought into, so that one engine answers
questions from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Provenance = Literal["agqa", "action_genome", "charades", "drawn"]
"""Who says so: AGQA's scene graphs; Action Genome's frames with Charades' actions; Charades' actions alone, which are
not exhaustive; or the drawing, which is."""

Frames = int
"""A set of annotated frames as the bits of a number: bit i is frame i."""


@dataclass(frozen=True, slots=True)
class ActionSpan:
    """An instance of an action.

    Attributes:
        phrase: AGQA's phrase for it.
        start, end: Seconds.
        frames: The frames that it covers, the nearest one at least.
    """

    phrase: str
    start: float
    end: float
    frames: Frames


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """A video's graph.

    Attributes:
        video_id: The video.
        times: Seconds of each annotated frame, ascending.
        relations: For each relation (attention, spatial, contact or verb) the frames it holds in with each object.
        contacts: The frames in which the person has any contact with each object.
        visible: The frames in which each object is known to be seen, touched or not.
        actions: Instances of actions, by start.
        provenance: Who says so.
        seen: Objects that are known to be in the video, touched or not: no question has "no" for its answer because
            one of them is missing.
    """

    video_id: str
    times: tuple[float, ...]
    relations: Mapping[str, Mapping[str, Frames]]
    contacts: Mapping[str, Frames]
    actions: tuple[ActionSpan, ...]
    provenance: Provenance
    seen: frozenset[str] = frozenset()
    visible: Mapping[str, Frames] = field(default_factory=dict)


def graph_as_json(graph: SceneGraph) -> dict[str, Any]:
    """Return a graph as JSON values; sets of frames are hexadecimal numbers."""
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
    """Return the graph that `graph_as_json` wrote."""
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
