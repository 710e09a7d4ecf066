"""Answer questions from the scene graph of a video.

The rules are those of AGQA 2.0 (Grunde-McLaughlin et al. 2021, section 3 and the templates in the supplement). Parts of
the video are sets of annotated frames, and a question whose answer is not unique has none. `docs/decomp.md` lists our
choices where the paper leaves a case open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import ANYTHING, PERSON, load_agqa
from . import questions as ask
from .denials import COMPLETE, Denials
from .questions import INTERACTING, VIDEO, Action, Object, Question, Window


def union(sets: Iterable[Frames]) -> Frames:
    """Return the frames that are in any of the sets."""
    result: Frames = 0
    for frames in sets:
        result |= frames
    return result


def below(frames: Frames) -> Frames:
    """Return all frames before the first one. The set of no frames has none."""
    return (frames & -frames) - 1 if frames else 0


def until(frames: Frames) -> Frames:
    """Return all frames up to the last one."""
    return (1 << frames.bit_length()) - 1


def top(frames: Frames) -> Frames:
    """Return the last frame."""
    return 1 << frames.bit_length() - 1 if frames else 0


def span_of(frames: Frames) -> Frames:
    """Return all frames from the first to the last one."""
    return until(frames) & ~below(frames)


def run_of(frames: Frames, *, last: bool) -> Frames:
    """Return the first or last run of consecutive frames. There must be at least one frame."""
    if last:
        length = frames.bit_length()
        gap = (((1 << length) - 1) & ~frames).bit_length()  # frames below it belong to other runs
        return frames & ~((1 << gap) - 1)
    low = frames & -frames
    return frames & ~(frames + low)  # the carry clears the first run and sets the bit after it


LENGTH_MARGIN = 7.0
"""Seconds by which an action must be longer than another to count as longer."""
EDGE_MARGIN = 5.0
"""Seconds by which an action must start before, or end after, all others to count as the first or last."""


YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, or the reason why there is none.

    Attributes:
        value: "yes" or "no", "before" or "after", an object, or the phrase of an action; None if unknown.
        reason: Code of `REASONS` if the answer is unknown, else "".
    """

    value: str | None
    reason: str = ""


class _UndecidedError(Exception):
    """The graph does not determine an answer."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class GraphEvaluator:
    """Answers questions about one scene graph, and caches the answers.

    `denials.Denials` decides whether a missing annotation means "no".
    """

    def __init__(self, graph: SceneGraph) -> None:
        """Index the graph."""
        self.graph = graph
        self.all: Frames = (1 << len(graph.times)) - 1
        self.words = load_agqa()
        self.spans: dict[str, list[ActionSpan]] = defaultdict(list)
        for span in graph.actions:
            self.spans[span.phrase].append(span)
        self.relations: dict[str, Mapping[str, Frames]] = {**graph.relations, INTERACTING: graph.contacts}
        self.seen: dict[str, Frames] = dict(graph.visible)
        self.held: dict[str, Frames] = {}
        for relation, objects in self.relations.items():
            self.held[relation] = union(objects.values())
            for name, bits in objects.items():
                self.seen[name] = self.seen.get(name, 0) | bits
        events = [(span, words) for span in graph.actions if (words := self.words.events.get(span.phrase))]
        # Phrases that questions cannot mention, and those of the actions for which these are taken
        hidden = [words for _, words in events if words.taken_for]
        self.unnamed = {phrase for words in hidden for phrase in (words.phrase, words.taken_for)}
        for span, words in events:
            if words.into and graph.provenance not in COMPLETE:
                self.held[words.into] = self.held.get(words.into, 0) | top(span.frames)
        self.denials = Denials(graph, self.relations, self.held)
        self.answers: dict[Question, Answer] = {}
        self.frames: dict[Window, tuple[Frames, ...] | str] = {}

    def answer(self, question: Question) -> Answer:
        """Return the cached or newly computed answer to a question."""
        cached = self.answers.get(question)
        if cached is None:
            try:
                cached = Answer(_BY_TYPE[type(question)](self, question))
            except _UndecidedError as undecided:
                cached = Answer(None, undecided.reason)
            self.answers[question] = cached
        return cached

    def _decided(self, question: Question) -> str:
        answer = self.answer(question)
        if answer.value is None:
            raise _UndecidedError(answer.reason)
        return answer.value

    # --- parts of questions

    def _resolve(self, thing: Object) -> str:
        if isinstance(thing, str):
            if thing not in self.words.objects and thing not in self.seen and thing not in self.graph.seen:
                raise _UndecidedError("unknown_word")
            return thing
        name = self.answer(thing).value
        if name is None:
            raise _UndecidedError("unresolved_reference")
        return name

    def _relation(self, relation: str) -> Mapping[str, Frames]:
        if relation not in self.relations and relation not in self.words.relations:
            raise _UndecidedError("unknown_word")
        return self.relations.get(relation, {})

    def _phrases(self, action: Action) -> list[str]:
        """Return the annotated phrase of an action, or all phrases that match if its object was replaced."""
        match action:
            case ask.ExtremeAction():
                extreme = self.answer(action).value
                if extreme is None:
                    raise _UndecidedError("unresolved_reference")
                return [extreme]
            case ask.ToAction(verb, thing):
                name, known, meant = self._resolve(thing), self.words.actions, self.words.relation_of(verb)
                fits = [
                    known[phrase]
                    for phrase in self.spans
                    if phrase in known and known[phrase].object == name and known[phrase].verb == meant
                ]
                # "Putting something on a table" means putting the table somewhere only if nothing else is put there.
                return [words.phrase for words in fits if not words.loose] or [words.phrase for words in fits]
        if action not in self.spans and action not in self.words.actions:
            raise _UndecidedError("unknown_word")
        return [action]

    def _parts_of(self, action: Action) -> tuple[str, str] | None:
        match action:
            case ask.ToAction(verb, thing):
                return self.words.relation_of(verb), self._resolve(thing)
        words = self.words.actions.get(self._phrases(action)[0])
        if words and words.verb and words.object:
            return words.verb, ANYTHING if words.loose else words.object
        return None

    def _instances(self, action: Action) -> list[ActionSpan]:
        """Return all occurrences of an action, sorted by start. Raise _UndecidedError if there are none."""
        phrases = self._phrases(action)
        if self.unnamed.intersection(phrases):
            raise _UndecidedError("unnamed")
        spans = [span for phrase in phrases for span in self.spans.get(phrase, ())]
        if not spans:
            raise _UndecidedError("no_such_action")
        return sorted(spans, key=lambda span: (span.start, span.end)) if len(spans) > 1 else spans

    def _single(self, action: Action) -> ActionSpan:
        spans = self._instances(action)
        if len(spans) > 1:
            raise _UndecidedError("several_instances")
        return spans[0]

    def _windows(self, window: Window) -> tuple[Frames, ...]:
        """Return the frames in a part of the video. If the part is ambiguous, return several sets."""
        parts = self.frames.get(window)
        if parts is None:
            try:
                parts = self._frames_of(window)
                if not all(parts):
                    parts = "empty_window"
            except _UndecidedError as undecided:
                parts = undecided.reason
            self.frames[window] = parts
        if isinstance(parts, str):
            raise _UndecidedError(parts)
        return parts

    def _frames_of(self, window: Window) -> tuple[Frames, ...]:
        match window.word:
            case "before":
                begun = below(self._single(window.actions[0]).frames)
                if self.graph.provenance == "drawn_frames":
                    return (begun,)
                # AGQA includes the action's first frame, unless the video starts with the action.
                return ((begun << 1 | 1) & self.all if begun else 0,)
            case "after":
                return (self.all & ~until(self._single(window.actions[0]).frames),)
            case "while":
                # AGQA uses the first instance, people use all of them; if the results differ, there is no answer.
                spans = [span_of(span.frames) for span in self._instances(window.actions[0])]
                every = union(spans)
                return (spans[0],) if every == spans[0] else (spans[0], every)
            case "between":
                ended = union(until(span.frames) for span in self._instances(window.actions[0]))
                begun = min(below(span.frames) for span in self._instances(window.actions[1]))
                return (begun & ~ended,)
        return (self.all,)

    def _over(self, window: Window, judge: Callable[[Frames], str]) -> str:
        """Judge a part of the video. All interpretations of an ambiguous part must give the same result."""
        first, *others = [judge(frames) for frames in self._windows(window)]
        if any(result != first for result in others):
            raise _UndecidedError("several_instances")
        return first

    # --- yes/no questions

    def denied(self, relation: str | None, thing: str | None, frames: Frames) -> str:
        """Return "no" if `Denials` allows it. This is the only place where a "no" from a graph is produced."""
        if not self.denials.allow(relation, thing, frames):
            raise _UndecidedError("not_annotated")
        return NO

    def _object_exists(self, question: ask.ObjectExists) -> str:
        name = self._resolve(question.object)
        if name == PERSON or (question.window == VIDEO and name in self.graph.seen):
            return self._over(question.window, lambda part: YES)
        frames = self.seen.get(name, 0)
        return self._over(question.window, lambda part: YES if part & frames else self.denied(None, name, part))

    def _relation_exists(self, question: ask.RelationExists) -> str:
        self._relation(name := question.relation)
        frames = self.held.get(name, 0)
        return self._over(question.window, lambda part: YES if part & frames else self.denied(name, None, part))

    def _interaction(self, question: ask.Interaction) -> str:
        name, relation = self._resolve(question.object), question.relation
        frames = self._relation(relation).get(name, 0)
        return self._over(question.window, lambda part: YES if part & frames else self.denied(relation, name, part))

    def _action_happens(self, question: ask.ActionHappens) -> str:
        phrases = self._phrases(question.action)
        frames = union(span.frames for phrase in phrases for span in self.spans.get(phrase, ()))

        def judge(part: Frames) -> str:
            if part & frames:
                return YES
            if parts := self._parts_of(question.action):
                return self.denied(*parts, part)
            if not self.denials.allow_action(phrases[0], part):
                raise _UndecidedError("not_annotated")
            return NO

        return self._over(question.window, judge)

    def _both(self, question: ask.Both) -> str:
        first, second = self.answer(question.first), self.answer(question.second)
        value = conjunction(question.word, first.value, second.value)
        if value is None:
            raise _UndecidedError(first.reason or second.reason)
        return value

    # --- questions that ask for an object

    def _having(self, relation: str, part: Frames) -> set[str]:
        """Return the objects that have a relation in any of the frames.

        "Putting something on a table" does not name the object, so the relation may hold to any object.
        """
        names = {name for name, frames in self._looked_for(relation).items() if frames & part}
        implied = {name for name, frames in self.denials.implied.get(relation, {}).items() if frames & part}
        if ANYTHING in names or implied - names:
            raise _UndecidedError("not_annotated")
        if names & self.words.unnamed_objects.keys():
            raise _UndecidedError("unnamed")
        return names

    def _looked_for(self, relation: str) -> Mapping[str, Frames]:
        """Return the frames in which each object has a relation, provided that annotators looked for it."""
        objects = self._relation(relation)
        if relation != INTERACTING and not self.denials.are_looked_for(relation):
            raise _UndecidedError("not_annotated")
        return objects

    def _objects_of(self, question: ask.ObjectsOf) -> str:
        return self._over(question.window, lambda part: _single_name(self._having(question.relation, part), "object"))

    def _edge_object(self, question: ask.EdgeObject) -> str:
        def judge(part: Frames) -> str:
            self._looked_for(question.relation)
            when = self.held.get(question.relation, 0) & part
            if not when:
                raise _UndecidedError("no_object")
            run = run_of(when, last=question.edge == "last")
            names = self._having(question.relation, run)
            if len(names) > 1:
                raise _UndecidedError("ambiguous_run")
            # No other object had the relation earlier (later) without an annotation.
            rest = part & (until(run & -run) if question.edge == "first" else ~below(top(run)))
            name = _single_name(names & self._having(question.relation, rest), "object")
            if not self.denials.complete and self.denials.likely(question.relation, rest & ~run, besides=name):
                raise _UndecidedError("not_annotated")
            return name

        return self._over(question.window, judge)

    def _object_equals(self, question: ask.ObjectEquals) -> str:
        name, reference = self._resolve(question.object), question.question
        if isinstance(reference, ask.EdgeObject):
            return YES if self._decided(reference) == name else NO

        def judge(part: Frames) -> str:
            names = self._having(reference.relation, part)
            # An object that is not among several candidates is not the answer.
            return NO if names and name not in names else verdict(_single_name(names, "object") == name)

        return self._over(reference.window, judge)

    def _object_choose(self, question: ask.ObjectChoose) -> str:
        options, reference = {self._resolve(question.first), self._resolve(question.second)}, question.question

        def judge(names: set[str]) -> str:
            match sorted(options & names):
                case [single]:
                    return single
                case []:
                    raise _UndecidedError("neither_option")
            raise _UndecidedError("both_options")

        if isinstance(reference, ask.EdgeObject):
            return judge({self._decided(reference)})
        return self._over(reference.window, lambda part: judge(self._having(reference.relation, part)))

    # --- questions that ask for an action

    def _others(self, window: Window, part: Frames) -> list[ActionSpan]:
        named = {phrase for action in window.actions for phrase in self._phrases(action)}
        return [span for span in self.graph.actions if span.frames & part and span.phrase not in named]

    def _named(self, phrase: str) -> str:
        if phrase in self.unnamed:
            raise _UndecidedError("unnamed")
        return phrase

    def _actions_in(self, question: ask.ActionsIn) -> str:
        def judge(part: Frames) -> str:
            phrases = {span.phrase for span in self._others(question.window, part)}
            return self._named(_single_name(phrases, "action"))

        return self._over(question.window, judge)

    def _edge_action(self, question: ask.EdgeAction) -> str:
        first = question.edge == "first"

        def judge(part: Frames) -> str:
            when: dict[str, float] = {}
            for span in self._others(question.window, part):
                at, frame = (span.start, span.frames & -span.frames) if first else (span.end, top(span.frames))
                # AGQA's first action of a part starts in it, and the last one ends in it.
                if frame & part and self._is_within(question.window, at):
                    at = at if first else -at
                    when[span.phrase] = min(at, when.get(span.phrase, at))
            return self._named(_least(when, EDGE_MARGIN))

        return self._over(question.window, judge)

    def _is_within(self, window: Window, moment: float) -> bool:
        instances = [self._instances(action) for action in window.actions]
        match window.word:
            case "before":
                return moment <= instances[0][0].start
            case "after":
                return moment >= instances[0][0].end
            case "while":
                return any(span.start <= moment <= span.end for span in instances[0])
            case "between":
                return max(span.end for span in instances[0]) <= moment <= instances[1][0].start
        return True

    def _extreme_action(self, question: ask.ExtremeAction) -> str:
        sign = -1 if question.word == "longest" else 1
        # The length of a repeated action may be that of its longest (shortest) instance or the total of all.
        alone: dict[str, float] = {}
        together: dict[str, float] = {}
        for phrase, spans in self.spans.items():
            lengths = [sign * (span.end - span.start) for span in spans]
            words = self.words.events.get(phrase)
            name = words.taken_for if words and words.taken_for else phrase
            alone[phrase], together[name] = min(lengths), together.get(name, 0.0) + sum(lengths)
        extreme = self._named(_least(alone, LENGTH_MARGIN))
        if extreme != _least(together, LENGTH_MARGIN):
            raise _UndecidedError("several_instances")
        return extreme

    def _length_choose(self, question: ask.LengthChoose) -> str:
        spans = [self._single(question.first), self._single(question.second)]
        if spans[0].phrase == spans[1].phrase:
            raise _UndecidedError("both_options")
        sign = -1 if question.word == "longer" else 1
        return _least({span.phrase: sign * (span.end - span.start) for span in spans}, LENGTH_MARGIN)

    def _action_equals(self, question: ask.ActionEquals) -> str:
        return verdict(self._decided(question.question) in self._phrases(question.action))

    def _order(self, question: ask.OrderChoose) -> str:
        during = self._single(question.action).frames
        before, after = below(during), self.all & ~until(during)
        elsewhere: Frames = 0  # must also be absent on the other side
        match question.asked:
            case ask.Interaction(relation, thing):
                frames = self._looked_for(relation).get(self._resolve(thing), 0)
            case ask.RelationExists(relation):
                self._looked_for(relation)
                frames = self.held.get(relation, 0)
            case ask.ActionHappens(action):
                event = self._single(action)
                frames = event.frames
                words = self.words.actions.get(event.phrase)
                if words and words.verb and words.object:
                    # AGQA drops the question if the action's relation holds to its object at another time.
                    elsewhere = self.graph.relations.get(words.verb, {}).get(words.object, 0) & (before | after)
        if frames & ~before & ~after:
            raise _UndecidedError("at_the_same_time")
        sides = [(word, part) for word, part in (("before", before), ("after", after)) if part & frames]
        if len(sides) == 1 and not elsewhere & ~sides[0][1]:
            return sides[0][0]
        raise _UndecidedError("both_sides" if sides else "neither_side")


_BY_TYPE: Mapping[type, Callable[[GraphEvaluator, Any], str]] = {
    ask.ObjectExists: GraphEvaluator._object_exists,
    ask.RelationExists: GraphEvaluator._relation_exists,
    ask.Interaction: GraphEvaluator._interaction,
    ask.ActionHappens: GraphEvaluator._action_happens,
    ask.Both: GraphEvaluator._both,
    ask.ObjectsOf: GraphEvaluator._objects_of,
    ask.EdgeObject: GraphEvaluator._edge_object,
    ask.ActionsIn: GraphEvaluator._actions_in,
    ask.EdgeAction: GraphEvaluator._edge_action,
    ask.ExtremeAction: GraphEvaluator._extreme_action,
    ask.ObjectEquals: GraphEvaluator._object_equals,
    ask.ObjectChoose: GraphEvaluator._object_choose,
    ask.LengthChoose: GraphEvaluator._length_choose,
    ask.ActionEquals: GraphEvaluator._action_equals,
    ask.OrderChoose: GraphEvaluator._order,
}


def verdict(true: bool) -> str:
    """Return "yes" if true, else "no"."""
    return YES if true else NO


def _single_name(names: set[str], what: str) -> str:
    if len(names) != 1:
        raise _UndecidedError(f"several_{what}s" if names else f"no_{what}")
    return next(iter(names))


def _least(measures: Mapping[str, float], margin: float) -> str:
    """Return the name whose measure is below all others by more than the margin, else raise _UndecidedError."""
    if not measures:
        raise _UndecidedError("no_action")
    (least, phrase_of_least), *others = sorted((measure, phrase) for phrase, measure in measures.items())
    if others and others[0][0] - least <= margin:
        raise _UndecidedError("ambiguous_margin")
    return phrase_of_least


def conjunction(word: str, first: str | None, second: str | None) -> str | None:
    """Combine two answers by "and" or "but not" (xor). Return None if they do not determine the result."""
    refuses = NO if word == "and" else YES
    if first == NO or second == refuses:
        return NO
    return None if first is None or second is None else YES
