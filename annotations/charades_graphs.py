"""Build scene graphs from the actions annotated in Charades.

The verb of an action becomes a relation and its object a contact. As Charades does not annotate everything that
happens, the answer "no" is less reliable than "yes".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ..templates.agqa import ANYTHING, load_agqa
from .actions import AnnotatedVideo
from .scene_graphs import ActionSpan, Frames, Provenance, SceneGraph, frames_of

FRAMES_PER_SECOND = 2


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
        for phrase, found in intervals.items()
        for start, end in joined(found)
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
    found: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
