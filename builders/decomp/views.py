"""A video's graph as the maker of questions looks at it: what is beyond doubt, and what only just holds.

Times that people annotate are about a second off. A part of the video is therefore looked at twice: a second shorter at
either end, and a second longer. What a question says must be so in both.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from ...programs.questions import Action, Edge, ExtremeAction, Object, Question, ToAction, Window
from ...sources.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import ANYTHING, ActionWords, load_agqa
from ...templates.agqa_making import ANY, load_rules
from .graph_answers import Answer, Teller

MARGIN = 1.0
"""Seconds by which a part of the video is taken shorter and longer."""
Part = tuple[Frames, Frames]
"""A part of the video, taken shorter and longer."""


@dataclass(frozen=True, eq=False)
class View:
    """A graph with what is looked up in it again and again.

    Attributes:
        graph: The graph.
        tell: Answers questions by it.
        single: The actions that happen once and may be named in a part of the video, by phrase.
        phrases: All actions, by phrase, with the number of their instances.
        held: Frames of each relation, whatever the object.
        verbs: For each verb of an action the frames in which it is done to or with each object, however loosely.
        parts: Parts of the video that were looked at.
    """

    graph: SceneGraph
    tell: Callable[[Question], Answer]
    single: dict[str, ActionSpan]
    phrases: dict[str, int]
    held: dict[str, Frames]
    verbs: dict[str, dict[str, Frames]]
    parts: dict[Window, Part | None]

    def frames(self, start: float, end: float) -> Frames:
        """Return the frames from `start` to `end` seconds."""
        low, high = bisect_left(self.graph.times, start), bisect_right(self.graph.times, end)
        return ((1 << high) - 1) & ~((1 << low) - 1) if high > low else 0

    def span(self, action: Action) -> ActionSpan | None:
        """Return an action that happens once and may be named; None if it is none."""
        if isinstance(action, str):
            return self.single.get(action)
        if isinstance(action, ExtremeAction):
            return self.single.get(self.tell(action).value or "")
        fits = [self.single.get(words.phrase) for words in self.meant(action)]
        return fits[0] if len(fits) == 1 else None

    def meant(self, action: ToAction) -> list[ActionWords]:
        """Return the actions that a program's ToAction may mean here."""
        words, thing = load_agqa().actions, self.thing(action.object)
        known = [words[phrase] for phrase in self.phrases]
        return [each for each in known if each.verb == action.verb and each.object == thing]

    def thing(self, thing: Object) -> str | None:
        """Return the object that is named or referred to; None if it is not one."""
        return thing if isinstance(thing, str) else self.tell(thing).value

    def part(self, window: Window) -> Part | None:
        """Return the frames of a part of the video; None if there is hardly any or it cannot be told."""
        if window not in self.parts:
            self.parts[window] = self.part_of(window)
        return self.parts[window]

    def part_of(self, window: Window) -> Part | None:
        """Return what `part` looks up."""
        spans = [self.span(action) for action in window.actions]
        end = self.graph.times[-1] + MARGIN
        match window.word, *spans:
            case ["video"]:
                return self.frames(0, end), self.frames(0, end)
            case ["before", ActionSpan(_, start)]:
                found = self.frames(0, start - MARGIN), self.frames(0, start + MARGIN)
            case ["after", ActionSpan(_, _, stop)]:
                found = self.frames(stop + MARGIN, end), self.frames(stop - MARGIN, end)
            case ["while", ActionSpan(_, start, stop)]:
                found = self.frames(start + MARGIN, stop - MARGIN), self.frames(start - MARGIN, stop + MARGIN)
            case ["between", ActionSpan(_, _, stop), ActionSpan(_, start)] if stop < start:
                found = self.frames(stop + MARGIN, start - MARGIN), self.frames(stop - MARGIN, start + MARGIN)
            case _:
                return None
        return found if found[0] else None

    def having(self, relation: str | None, part: Frames) -> set[str]:
        """Return the objects that have a relation (None: any contact) in some frame of a part."""
        objects = self.graph.contacts if relation is None else self.graph.relations.get(relation, {})
        return {name for name, frames in objects.items() if frames & part}

    def edge(self, relation: str, part: Frames, edge: Edge) -> set[str]:
        """Return the objects that have a relation in the first or the last frame of a part in which anything has it."""
        frames = self.held.get(relation, 0) & part
        if not frames:
            return set()
        return self.having(relation, frames & -frames if edge == "first" else 1 << frames.bit_length() - 1)

    def doubtful(self, relation: str, part: Frames, besides: str = "") -> bool:
        """Return whether the relation may hold in a part, with any object besides one, although it is not annotated.

        Who opens a bag may hold it, who opens a door does not: only objects count that an action has the relation to.
        """
        others = load_rules().doubtful.get(relation, frozenset())
        if ANY in others:
            return bool(self.having(None, part) - {besides})
        fitting = _objects_of(relation)
        return any(
            frames & part
            for verb in others
            for name, frames in self.verbs.get(verb, {}).items()
            if name != besides and (not fitting or name in fitting)
        )

    def missing(self, thing: str, part: Frames, whole: bool) -> bool:
        """Return whether nothing is done with an object, nor with what it may be taken for, in a part.

        Args:
            thing: The object.
            part: Where.
            whole: Whether the part is the whole video: nobody may have seen the object at all then. In a part of it,
                what is there must be touched at another time: "is there one?" has two answers otherwise.
        """
        alike = load_rules().alike.get(thing, frozenset())
        if thing in self.graph.seen and (whole or thing not in self.graph.contacts):
            return False
        return not self.having(None, part) & {thing, *alike}


def view_of(graph: SceneGraph) -> View:
    """Look at a graph."""
    words, rules = load_agqa(), load_rules()
    phrases: dict[str, int] = defaultdict(int)
    verbs: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
    for relation, objects in graph.relations.items():
        for name, frames in objects.items():
            verbs[relation][name] |= frames
    for span in graph.actions:
        phrases[span.phrase] += 1
        done = words.actions.get(span.phrase)
        if done and done.verb and done.object:
            verbs[done.verb][done.object] |= span.frames
    single = {
        span.phrase: span
        for span in graph.actions
        if phrases[span.phrase] == 1 and span.phrase not in rules.never_in_time
    }
    held = {relation: _union(objects.values()) for relation, objects in graph.relations.items()}
    return View(graph, Teller(graph).answer, single, dict(phrases), held, {k: dict(v) for k, v in verbs.items()}, {})


@cache
def _objects_of(relation: str) -> frozenset[str]:
    """Return the objects that actions have a relation to, and what is not named; none if no action has it."""
    known = load_agqa().actions.values()
    found = {words.object for words in known if words.verb == relation and words.object and not words.loose}
    return frozenset(found | {ANYTHING}) if found else frozenset()


def _union(sets: Iterable[Frames]) -> Frames:
    found = 0
    for frames in sets:
        found |= frames
    return found
