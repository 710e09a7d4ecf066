"""Answers of all questions about a video: AGQA's own, the graph's, and what follows from those of other questions.

What a parent's answer implies about its children is logic (AGQA-Decomp, Gandhi et al. 2022, Tables 2 and 5); where two
sources contradict each other, neither is believed. `docs/decomp.md` lists where we had to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...annotations.scene_graphs import SceneGraph
from .denials import COMPLETE
from .graph_answers import NO, REASONS, YES, Answer, Teller, answer, conjunction, verdict
from .programs import questions as ask
from .programs.decomposition import Step
from .programs.questions import VIDEO, Action, Object, Question, Window, notation

__all__ = ["REASONS", "Answer", "Conflict", "Filled", "answer", "fill"]

ROOT, GRAPH = "root", "graph"
_NOWHERE = ("empty_window", "no_such_action")
Implied = tuple[int, str, str]  # a node, its answer, and the rule that implies it


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that contradict each other.

    Attributes:
        question: What they answer.
        kind: "recomputed": the graph against AGQA's answer of a root; "against_root": what other answers imply against
            it; "against_graph": what they imply against the graph; "implied": two implied answers.
        sources: Where the two come from: "root", "graph" or the rule that implies one.
        values: The two answers.
    """

    question: Question
    kind: str
    sources: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Filled:
    """Answers of all questions about one video.

    Attributes:
        answers: By question.
        sources: Where each answer comes from: "root", "graph" or the rule that implies it; none without an answer.
        conflicts: What contradicts, in the order of the questions' notation.
        recomputed: What the graph answers to roots, where it decides; the root's own answer stays.
    """

    answers: Mapping[Question, Answer]
    sources: Mapping[Question, str]
    conflicts: tuple[Conflict, ...]
    recomputed: Mapping[Question, str]


@dataclass(frozen=True, slots=True)
class _Link:
    """Questions whose answers depend on each other by a rule: the parent and its children, as numbers of nodes."""

    rule: str
    nodes: tuple[int, ...]


def fill(steps: Sequence[Step], given: Mapping[Question, str], graph: SceneGraph | None) -> Filled:
    """Answer the questions of all graphs of one video: by AGQA, by its graph, and by what other answers imply.

    All that follows from the same answers is found at the same time, so that the order of the questions has no effect.
    From a question with contradicting answers nothing more follows.

    Args:
        steps: Questions with their rules, of all graphs; equal questions are one.
        given: The roots' own answers, in lower case. They stay, whatever contradicts them.
        graph: Of the video; None if there is none.
    """
    return _Filler(steps, given, graph).filled()


class _Filler:
    """Answers the questions of one video."""

    def __init__(self, steps: Sequence[Step], given: Mapping[Question, str], graph: SceneGraph | None) -> None:
        self.steps: list[Step] = []
        self.numbers: dict[Question, int] = {}
        for step in steps:
            number = self.numbers.setdefault(step.question, len(self.steps))
            if number == len(self.steps):
                self.steps.append(step)
            elif len(step.rules) > len(self.steps[number].rules):
                self.steps[number] = step  # as a root it is composed of more
        self.teller = Teller(graph) if graph else None
        self.reasons = ["no_graph"] * len(self.steps)
        self.values: list[str | None] = [None] * len(self.steps)
        self.claims: list[dict[str, str]] = [{} for _ in self.steps]
        self.given = {self.numbers[question]: value for question, value in given.items() if question in self.numbers}
        self.conflicts: list[Conflict] = []
        # That Charades has one object of a verb does not mean that there was no other.
        self.complete = graph is None or graph.provenance in COMPLETE
        self.recomputed: dict[Question, str] = {}
        self.links: list[list[_Link]] = [[] for _ in self.steps]
        self.by_relation: dict[tuple[str, Window], list[tuple[int, str]]] = defaultdict(list)
        self.speaking: dict[Object, list[int]] = defaultdict(list)

    def filled(self) -> Filled:
        for number, step in enumerate(self.steps):
            self.connect(number, step)
            self.look_up(number, step.question)
        changed = [number for number, value in enumerate(self.values) if value is not None]
        while changed:
            changed = self.take({implied for number in changed for implied in self.implied(number)})
        answers, sources = {}, {}
        for number, step in enumerate(self.steps):
            value = self.values[number]
            answers[step.question] = Answer(value, "" if value is not None else self.reasons[number])
            if value is not None:
                sources[step.question] = self.claims[number][value]
        ordered = sorted(self.conflicts, key=lambda one: (notation(one.question), one.kind, one.sources, one.values))
        return Filled(answers, sources, tuple(ordered), self.recomputed)

    def connect(self, number: int, step: Step) -> None:
        """Note what the answer of a question has to do with."""
        for rule, children in step.rules:
            link = _Link(rule, (number, *(self.numbers[child] for child in children)))
            for node in set(link.nodes):
                self.links[node].append(link)
            for spoken_of in _options(step.question):
                if spoken_of in self.numbers:
                    self.links[self.numbers[spoken_of]].append(link)
        match step.question:
            case ask.Interaction(relation, thing, window):
                if isinstance(thing, str):
                    self.by_relation[relation, window].append((number, thing))
                else:
                    self.speaking[thing].append(number)
            case ask.ObjectExists(thing) if not isinstance(thing, str):
                self.speaking[thing].append(number)

    def look_up(self, number: int, question: Question) -> None:
        """Take a root's own answer, or the graph's."""
        own = self.given.get(number)
        if own is not None:
            self.values[number] = own
            self.claims[number][own] = ROOT
        if self.teller is None:
            return
        found = self.teller.answer(question)
        if own is None:
            self.reasons[number] = found.reason
            if found.value is not None:
                self.values[number] = found.value
                self.claims[number][found.value] = GRAPH
            return
        if found.value is not None:
            self.recomputed[question] = found.value
            if found.value != own:
                self.conflicts.append(Conflict(question, "recomputed", (ROOT, GRAPH), (own, found.value)))

    def take(self, implied: set[Implied]) -> list[int]:
        """Take what follows; return the questions that have an answer now and had none."""
        changed = []
        contradicted = set()
        for number, value, rule in sorted(implied):
            claims = self.claims[number]
            # "Before or after" is only asked where the other side is clear, or not there at all.
            sure = value != NO or rule == "Choose"
            if value in claims or (not sure and self.is_open(number)):
                continue
            if not claims:
                # What never happens does not happen in a part of the video that is not there either; that is no answer,
                # but it contradicts a "yes".
                if sure or self.reasons[number] not in _NOWHERE:
                    changed.append(number)
            else:
                self.contradict(number, value, rule)
                contradicted.add(number)
            claims[value] = rule
        for number in changed:
            self.values[number] = next(iter(self.claims[number]))
        for number in contradicted - self.given.keys():
            self.values[number], self.reasons[number] = None, "conflict"
        return [number for number in changed if self.values[number] is not None]

    def is_open(self, number: int) -> bool:
        """Return whether annotations leave open if something is so.

        Then no other answer denies it either.
        """
        asked = isinstance(
            self.steps[number].question, ask.ObjectExists | ask.RelationExists | ask.Interaction | ask.ActionHappens
        )
        return asked and not self.complete and self.reasons[number] == "not_annotated"

    def contradict(self, number: int, value: str, rule: str) -> None:
        first, source = next(iter(self.claims[number].items()))
        kind = {ROOT: "against_root", GRAPH: "against_graph"}.get(source, "implied")
        self.conflicts.append(Conflict(self.steps[number].question, kind, (source, rule), (first, value)))

    def implied(self, number: int) -> Iterator[Implied]:
        """Yield all that follows from an answer, with what is known besides."""
        question = self.steps[number].question
        value = self.values[number]
        if value is None:
            return
        if value not in (YES, NO):
            yield from self.named(question, value)
        for link in self.links[number]:
            yield from _LINKS[link.rule](self, link)

    def named(self, question: Question, value: str) -> Iterator[Implied]:
        """Yield what follows from the answer being this object or action."""
        match question:
            case ask.ObjectsOf(relation, window) | ask.EdgeObject(_, relation, window):
                therefore: list[Question] = [ask.ObjectExists(value), ask.ObjectExists(value, window)]
                therefore += [ask.RelationExists(relation, window), ask.RelationExists(relation)]
                therefore += [ask.Interaction(relation, value, window), ask.Interaction(relation, value)]
                if isinstance(question, ask.ObjectsOf) and self.complete:
                    for other, name in self.by_relation.get((relation, window), ()):
                        if name != value:
                            yield other, NO, "only object"
                yield from self.known(therefore, "answer")
                for node in self.speaking.get(question, ()):
                    yield from self.spoken(node, question, value)
            case ask.ActionsIn(window) | ask.EdgeAction(_, window):
                yield from self.known([ask.ActionHappens(value), ask.ActionHappens(value, window)], "answer")
            case ask.ExtremeAction() | ask.LengthChoose():
                yield from self.known([ask.ActionHappens(value)], "answer")

    def known(self, questions: list[Question], rule: str) -> Iterator[Implied]:
        for question in questions:
            found = self.numbers.get(question)
            if found is not None:
                yield found, YES, rule

    def spoken(self, node: int, reference: ask.Reference, value: str) -> Iterator[Implied]:
        """Yield what follows for a question that speaks of an object by a question whose answer is known now."""
        question = self.steps[node].question
        if not isinstance(question, ask.Interaction | ask.ObjectExists):
            return
        if isinstance(question, ask.ObjectExists) and question.window in (VIDEO, reference.window):
            yield node, YES, "answer"
        same = self.numbers.get(replace(question, object=value))
        if same is None:
            return
        link = _Link("same", (node, same))
        if link not in self.links[node]:
            self.links[node].append(link)
            self.links[same].append(link)
        yield from _same(self, link)

    def known_thing(self, thing: Object) -> str | None:
        """Return an object's name, if it is named or its question's answer is known."""
        if isinstance(thing, str):
            return thing
        number = self.numbers.get(thing)
        return None if number is None else self.values[number]

    def known_action(self, action: Action) -> str | None:
        """Return an action's phrase, if it is named or its question's answer is known."""
        if isinstance(action, str):
            return action
        if isinstance(action, ask.ExtremeAction):
            number = self.numbers.get(action)
            return None if number is None else self.values[number]
        return None


def _options(question: Question) -> tuple[Question, ...]:
    """Return the questions whose answers are the options of a choice."""
    match question:
        case ask.ObjectChoose(first, second) | ask.ActionEquals(_, ask.LengthChoose(_, first, second)):
            options = (first, second)
            return tuple(option for option in options if isinstance(option, ask.Reference | ask.ExtremeAction))
    return ()


def _same(filler: _Filler, link: _Link) -> Iterator[Implied]:
    one, other = link.nodes
    for here, there in ((one, other), (other, one)):
        value = filler.values[here]
        if value is not None:
            yield there, value, "same"


def _interaction(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, *children = link.nodes
    value, question = filler.values[parent], filler.steps[parent].question
    for child in children:
        asked = filler.steps[child].question
        if not isinstance(asked, ask.RelationExists | ask.ObjectExists):
            continue
        if value is not None and value != NO:
            yield child, YES, link.rule
        elif filler.values[child] == NO and not isinstance(question, ask.ObjectsOf):
            yield parent, NO, link.rule


def _localized(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, everywhere, action = link.nodes
    value = filler.values[parent]
    # AGQA asks about the time of an action only if it happens, and what is found was found at that time; but a "no" may
    # also follow from another answer, and then nothing is known of the action.
    happens = isinstance(filler.steps[action].question, ask.ActionHappens | ask.Interaction)
    if happens and value is not None and (value != NO or parent in filler.given):
        yield action, YES, link.rule
    if value == YES:
        yield everywhere, YES, link.rule
    if filler.values[everywhere] == NO:
        yield parent, NO, link.rule


def _between(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, *halves = link.nodes
    value = filler.values[parent]
    for half in halves:
        if value == YES:
            yield half, YES, link.rule
        elif filler.values[half] == NO:
            yield parent, NO, link.rule


def _edge(filler: _Filler, link: _Link) -> Iterator[Implied]:
    # The only object is the first and the last. The only action of a part need not begin or end in it.
    parent, child = link.nodes
    value, other, asked = filler.values[child], filler.values[parent], filler.steps[parent].question
    if value is None or (isinstance(asked, ask.EdgeAction) and asked.window != VIDEO):
        return
    yield parent, value, link.rule
    if other is not None:
        yield child, other, link.rule


def _both(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, one, other = link.nodes
    if one == other:
        return  # "a but not a" follows from nothing and tells nothing
    found = conjunction(link.rule.lower(), filler.values[one], filler.values[other])
    if found is not None:
        yield parent, found, link.rule
    wanted = {one: YES, other: YES if link.rule == "And" else NO}
    opposite = {YES: NO, NO: YES}
    if filler.values[parent] == YES:
        for node, value in wanted.items():
            yield node, value, link.rule
    elif filler.values[parent] == NO:
        for node, rest in ((one, other), (other, one)):
            if filler.values[rest] == wanted[rest]:
                yield node, opposite[wanted[node]], link.rule


def _equals(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, one, other = link.nodes
    value, found, question = filler.values[parent], filler.values[other], filler.steps[parent].question
    if isinstance(question, ask.ActionEquals):
        yield from _action_equals(filler, link, question)
    if not isinstance(question, ask.ObjectEquals):
        return
    name = filler.known_thing(question.object)
    if name is not None and found is not None:
        yield parent, verdict(name == found), link.rule
    if value == YES:
        if isinstance(question.object, str):
            yield one, YES, link.rule
        elif found is not None:
            yield one, found, link.rule
        if name is not None:
            yield other, name, link.rule
    elif isinstance(question.object, str) and filler.values[one] == NO:
        yield parent, NO, link.rule


def _action_equals(filler: _Filler, link: _Link, question: ask.ActionEquals) -> Iterator[Implied]:
    parent, one, other = link.nodes
    first, second = (filler.known_action(action) for action in (question.question.first, question.question.second))
    value, found = filler.values[parent], filler.values[other]
    if value is not None:
        if isinstance(filler.steps[one].question, ask.ActionHappens | ask.Interaction):
            yield one, YES, link.rule  # their lengths are compared, whatever comes of it
        answer_is = first if value == YES else second
        if answer_is is not None:
            yield other, answer_is, link.rule
    if found is not None and found in (first, second):
        yield parent, verdict(found == first), link.rule


def _choose(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, one, other = link.nodes
    value, question = filler.values[parent], filler.steps[parent].question
    if isinstance(question, ask.OrderChoose):
        # Not the other way: what is so before the action and not after it may be so at its first frame alone.
        for node, side in ((one, "before"), (other, "after")):
            if value in ("before", "after"):
                yield node, verdict(value == side), link.rule
        return
    if not isinstance(question, ask.ObjectChoose):
        return
    names = {one: filler.known_thing(question.first), other: filler.known_thing(question.second)}
    for node, rest in ((one, other), (other, one)):
        name, other_name = names[node], names[rest]
        if filler.values[node] == YES and filler.values[rest] == NO and name is not None:
            yield parent, name, link.rule
        if value is not None and name == value and name != other_name:
            yield rest, NO, link.rule
            # Of two objects the one that they touch need not be the only one that they touch; but one is the first.
            if isinstance(question.question, ask.EdgeObject) or filler.values[node] == NO:
                yield node, YES, link.rule


def _lengths(filler: _Filler, link: _Link) -> Iterator[Implied]:
    parent, *actions = link.nodes
    if filler.values[parent] is not None:
        for action in actions:
            if isinstance(filler.steps[action].question, ask.ActionHappens | ask.Interaction):
                yield action, YES, link.rule


_LINKS: Mapping[str, Callable[[_Filler, _Link], Iterator[Implied]]] = {
    "same": _same,
    "Interaction": _interaction,
    **dict.fromkeys(("After", "Before", "While"), _localized),
    "Between": _between,
    **dict.fromkeys(("First", "Last"), _edge),
    **dict.fromkeys(("And", "Xor"), _both),
    "Equals": _equals,
    "Choose": _choose,
    **dict.fromkeys(("Longer Choose", "Shorter Choose"), _lengths),
}
