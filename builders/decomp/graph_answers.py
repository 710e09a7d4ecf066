"""Answers of questions by a video's graph alone.

The rules are those by which AGQA 2.0 answers its questions (Grunde-McLaughlin et al. 2021, section 3 and the
supplement's templates): parts of the video are sets of annotated frames, and where a question has no single answer it
has none here. `docs/decomp.md` lists where we had to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from ...programs.questions import (
    Action,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    Object,
    ObjectChoose,
    ObjectEquals,
    ObjectExists,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
)
from ...sources.scene_graphs import ActionSpan, Frames, SceneGraph
from ...templates.agqa import load_agqa

LENGTH_MARGIN = 7.0
"""Seconds by which one action must be longer than another to be called so."""
EDGE_MARGIN = 5.0
"""Seconds by which an action must start before, or end behind, all others to be called the first or the last."""
LOOK_ALIKES: tuple[frozenset[str], ...] = (
    frozenset({"door", "doorway", "doorknob"}),
    frozenset({"paper", "picture"}),
    frozenset({"blanket", "clothes"}),
    frozenset({"bag", "box"}),
    frozenset({"laptop", "television"}),
    frozenset({"dish", "food"}),
)
"""Objects that annotators take for one another, beyond those that AGQA joins in one."""

REASONS: Mapping[str, str] = {
    "no_graph": "The video has no graph, and no other answer decides the question.",
    "unknown_word": "The question names an object, relation or action that the vocabulary and the graph do not have.",
    "not_annotated": "Charades annotates actions alone; that something is not among them does not mean no.",
    "no_such_action": "An action that the question refers to does not happen.",
    "several_instances": "An action that the question refers to happens several times.",
    "empty_window": "No annotated frame lies in the part of the video that is asked about.",
    "no_object": "No object has the relation.",
    "several_objects": "Several objects have the relation, and one is asked for.",
    "no_action": "Nothing is done in the part of the video that is asked about.",
    "several_actions": "Several things are done, and one is asked for.",
    "unresolved_reference": "An object or action that is spoken of by another question's answer is not known.",
    "ambiguous_margin": "Two actions are too close to each other in time to be told apart.",
    "ambiguous_run": "Several objects have the relation in the first or last frames that it holds in.",
    "both_sides": "It is so both before and after the action.",
    "at_the_same_time": "It is so during the action.",
    "neither_side": "It is so neither before nor after the action.",
    "both_options": "Both options are right.",
    "neither_option": "Neither option is right.",
    "conflict": "Two sources give different answers.",
}
"""Why a question has no answer: a code, and a sentence for people."""

YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a question.

    Attributes:
        value: "yes" or "no", "before" or "after", an object or an action's phrase; None if it cannot be told.
        reason: Why it cannot be told: a code of `REASONS`; empty if it can.
    """

    value: str | None
    reason: str = ""


def answer(question: Question, graph: SceneGraph) -> Answer:
    """Answer a question by a graph alone.

    Args:
        question: A question or sub-question of any type.
        graph: Of the video. With provenance "charades" a "no" is only given where `Teller._denied` allows it.
    """
    return Teller(graph).answer(question)


class _UndecidedError(Exception):
    """The graph does not decide the question."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Teller:
    """Answers questions by one graph; keeps what it has found out."""

    def __init__(self, graph: SceneGraph) -> None:
        """Take a video's graph."""
        self.graph = graph
        self.all: Frames = (1 << len(graph.times)) - 1
        self.words = load_agqa()
        self.spans: dict[str, list[ActionSpan]] = defaultdict(list)
        for span in graph.actions:
            self.spans[span.phrase].append(span)
        self.seen: dict[str, Frames] = dict(graph.contacts)
        self.held: dict[str, Frames] = {}
        for relation, objects in graph.relations.items():
            frames = 0
            for name, bits in objects.items():
                frames |= bits
                self.seen[name] = self.seen.get(name, 0) | bits
            self.held[relation] = frames
        self.answers: dict[Question, Answer] = {}
        self.frames: dict[Window, tuple[Frames, ...] | str] = {}

    def answer(self, question: Question) -> Answer:
        """Answer a question, once."""
        found = self.answers.get(question)
        if found is None:
            try:
                found = _answer(_BY_TYPE[type(question)](self, question))
            except _UndecidedError as undecided:
                found = _answer(None, undecided.reason)
            self.answers[question] = found
        return found

    def _told(self, tell: Callable[[], str]) -> Answer:
        try:
            return _answer(tell())
        except _UndecidedError as undecided:
            return _answer(None, undecided.reason)

    def _value(self, question: Question) -> str:
        found = self.answer(question)
        if found.value is None:
            raise _UndecidedError(found.reason)
        return found.value

    # Parts of questions.

    def _thing(self, thing: Object) -> str:
        """Return the object that is named, or spoken of by another question's answer."""
        if isinstance(thing, str):
            if thing not in self.words.objects and thing not in self.seen:
                raise _UndecidedError("unknown_word")
            return thing
        found = self.answer(thing).value
        if found is None:
            raise _UndecidedError("unresolved_reference")
        return found

    def _relation(self, relation: str) -> Mapping[str, Frames]:
        """Return the frames in which each object has the relation."""
        if relation not in self.graph.relations and relation not in self.words.relations:
            raise _UndecidedError("unknown_word")
        return self.graph.relations.get(relation, {})

    def _phrases(self, action: Action) -> list[str]:
        """Return the phrases that an action is annotated by: one, or for a replaced object all that fit."""
        match action:
            case ExtremeAction():
                found = self.answer(action).value
                if found is None:
                    raise _UndecidedError("unresolved_reference")
                return [found]
            case ToAction(verb, thing):
                name, known = self._thing(thing), self.words.actions
                fits = [
                    known[phrase]
                    for phrase in self.spans
                    if phrase in known and known[phrase].object == name and _is_verb(known[phrase].verb, verb)
                ]
                # "Putting something on a table" is putting the table somewhere only if nothing else is.
                return [words.phrase for words in fits if not words.loose] or [words.phrase for words in fits]
        if action not in self.spans and action not in self.words.actions:
            raise _UndecidedError("unknown_word")
        return [action]

    def _parts_of(self, action: Action) -> tuple[str, str] | None:
        """Return the relation and the object that make an action; None if it has none."""
        match action:
            case ToAction(verb, thing):
                relations = sorted(relation for relation in _charades_verbs() if _is_verb(relation, verb))
                return (relations or [verb])[0], self._thing(thing)
            case str():
                words = self.words.actions.get(action)
                return (words.verb, words.object) if words and words.verb and words.object else None
        return None

    def _instances(self, action: Action) -> list[ActionSpan]:
        """Return all instances of an action by their start; there is at least one."""
        if isinstance(action, str) and action in self.spans:
            found = self.spans[action]
        else:
            found = [span for phrase in self._phrases(action) for span in self.spans.get(phrase, ())]
        if not found:
            raise _UndecidedError("no_such_action")
        return sorted(found, key=lambda span: (span.start, span.end)) if len(found) > 1 else found

    def _single(self, action: Action) -> ActionSpan:
        found = self._instances(action)
        if len(found) > 1:
            raise _UndecidedError("several_instances")
        return found[0]

    def _windows(self, window: Window) -> tuple[Frames, ...]:
        """Return the frames of a part of the video; several sets of them if it can be understood in several ways."""
        found = self.frames.get(window)
        if found is None:
            try:
                found = self._frames_of(window)
                if not all(found):
                    found = "empty_window"
            except _UndecidedError as undecided:
                found = undecided.reason
            self.frames[window] = found
        if isinstance(found, str):
            raise _UndecidedError(found)
        return found

    def _frames_of(self, window: Window) -> tuple[Frames, ...]:
        match window.word:
            case "before":
                begun = _below(self._single(window.actions[0]).frames)
                # AGQA counts the action's first frame. Where the video begins with it there is no "before" at all.
                return ((begun << 1 | 1) & self.all if begun else 0,)
            case "after":
                return (self.all & ~_until(self._single(window.actions[0]).frames),)
            case "while":
                # AGQA takes the first instance; for a reader all of them count. Where that differs there is no answer.
                each = [_during(span.frames) for span in self._instances(window.actions[0])]
                every = 0
                for frames in each:
                    every |= frames
                return (each[0],) if every == each[0] else (each[0], every)
            case "between":
                ended = begun = 0
                for span in self._instances(window.actions[0]):
                    ended |= _until(span.frames)
                begun = min(_below(span.frames) for span in self._instances(window.actions[1]))
                return (begun & ~ended,)
        return (self.all,)

    def _over(self, window: Window, judge: Callable[[Frames], str]) -> str:
        """Judge a part of the video; all ways to understand it must have the same outcome."""
        windows = self._windows(window)
        if len(windows) == 1:
            return judge(windows[0])
        found = [judge(frames) for frames in windows]
        if len(set(found)) > 1:
            raise _UndecidedError("several_instances")
        return found[0]

    # Questions for yes and no.

    def _denied(self, relation: str | None, thing: str | None, frames: Frames) -> str:
        """Return no, where what is annotated allows it.

        AGQA's graphs and drawn videos are taken as complete. Charades annotates actions: what is not annotated is taken
        as not done for the verbs of its classes, if it is annotated at another time of the video (then it was looked
        for), or if neither a look-alike has the relation nor any other object in these frames. It never tells that an
        object is not there, nor anything about where the person is or what they touch.

        Args:
            relation: What is denied; None for an object being there at all.
            thing: Of which object; None for any.
            frames: When.
        """
        if self.graph.provenance != "charades":
            return NO
        if relation is None or relation not in _charades_verbs():
            raise _UndecidedError("not_annotated")
        objects = self.graph.relations.get(relation, {})
        if thing is None or objects.get(thing):
            return NO
        alike: set[str] = set().union(*(group for group in LOOK_ALIKES if thing in group))
        if self.held.get(relation, 0) & frames or any(objects.get(other) for other in alike):
            raise _UndecidedError("not_annotated")
        return NO

    def _object_exists(self, question: ObjectExists) -> str:
        frames = self.seen.get(name := self._thing(question.object), 0)
        return self._over(question.window, lambda part: YES if part & frames else self._denied(None, name, part))

    def interacts(self, question: ObjectExists) -> Answer:
        """Answer whether the person interacts with an object, as AGQA means its question."""
        frames = self.graph.contacts.get(self._thing(question.object), 0)
        return self._told(
            lambda: self._over(question.window, lambda part: YES if part & frames else self._denied(None, None, part))
        )

    def _relation_exists(self, question: RelationExists) -> str:
        self._relation(name := question.relation)
        frames = self.held.get(name, 0)
        return self._over(question.window, lambda part: YES if part & frames else self._denied(name, None, part))

    def _interaction(self, question: Interaction) -> str:
        name, relation = self._thing(question.object), question.relation
        frames = self._relation(relation).get(name, 0)
        return self._over(question.window, lambda part: YES if part & frames else self._denied(relation, name, part))

    def _action_happens(self, question: ActionHappens) -> str:
        spans = [span for phrase in self._phrases(question.action) for span in self.spans.get(phrase, ())]
        frames = 0
        for span in spans:
            frames |= span.frames

        def judge(part: Frames) -> str:
            if part & frames:
                return YES
            # An action that happens at another time is annotated with its times. One that never does may be a class
            # that the annotators did not think of, just as a verb with its object may be.
            parts = None if spans else self._parts_of(question.action)
            return self._denied(*parts, part) if parts else NO

        return self._over(question.window, judge)

    def _both(self, question: Both) -> str:
        first, second = self.answer(question.first), self.answer(question.second)
        found = conjunction(question.word, first.value, second.value)
        if found is None:
            raise _UndecidedError(first.reason or second.reason)
        return found

    # Questions for objects.

    def _having(self, relation: str | None, part: Frames) -> set[str]:
        """Return the objects that have a relation (None: any contact) in some frame."""
        if relation is None:
            objects = self.graph.contacts
        else:
            objects = self._relation(relation)
            if self.graph.provenance == "charades" and relation not in _charades_verbs():
                raise _UndecidedError("not_annotated")
        return {name for name, frames in objects.items() if frames & part}

    def _objects_of(self, question: ObjectsOf) -> str:
        return self._over(question.window, lambda part: _only(self._having(question.relation, part), "object"))

    def _edge_object(self, question: EdgeObject) -> str:
        def judge(part: Frames) -> str:
            if not self._having(question.relation, part):
                raise _UndecidedError("no_object")
            run = _run(self.held[question.relation] & part, question.edge == "last")
            found = self._having(question.relation, run)
            if len(found) > 1:
                raise _UndecidedError("ambiguous_run")
            return found.pop()

        return self._over(question.window, judge)

    def _object_equals(self, question: ObjectEquals) -> str:
        name, asked = self._thing(question.object), question.question
        if isinstance(asked, EdgeObject):
            return YES if self._value(asked) == name else NO

        def judge(part: Frames) -> str:
            found = self._having(asked.relation, part)
            # It is not the object if it is not even one of several.
            return NO if found and name not in found else verdict(_only(found, "object") == name)

        return self._over(asked.window, judge)

    def _object_choose(self, question: ObjectChoose) -> str:
        options, asked = {self._thing(question.first), self._thing(question.second)}, question.question

        def judge(found: set[str]) -> str:
            match sorted(options & found):
                case [single]:
                    return single
                case []:
                    raise _UndecidedError("neither_option")
            raise _UndecidedError("both_options")

        if isinstance(asked, EdgeObject):
            return judge({self._value(asked)})
        return self._over(asked.window, lambda part: judge(self._having(asked.relation, part)))

    # Questions for actions.

    def _others(self, window: Window, part: Frames) -> list[ActionSpan]:
        """Return what is done in a part of the video, besides the actions that delimit it."""
        named = {phrase for action in window.actions for phrase in self._phrases(action)}
        return [span for span in self.graph.actions if span.frames & part and span.phrase not in named]

    def _actions_in(self, question: ActionsIn) -> str:
        window = question.window
        return self._over(window, lambda part: _only({span.phrase for span in self._others(window, part)}, "action"))

    def _edge_action(self, question: EdgeAction) -> str:
        def judge(part: Frames) -> str:
            when: dict[str, float] = {}
            for span in self._others(question.window, part):
                at = span.start if question.edge == "first" else -span.end
                when[span.phrase] = min(at, when.get(span.phrase, at))
            return _ahead(when, EDGE_MARGIN)

        return self._over(question.window, judge)

    def _extreme_action(self, question: ExtremeAction) -> str:
        sign = -1 if question.word == "longest" else 1
        # An action that happens several times may mean its longest (shortest) instance or all of its time.
        alone: dict[str, float] = {}
        together: dict[str, float] = {}
        for phrase, spans in self.spans.items():
            lengths = [sign * (span.end - span.start) for span in spans]
            alone[phrase], together[phrase] = min(lengths), sum(lengths)
        found = _ahead(alone, LENGTH_MARGIN)
        if found != _ahead(together, LENGTH_MARGIN):
            raise _UndecidedError("several_instances")
        return found

    def _length_choose(self, question: LengthChoose) -> str:
        spans = [self._single(question.first), self._single(question.second)]
        if spans[0].phrase == spans[1].phrase:
            raise _UndecidedError("both_options")
        sign = -1 if question.word == "longer" else 1
        return _ahead({span.phrase: sign * (span.end - span.start) for span in spans}, LENGTH_MARGIN)

    def _action_equals(self, question: ActionEquals) -> str:
        return verdict(self._value(question.question) in self._phrases(question.action))

    def _order(self, question: OrderChoose) -> str:
        during = self._single(question.action).frames
        before, after = _below(during), self.all & ~_until(during)
        other: Frames = 0  # what must not be on the other side either
        match question.asked:
            case ObjectExists(thing):
                frames = self.graph.contacts.get(name := self._thing(thing), 0)
                other = self.seen.get(name, 0)  # the questions it is composed of ask whether the object is there
            case RelationExists(relation):
                frames = 0
                for name in self._having(relation, self.all):
                    frames |= self.graph.relations[relation][name]
            case ActionHappens(action):
                asked = self._single(action)
                frames = asked.frames
                words = self.words.actions.get(asked.phrase)
                if words and words.verb and words.object:
                    # What the action is made of, at another time, leaves it unclear: AGQA drops such questions.
                    other = self.graph.relations.get(words.verb, {}).get(words.object, 0) & (before | after)
        if frames & ~before & ~after:
            raise _UndecidedError("at_the_same_time")
        sides = [(word, part) for word, part in (("before", before), ("after", after)) if part & frames]
        if len(sides) == 1 and not other & ~sides[0][1]:
            return sides[0][0]
        raise _UndecidedError("both_sides" if sides else "neither_side")


_BY_TYPE: Mapping[type, Callable[[Teller, Any], str]] = {
    ObjectExists: Teller._object_exists,
    RelationExists: Teller._relation_exists,
    Interaction: Teller._interaction,
    ActionHappens: Teller._action_happens,
    Both: Teller._both,
    ObjectsOf: Teller._objects_of,
    EdgeObject: Teller._edge_object,
    ActionsIn: Teller._actions_in,
    EdgeAction: Teller._edge_action,
    ExtremeAction: Teller._extreme_action,
    ObjectEquals: Teller._object_equals,
    ObjectChoose: Teller._object_choose,
    LengthChoose: Teller._length_choose,
    ActionEquals: Teller._action_equals,
    OrderChoose: Teller._order,
}


@lru_cache(maxsize=1 << 12)
def _answer(value: str | None, reason: str = "") -> Answer:
    """Return an answer; there are few different ones."""
    return Answer(value, reason)


def verdict(true: bool) -> str:
    """Return yes or no."""
    return YES if true else NO


def _is_verb(relation: str | None, verb: str) -> bool:
    """Return whether a program's ToAction means a relation: "putting" is "putting down"."""
    return relation is not None and (relation == verb or relation.startswith(f"{verb} "))


@cache
def _charades_verbs() -> frozenset[str]:
    """Return the relations that Charades' classes bring."""
    return frozenset(words.verb for words in load_agqa().actions.values() if words.verb)


def _below(frames: Frames) -> Frames:
    """Return the frames before the first of a set."""
    return (frames & -frames) - 1 if frames else 0


def _until(frames: Frames) -> Frames:
    """Return the frames up to the last of a set, and with it."""
    return (1 << frames.bit_length()) - 1


def _during(frames: Frames) -> Frames:
    """Return the frames from the first to the last of a set."""
    return _until(frames) & ~_below(frames)


def _run(frames: Frames, last: bool) -> Frames:
    """Return the first or last frames of a set that follow one another without a gap."""
    if last:
        top = frames.bit_length()
        gap = (((1 << top) - 1) & ~frames).bit_length()  # the frames below it are of other runs
        return frames & ~((1 << gap) - 1)
    low = frames & -frames
    return frames & ~(frames + low)  # the carry clears the first run and sets the bit behind it


def _only(found: set[str], what: str) -> str:
    if len(found) != 1:
        raise _UndecidedError(f"several_{what}s" if found else f"no_{what}")
    return next(iter(found))


def _ahead(measures: Mapping[str, float], margin: float) -> str:
    """Return what has the smallest measure, by more than a margin."""
    if not measures:
        raise _UndecidedError("no_action")
    (least, found), *others = sorted((measure, phrase) for phrase, measure in measures.items())
    if others and others[0][0] - least <= margin:
        raise _UndecidedError("ambiguous_margin")
    return found


def conjunction(word: str, first: str | None, second: str | None) -> str | None:
    """Return what two answers make of "and" or of "but not" (xor); None if they do not decide it."""
    refuses = NO if word == "and" else YES
    if first == NO or second == refuses:
        return NO
    return None if first is None or second is None else YES
