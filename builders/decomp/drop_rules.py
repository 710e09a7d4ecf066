"""Decide which questions may be asked about a video, using AGQA's rules and our own for incomplete annotations.

As in Grunde-McLaughlin et al. 2021 (supplement) and the benchmark's generator, a question is dropped if its answer is
ambiguous, depends on times that are too close, is obvious, or is contained in the question. A missing annotation alone
does not justify the answer "no": there must also be no similar-looking object, and no action that implies the relation.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from ...annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import ActionWords, load_agqa
from ...templates.agqa_making import GenerationRules, load_rules
from . import questions as ask
from .denials import TIME_MARGIN
from .graph_answers import Answer, GraphEvaluator
from .questions import (
    INTERACTING,
    VIDEO,
    Action,
    ExtremeAction,
    FirstOrLast,
    Object,
    Question,
    ToAction,
    Window,
    actions_in,
    objects_in,
    template_of,
    window_of,
)

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
        return [candidate for candidate in known if candidate.verb == verb and candidate.object == thing]

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
                bounds = frames(0, start - off), frames(0, start + off)
            case ["after", ActionSpan(_, _, stop)]:
                bounds = frames(stop + off, end), frames(stop - off, end)
            case ["while", ActionSpan(_, start, stop)]:
                bounds = frames(start + off, stop - off), frames(start - off, stop + off)
            case ["between", ActionSpan(_, _, stop), ActionSpan(_, start)] if stop < start:
                bounds = frames(stop + off, start - off), frames(stop - off, start + off)
            case _:
                return None
        return bounds if bounds[0] else None

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


MOST_STEPS = 8
YES, NO = "yes", "no"
_WINDOW_STEPS = {"video": 0, "before": 2, "after": 2, "while": 2, "between": 3}


def judge(view: View, question: Question) -> str | None:
    """Return the answer to a question (see `graph_answers`), or None if it has no answer or a rule drops it."""
    value = view.answer(question).value
    if value is None or steps_of(question) > MOST_STEPS:
        return None
    return value if _Judge(view, load_rules()).keeps(question, value) else None


@lru_cache(maxsize=1 << 14)
def steps_of(question: Question) -> int:
    """Count reasoning steps like AGQA: those of the template, the window and the references."""
    window = window_of(question)
    actions = (*actions_in(question), *window.actions)
    references = sum(not isinstance(thing, str) for thing in objects_in(question))
    steps = load_rules().steps[template_of(question)] + _WINDOW_STEPS[window.word] + references
    return steps + 2 * sum(not isinstance(action, str) for action in actions)


class _Judge:
    def __init__(self, view: View, rules: GenerationRules) -> None:
        self.view, self.rules, self.denials = view, rules, view.evaluator.denials

    def keeps(self, question: Question, value: str) -> bool:
        rule = _RULES.get(type(question))
        actions = (*actions_in(question), *window_of(question).actions)
        sure = all(self.sure_reference(action.object) for action in actions if isinstance(action, ask.ToAction))
        return rule is not None and sure and rule(self, question, value)

    # --- parts of questions

    def may_ask_object(self, thing: Object, relation: str, window: Window) -> str | None:
        """Return the name of an object, or None if questions must not ask about it."""
        name = self.view.thing(thing)
        if name is None or name in self.rules.unasked_objects or name not in load_agqa().objects:
            return None
        if not isinstance(thing, str):
            if thing.relation == relation or window == VIDEO:
                return None
            if not self.sure_reference(thing):
                return None
        return None if name in self.things_of(window) else name

    def sure_reference(self, thing: ask.Reference) -> bool:
        """Return whether everyone would take a reference to mean the same object."""
        part = self.view.part(VIDEO)
        if part is None or thing.relation in {INTERACTING, *self.rules.unasked_relations}:
            return False
        if isinstance(thing, ask.EdgeObject):
            return len(self.view.having(thing.relation, part[1])) > 1
        return not self.denials.likely(thing.relation, part[1], besides=self.view.answer(thing).value or "")

    def words(self, action: Action) -> ActionWords | None:
        span = self.view.span(action)
        return load_agqa().actions.get(span.phrase) if span else None

    def done_in(self, window: Window) -> list[ActionWords]:
        return [words for words in map(self.words, window.actions) if words]

    def things_of(self, window: Window) -> set[str]:
        """Return the objects of the actions that delimit a window, as they would reveal the answer."""
        return {name for words in self.done_in(window) for name in (words.object, words.besides) if name}

    def may_ask_relation(self, relation: str, window: Window) -> bool:
        if relation in self.rules.unasked_relations or relation not in load_agqa().relations:
            return False
        return relation not in {words.verb for words in self.done_in(window)}

    # --- questions about objects and relations

    def keeps_relation(self, question: ask.RelationExists, value: str) -> bool:
        relation, window = question.relation, question.window
        part = self.view.part(window)
        if part is None or not self.may_ask_relation(relation, window) or relation in _relations_to_one_object():
            return False
        if value == YES:
            return bool(self.view.evaluator.held.get(relation, 0) & part[0])
        return self.absent(relation, part)

    def absent(self, relation: str, part: SureAndPossible) -> bool:
        done = self.denials.done.get(relation, {}).values()
        return not any(frames & part[1] for frames in done) and not self.denials.likely(relation, part[1])

    def keeps_interaction(self, question: ask.Interaction, value: str) -> bool:
        relation, window = question.relation, question.window
        part, name = self.view.part(window), self.may_interact(question)
        if part is None or name is None:
            return False
        if value == YES:
            return bool(self.view.evaluator.relations[relation][name] & part[0])
        return self.view.missing(name, part[1], window == VIDEO)

    def may_interact(self, question: ask.Interaction) -> str | None:
        """Return the object of a relation, or None if questions must not ask about it."""
        name = self.may_ask_object(question.object, question.relation, question.window)
        if question.relation in self.rules.unasked_relations or (question.relation, name) in self.rules.obvious:
            return None
        return name

    def keeps_both(self, question: ask.Both, value: str) -> bool:
        parts = question.first, question.second
        names = [self.may_interact(part) for part in parts]
        if None in names:
            return False
        alike = self.rules.alike.get(names[0] or "", frozenset())
        if names[0] == names[1] or names[1] in alike:
            return False
        answers = [self.view.answer(part).value for part in parts]
        sure = [
            answer is not None and self.keeps_interaction(part, answer)
            for part, answer in zip(parts, answers, strict=True)
        ]
        needs = (YES, YES) if question.word == "and" else (YES, NO)
        if value == YES:
            return all(sure)
        return any(is_sure and answer != need for is_sure, answer, need in zip(sure, answers, needs, strict=True))

    def keeps_objects_of(self, question: ask.ObjectsOf, value: str) -> bool:
        relation, window = question.relation, question.window
        part = self.view.part(window)
        if part is None or not self.may_ask_relation(relation, window) or relation in _relations_to_one_object():
            return False
        if self.may_ask_object(value, relation, window) is None:
            return False
        objects = [self.view.having(relation, frames) for frames in part]
        return objects[0] == objects[1] == {value} and not self.denials.likely(relation, part[1], besides=value)

    def keeps_edge_object(self, question: ask.EdgeObject, value: str) -> bool:
        relation, window = question.relation, question.window
        part = self.view.part(window)
        if part is None or not self.may_ask_relation(relation, window) or relation in _relations_to_one_object():
            return False
        if window.word == ("before" if question.edge == "first" else "after"):
            return False
        if self.may_ask_object(value, relation, window) is None or len(self.view.having(relation, part[0])) < 2:
            return False
        ends = (self.view.edge(relation, frames, question.edge) for frames in part)
        return all(objects == {value} for objects in ends)

    def keeps_equals(self, question: ask.ObjectEquals, value: str) -> bool:
        reference = question.question
        right = judge(self.view, reference)
        name = self.may_ask_object(question.object, reference.relation, reference.window)
        return right is not None and name is not None and (value == YES or name not in self.rules.alike.get(right, ()))

    def keeps_choose(self, question: ask.ObjectChoose, value: str) -> bool:
        reference = question.question
        names = [
            self.may_ask_object(thing, reference.relation, reference.window)
            for thing in (question.first, question.second)
        ]
        if None in names or judge(self.view, reference) != value or value not in names or names[0] == names[1]:
            return False
        wrong = names[names[0] == value] or ""
        part = self.view.part(reference.window)
        if part is None or wrong in self.rules.alike.get(value, ()):
            return False
        if isinstance(reference, ask.EdgeObject):
            return True
        return not self.view.graph.contacts.get(wrong, 0) & part[1]

    # --- questions about actions

    def keeps_actions_in(self, question: ask.ActionsIn, value: str) -> bool:
        window = question.window
        part, named = self.view.part(window), {words.phrase for words in self.done_in(window)}
        if part is None or not template_of(question):
            return False
        spans = self.view.graph.actions
        phrases = [{span.phrase for span in spans if span.frames & frames} - named for frames in part]
        return phrases[0] == phrases[1] == {value}

    def keeps_edge_action(self, question: ask.EdgeAction, value: str) -> bool:
        words, window = load_agqa().actions.get(value), question.window
        part, first = self.view.part(window), question.edge == "first"
        if part is None or words is None or len(self.view.phrases) < 2:
            return False
        if window.word == ("before" if first else "after") or not self.clear_edges(window, first):
            return False
        # Annotators may have missed an earlier action with a taken object, or a later one with an object put down.
        return words.verb != ("taking" if first else "putting down")

    def clear_edges(self, window: Window, first: bool) -> bool:
        """Return whether no other action starts (`first`) or ends within the time margin of the window's limits."""
        named = [self.view.span(action) for action in window.actions]
        limits = [moment for span in named if span for moment in (span.start, span.end)]
        moments = (span.start if first else span.end for span in self.view.graph.actions if span not in named)
        return not any(abs(moment - limit) <= TIME_MARGIN for moment in moments for limit in limits)

    def keeps_extreme(self, question: ask.ExtremeAction, value: str) -> bool:
        known, words = load_agqa().events, load_agqa().actions.get(value)
        if words is None or len(self.view.phrases) < 3 or self.view.phrases[value] > 1:
            return False
        others = [known[phrase] for phrase in self.view.phrases if phrase != value]
        return all((rival.verb, rival.object) != (words.verb, words.object) or not words.verb for rival in others)

    def keeps_length(self, question: ask.LengthChoose | ask.ActionEquals, value: str) -> bool:
        compared = question.question if isinstance(question, ask.ActionEquals) else question
        first, second = self.words(compared.first), self.words(compared.second)
        if first is None or second is None or {first.verb, second.verb} & self.rules.transitions:
            return False
        if " or " in first.phrase or " or " in second.phrase:
            return False  # "watching a laptop or something on a laptop or holding a dish" has three options
        if first.verb is None or second.verb is None or first.object != second.object:
            return True
        # Drinking from a cup implies holding it, regardless of the annotated lengths.
        verbs = {first.verb, second.verb}
        return len(verbs) == 2 and not any(verbs & self.rules.doubtful.get(verb, frozenset()) for verb in verbs)

    def keeps_order(self, question: ask.OrderChoose, value: str) -> bool:
        done, span = self.words(question.action), self.view.span(question.action)
        side: Window = Window("before" if value == "before" else "after", (question.action,))
        part = self.view.part(side)
        if done is None or span is None or part is None:
            return False
        match question.asked:
            case ask.Interaction(_, thing):
                name = self.may_ask_object(thing, INTERACTING, side)
                when = self.view.graph.contacts.get(name, 0) if name else 0
            case ask.RelationExists(relation):
                may_ask_relation = self.may_ask_relation(relation, side) and relation not in _relations_to_one_object()
                when = self.view.evaluator.held.get(relation, 0) if may_ask_relation else 0
                away = ((1 << len(self.view.graph.times)) - 1) & ~part[0]
                if self.denials.likely(relation, away):
                    return False
            case ask.ActionHappens(action):
                event = self.words(action)
                if event is None or (event.verb and (event.verb, event.object) == (done.verb, done.object)):
                    return False
                event_span = self.view.span(action)
                when = event_span.frames if event_span else 0
        if any(
            occurrence.start < span.end and span.start < occurrence.end for occurrence in self.spans_of(question.asked)
        ):
            return False
        return bool(when & part[0]) and not when & ~part[1] and self.clear_elsewhere(question, side)

    def spans_of(self, event: ask.Interaction | ask.RelationExists | ask.ActionHappens) -> list[ActionSpan]:
        """Return the occurrences of the actions that are, or are taken for, an event that is asked about."""
        known = [(span, words) for span in self.view.graph.actions if (words := load_agqa().events.get(span.phrase))]
        match event:
            case ask.RelationExists(relation):
                return [span for span, words in known if words.verb == relation]
            case ask.Interaction(_, thing):
                name = self.view.thing(thing) or ""
                names = {name, *self.rules.alike.get(name, frozenset()) & load_agqa().unnamed_objects.keys()}
                return [span for span, words in known if names & {words.object, words.besides}]
        meant = self.words(event.action)
        same = (meant.verb, meant.object) if meant and meant.verb else None
        return [span for span, words in known if words == meant or (words.verb, words.object) == same]

    def clear_elsewhere(self, question: ask.OrderChoose, side: Window) -> bool:
        """Return whether the relation or action is also certain not to happen on the other side of the action."""
        opposite = Window("after" if side.word == "before" else "before", side.actions)
        event = question.asked
        if isinstance(event, ask.Interaction):
            part, name = self.view.part(opposite), self.view.thing(event.object)
            alike = self.rules.alike.get(name or "", frozenset())
            return part is None or not self.view.having(INTERACTING, part[1]) & alike
        return self.view.answer(replace(event, window=opposite)).reason != "not_annotated"


_RULES: Mapping[type, Callable[[_Judge, Any, str], bool]] = {
    ask.RelationExists: _Judge.keeps_relation,
    ask.Interaction: _Judge.keeps_interaction,
    ask.Both: _Judge.keeps_both,
    ask.ObjectsOf: _Judge.keeps_objects_of,
    ask.EdgeObject: _Judge.keeps_edge_object,
    ask.ObjectEquals: _Judge.keeps_equals,
    ask.ObjectChoose: _Judge.keeps_choose,
    ask.ActionsIn: _Judge.keeps_actions_in,
    ask.EdgeAction: _Judge.keeps_edge_action,
    ask.ExtremeAction: _Judge.keeps_extreme,
    ask.LengthChoose: _Judge.keeps_length,
    ask.ActionEquals: _Judge.keeps_length,
    ask.OrderChoose: _Judge.keeps_order,
}


@cache
def _relations_to_one_object() -> frozenset[str]:
    """Return the relations that only a single object can have, so that they reveal the answer."""
    things: dict[str, set[str]] = {}
    for words in load_agqa().actions.values():
        if words.verb and words.object and not words.loose:
            things.setdefault(words.verb, set()).add(words.object)
    verbs = (name for name, relation in load_agqa().relations.items() if relation.family == "verb")
    return frozenset(name for name in verbs if len(things.get(name, ())) < 2)
