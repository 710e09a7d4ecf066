"""Charades' annotated actions as scene graphs.

Charades says what is done and when; with what, its class tables say. From both come the actions, the relations that are
verbs of actions, and the objects that the person has to do with. What is not annotated is not in the graph, so "no" is
less certain than "yes".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from types import MappingProxyType

from ..templates.agqa import ANYTHING, load_agqa
from .actions import AnnotatedVideo
from .scene_graphs import ActionSpan, Frames, Provenance, SceneGraph

FRAMES_PER_SECOND = 2
MERGED = MappingProxyType({"c147": "c066", "c156": "c065"})
"""AGQA's: cooking is making some food, eating something is eating some food."""
AWAKENING = "c146"
AWAKENING_IN_BED = "c133"
BEDS = frozenset(("c134", "c135", "c133"))
"""Classes whose object is a bed."""


def charades_graph(video: AnnotatedVideo, counts: Counter[str] | None = None) -> SceneGraph:
    """Make a video's graph from its annotated actions.

    Args:
        video: The video, with Charades' classes as keys of its actions.
        counts: Counts what AGQA leaves out: intervals of classes without a phrase, and empty intervals.

    Returns:
        The graph, on frames every half second from 0. Overlapping or touching intervals of the same action are one.
    """
    times = frame_times(video.length_s)
    counts = Counter() if counts is None else counts
    annotated = {segment.action.key for segment in video.segments}
    intervals: dict[str, list[tuple[float, float]]] = defaultdict(list)
    words = load_agqa()
    for segment in video.segments:
        key = MERGED.get(segment.action.key, segment.action.key)
        if key == AWAKENING and annotated & BEDS:
            key = AWAKENING_IN_BED
        if key not in words.by_class:
            counts["intervals_of_classes_left_out"] += 1
        elif segment.end_s <= segment.start_s:
            counts["empty_intervals"] += 1
        else:
            intervals[key].append((segment.start_s, segment.end_s))
    spans = [
        ActionSpan(words.by_class[key].phrase, start, end, frames_of(times, start, end))
        for key, found in intervals.items()
        for start, end in joined(found)
    ]
    parts = {part: joint for name, joint in words.of_charades.items() for part in (name, *name.split("/"))}
    listed = (name.strip() for name in video.columns.get("objects", "").lower().split(";"))
    seen = {parts[name] for name in listed if name in parts}
    return graph_of(video.id, times, spans, "charades", seen)


def graph_of(
    video_id: str, times: Sequence[float], spans: Iterable[ActionSpan], provenance: Provenance, seen: Iterable[str] = ()
) -> SceneGraph:
    """Make a graph whose relations are the verbs of its actions.

    Every action brings contact with its object, and its verb's relation to it; but the relation is to `ANYTHING` if the
    action is done to another thing: something is put on a table, which is not the table put down.

    Args:
        video_id: The video.
        times: Seconds of its frames.
        spans: Its actions.
        provenance: Who says so.
        seen: Objects that are in the video besides.
    """
    relations: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
    contacts: dict[str, Frames] = defaultdict(int)
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end, span.phrase)))
    for span in ordered:
        words = load_agqa().actions[span.phrase]
        for thing in filter(None, (words.object, words.besides)):
            contacts[thing] |= span.frames
        if words.verb and words.object:
            relations[words.verb][ANYTHING if words.loose else words.object] |= span.frames
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    every = frozenset(seen) | frozenset(contacts)
    return SceneGraph(video_id, tuple(times), plain, dict(sorted(contacts.items())), ordered, provenance, every)


def frame_times(length_s: float) -> tuple[float, ...]:
    """Return the seconds of a video's frames: every half second from 0, one at least."""
    return tuple(number / FRAMES_PER_SECOND for number in range(max(1, math.ceil(length_s * FRAMES_PER_SECOND))))


def frames_of(times: Sequence[float], start: float, end: float) -> Frames:
    """Return the frames from `start` to `end` seconds, the nearest to the middle at least."""
    inside = sum(1 << number for number, time in enumerate(times) if start <= time <= end)
    middle = (start + end) / 2
    return inside or 1 << min(range(len(times)), key=lambda number: abs(times[number] - middle))


def joined(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join intervals that overlap or touch."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
