"""A video's graph as the maker of questions looks at it: what is beyond doubt, and what only just holds.

Times that people annotate are about a second off. A part of the video is therefore looked at twice: a second shorter at
either end, and a second longer. What a question says must be so in both.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

from ...annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import ActionWords, load_agqa
from ...templates.agqa_making import load_rules
from .denials import TIME_MARGIN
from .graph_answers import Answer, Teller
from .programs.questions import INTERACTING, Action, Edge, ExtremeAction, Object, Question, ToAction, Window

Part = tuple[Frames, Frames]
"""A part of the video, taken shorter and longer."""


@dataclass(frozen=True, eq=False)
class View:
    """A graph with what is looked up in it again and again.

    Attributes:
        graph: The graph.
        teller: Answers questions by it.
        single: The actions that happen once and may be named in a part of the video, by phrase.
        phrases: All actions, by phrase, with the number of their instances.
        parts: Parts of the video that were looked at.
    """

    graph: SceneGraph
    teller: Teller
    single: dict[str, ActionSpan]
    phrases: dict[str, int]
    parts: dict[Window, Part | None]

    def tell(self, question: Question) -> Answer:
        """Answer a question by the graph."""
        return self.teller.answer(question)

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
        known, verb = [words[phrase] for phrase in self.phrases], load_agqa().relation_of(action.verb)
        return [each for each in known if each.verb == verb and each.object == thing]

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
        off, frames = TIME_MARGIN, self.frames
        end = self.graph.times[-1] + off
        match window.word, *spans:
            case ["video"]:
                return frames(0, end), frames(0, end)
            case ["before", ActionSpan(_, start)]:
                found = frames(0, start - off), frames(0, start + off)
            case ["after", ActionSpan(_, _, stop)]:
                found = frames(stop + off, end), frames(stop - off, end)
            case ["while", ActionSpan(_, start, stop)]:
                found = frames(start + off, stop - off), frames(start - off, stop + off)
            case ["between", ActionSpan(_, _, stop), ActionSpan(_, start)] if stop < start:
                found = frames(stop + off, start - off), frames(stop - off, start + off)
            case _:
                return None
        return found if found[0] else None

    def having(self, relation: str, part: Frames) -> set[str]:
        """Return the objects that have a relation in some frame of a part."""
        objects = self.teller.relations.get(relation, {})
        return {name for name, frames in objects.items() if frames & part}

    def edge(self, relation: str, part: Frames, edge: Edge) -> set[str]:
        """Return the objects that have a relation in the first or the last frame of a part in which anything has it."""
        frames = self.teller.held.get(relation, 0) & part
        if not frames:
            return set()
        return self.having(relation, frames & -frames if edge == "first" else 1 << frames.bit_length() - 1)

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
        return not self.having(INTERACTING, part) & {thing, *alike}


def view_of(graph: SceneGraph) -> View:
    """Look at a graph."""
    rules = load_rules()
    phrases: dict[str, int] = defaultdict(int)
    for span in graph.actions:
        phrases[span.phrase] += 1
    single = {
        span.phrase: span
        for span in graph.actions
        if phrases[span.phrase] == 1 and span.phrase not in rules.never_in_time
    }
    return View(graph, Teller(graph), single, dict(phrases), {})
