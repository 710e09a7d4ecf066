"""Evaluate a scene graph with a margin for inaccurate times, to generate reliable questions.

Annotated times are off by about a second. Every part of the video is therefore evaluated twice: a second shorter at
both ends, and a second longer. A question is generated only if both give the same answer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

from ...annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import ActionWords, load_agqa
from ...templates.agqa_making import load_rules
from .denials import TIME_MARGIN
from .graph_answers import Answer, GraphEvaluator
from .programs.questions import INTERACTING, Action, ExtremeAction, FirstOrLast, Object, Question, ToAction, Window

SureAndPossible = tuple[Frames, Frames]
"""Frames that are certainly in a part of the video, and those that are possibly in it."""


@dataclass(frozen=True, eq=False)
class View:
    """A scene graph with cached look-ups.

    Attributes:
        single: Actions that happen once and may delimit a part of the video, by phrase.
        phrases: Number of occurrences of each action, by phrase.
        parts: Parts of the video looked up so far.
    """

    graph: SceneGraph
    evaluator: GraphEvaluator
    single: dict[str, ActionSpan]
    phrases: dict[str, int]
    parts: dict[Window, SureAndPossible | None]

    def answer(self, question: Question) -> Answer:
        """Answer a question from the graph."""
        return self.evaluator.answer(question)

    def frames(self, start: float, end: float) -> Frames:
        """Return the frames between `start` and `end` seconds."""
        low, high = bisect_left(self.graph.times, start), bisect_right(self.graph.times, end)
        return ((1 << high) - 1) & ~((1 << low) - 1) if high > low else 0

    def span(self, action: Action) -> ActionSpan | None:
        """Return the only occurrence of an action that may delimit a part of the video, or None."""
        if isinstance(action, str):
            return self.single.get(action)
        if isinstance(action, ExtremeAction):
            return self.single.get(self.answer(action).value or "")
        fits = [self.single.get(words.phrase) for words in self.meant(action)]
        return fits[0] if len(fits) == 1 else None

    def meant(self, action: ToAction) -> list[ActionWords]:
        """Return the actions that a program's ToAction may stand for in this video."""
        words, thing, verb = load_agqa().actions, self.thing(action.object), load_agqa().relation_of(action.verb)
        known = [words[phrase] for phrase in self.phrases if phrase in words]
        return [each for each in known if each.verb == verb and each.object == thing]

    def thing(self, thing: Object) -> str | None:
        """Return the name of an object given by name or by reference, or None if it is unknown."""
        return thing if isinstance(thing, str) else self.answer(thing).value

    def part(self, window: Window) -> SureAndPossible | None:
        """Return the frames in a part of the video, or None if it is too short or unknown."""
        if window not in self.parts:
            self.parts[window] = self._part(window)
        return self.parts[window]

    def _part(self, window: Window) -> SureAndPossible | None:
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
        """Return the objects that have a relation in any frame of the part."""
        objects = self.evaluator.relations.get(relation, {})
        return {name for name, frames in objects.items() if frames & part}

    def edge(self, relation: str, part: Frames, edge: FirstOrLast) -> set[str]:
        """Return the objects that have a relation in the first or last frame of the part in which any object has it."""
        frames = self.evaluator.held.get(relation, 0) & part
        if not frames:
            return set()
        return self.having(relation, frames & -frames if edge == "first" else 1 << frames.bit_length() - 1)

    def missing(self, thing: str, part: Frames, whole: bool) -> bool:
        """Return whether neither an object nor a similar-looking one is touched in a part.

        With `whole`, the part is the entire video, and the object must not be visible at all. In a shorter part, a
        visible object must be touched at another time, as the question "is there one?" is ambiguous otherwise.
        """
        alike = load_rules().alike.get(thing, frozenset())
        if thing in self.graph.seen and (whole or thing not in self.graph.contacts):
            return False
        return not self.having(INTERACTING, part) & {thing, *alike}


def view_of(graph: SceneGraph) -> View:
    """Prepare a scene graph for generating questions."""
    evaluator, never = GraphEvaluator(graph), load_rules().never_in_time
    phrases: dict[str, int] = defaultdict(int)
    for span in graph.actions:
        phrases[span.phrase] += 1
    single = {
        span.phrase: span
        for span in graph.actions
        if phrases[span.phrase] == 1 and span.phrase not in never | evaluator.unnamed
    }
    return View(graph, evaluator, single, dict(phrases), {})
