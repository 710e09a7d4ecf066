"""Derive scene graphs of the animated sample videos from their animation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from ...annotations.samples.charades import SampleVideo
from ...annotations.samples.stage import held_at
from ...annotations.scene_graphs import ActionSpan, Frames, SceneGraph, frame_times, frames_of, graph_of
from ...templates import read_table
from ...templates.agqa import load_agqa


def drawn_graph(video: SampleVideo) -> SceneGraph:
    """Return the complete scene graph of a sample video, with a frame every half second."""
    times = frame_times(video.length_s)
    shown_classes = {cue.action for cue in video.actions}
    spans = []
    for cue in video.actions:
        if action := load_agqa().event(cue.action, shown_classes):
            spans.append(ActionSpan(action.phrase, cue.start, cue.end, frames_of(times, cue.start, cue.end)))
    furniture = {thing for name, _ in video.stage.stations for thing in _table()["furniture"][name]}
    shown = {*furniture, *_table()["always"]}
    graph = graph_of(video.id, times, spans, "drawn", shown)
    relations: dict[str, dict[str, Frames]] = defaultdict(dict)
    for relation, things in graph.relations.items():
        relations[relation] = dict(things)
    contacts = defaultdict(int, graph.contacts)
    for relation, thing, number in _facts(video, times):
        relations[relation][thing] = relations[relation].get(thing, 0) | 1 << number
        contacts[thing] |= 1 << number
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    return replace(
        graph,
        relations=plain,
        contacts=dict(sorted(contacts.items())),
        seen=graph.seen | {*contacts},
        visible=dict.fromkeys(sorted(shown), (1 << len(times)) - 1),
    )


def _facts(video: SampleVideo, times: tuple[float, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield additional relations as triples of relation, object and frame number."""
    table = _table()
    for number, time in enumerate(times):
        for name in sorted(held_at(video.actions, time)):
            yield "holding", table["things"][name], number
            yield "touching", table["things"][name], number
        for cue in video.actions:
            share = (time - cue.start) / (cue.end - cue.start)
            for relation, thing, begin, end in table["during"].get(cue.action, ()):
                if begin <= share <= end:
                    yield relation, thing, number


@cache
def _table() -> dict[str, Any]:
    return read_table("agqa_drawn")
