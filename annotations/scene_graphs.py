"""Scene graphs: the objects, relations and actions in the frames of a video, in a form shared by all sources.

A graph of Charades actions has a relation for each verb and a contact for each object. As Charades does not annotate
everything that happens, the answer "no" is less reliable than "yes".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..templates.agqa import ANYTHING, load_agqa
from .actions import AnnotatedVideo

FRAMES_PER_SECOND = 2
Provenance = Literal["agqa", "action_genome", "drawn_frames", "charades", "drawn"]
"""Source of a graph: AGQA's scene graphs; Action Genome's frames with Charades' actions; the same of a drawn world,
where every visible object is annotated; Charades' actions only, which are not exhaustive; or the script of an
animation, which is."""

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
    inside = sum(1 << index for index, time in enumerate(times) if start <= time <= end)
    if inside or not times:
        return inside
    middle = (start + end) / 2
    return 1 << min(range(len(times)), key=lambda index: abs(times[index] - middle))


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


def charades_graph(video: AnnotatedVideo, counts: Counter[str] | None = None) -> SceneGraph:
    """Build the scene graph of a video, with a frame every half second.

    Overlapping or adjacent intervals of the same action are merged. Classes that AGQA does not have count as those that
    replace them. If `counts` is given, it counts the empty intervals, which are left out, and those of actions that no
    question can mention.
    """
    times = frame_times(video.length_s)
    counts = Counter() if counts is None else counts
    annotated = {segment.action.key for segment in video.segments}
    intervals: dict[str, list[tuple[float, float]]] = defaultdict(list)
    words = load_agqa()
    for segment in video.segments:
        event = words.event(segment.action.key, annotated)
        if event and segment.end_s > segment.start_s:
            intervals[event.phrase].append((segment.start_s, segment.end_s))
            counts["intervals_not_named"] += bool(event.taken_for)
        else:
            counts["empty_intervals"] += 1
    spans = [
        ActionSpan(phrase, start, end, frames_of(times, start, end))
        for phrase, annotated_times in intervals.items()
        for start, end in joined(annotated_times)
    ]
    parts = {part: joint for name, joint in words.of_charades.items() for part in (name, *name.split("/"))}
    listed = (name.strip() for name in video.columns.get("objects", "").lower().split(";"))
    seen = {parts[name] for name in listed if name in parts}
    return graph_of(video.id, times, spans, "charades", seen)


def graph_of(
    video_id: str, times: Sequence[float], spans: Iterable[ActionSpan], provenance: Provenance, seen: Iterable[str] = ()
) -> SceneGraph:
    """Build a graph from actions. `seen` lists other objects that are known to be in the video.

    Every action implies contact with its object, and a relation between its verb and the object. The relation is to
    `ANYTHING` if the verb acts on something else: in "putting something on a table", the table is not put down, but
    something else is touched.
    """
    relations: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
    contacts: dict[str, Frames] = defaultdict(int)
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end, span.phrase)))
    for span in ordered:
        words = load_agqa().events[span.phrase]
        acted_on = ANYTHING if words.loose else words.object
        for thing in filter(None, (words.object, words.besides, acted_on)):
            contacts[thing] |= span.frames
        if words.verb and acted_on:
            relations[words.verb][acted_on] |= span.frames
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    every = frozenset(seen) | (frozenset(contacts) - {ANYTHING})
    return SceneGraph(video_id, tuple(times), plain, dict(sorted(contacts.items())), ordered, provenance, every)


def frame_times(length_s: float) -> tuple[float, ...]:
    """Return the times of the frames in seconds: every half second from 0, and at least one."""
    return tuple(number / FRAMES_PER_SECOND for number in range(max(1, math.ceil(length_s * FRAMES_PER_SECOND))))


def joined(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge overlapping or adjacent intervals."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
