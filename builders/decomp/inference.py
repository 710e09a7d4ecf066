"""Answer all questions about a video, from AGQA, from the scene graph, and by inference from other answers.

The answer to a question constrains the answers to its children, and vice versa (AGQA-Decomp, Gandhi et al. 2022, Tables
2 and 5). Answers that contradict each other are discarded. `docs/decomp.md` lists our choices where the papers leave a
case open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...annotations.scene_graphs import SceneGraph
from . import questions as ask
from .decomposition import Step
from .denials import COMPLETE
from .graph_answers import NO, YES, Answer, GraphEvaluator, conjunction, verdict
from .questions import VIDEO, Action, Object, Question, Window, notation

ROOT, GRAPH = "root", "graph"
_NOWHERE = ("empty_window", "no_such_action")
Implied = tuple[int, str, str]  # question, answer, and the rule that implies it


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two answers that contradict each other.

    Attributes:
        kind: "recomputed" if the graph contradicts AGQA's answer to a root; "against_root" and "against_graph" if an
            inferred answer contradicts either; "implied" if two inferred answers contradict each other.
        sources: "root", "graph" or the rule of the inference.
    """

    question: Question
    kind: str
    sources: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class VideoAnswers:
    """The answers to all questions about one video.

    Attributes:
        sources: Where each answer comes from: "root", "graph" or the rule that implies it.
        conflicts: Contradictions, in the order of the questions' notation.
        recomputed: The graph's answers to roots, which keep their own answers.
    """

    answers: Mapping[Question, Answer]
    sources: Mapping[Question, str]
    conflicts: tuple[Conflict, ...]
    recomputed: Mapping[Question, str]


@dataclass(frozen=True, slots=True)
class _Link:
    """A parent question and its children, whose answers depend on each other by a rule."""

    rule: str
    nodes: tuple[int, ...]


def answer_all(steps: Sequence[Step], root_answers: Mapping[Question, str], graph: SceneGraph | None) -> VideoAnswers:
    """Answer the questions in all graphs of one video. Equal questions, whose rules are the same, are answered once.

    Inference proceeds in rounds that derive all consequences of the known answers at once, so the order of questions
    has no effect. AGQA's answers to the roots (`root_answers`, in lower case) are kept even if others contradict them.
    """
    return _Inference(steps, root_answers, graph).result()


class _Inference:
    def __init__(self, steps: Sequence[Step], root_answers: Mapping[Question, str], graph: SceneGraph | None) -> None:
        self.steps: list[Step] = []
        self.numbers: dict[Question, int] = {}
        for step in steps:
            number = self.numbers.setdefault(step.question, len(self.steps))
            if number == len(self.steps):
                self.steps.append(step)
        self.evaluator = GraphEvaluator(graph) if graph else None
        self.reasons = ["no_graph"] * len(self.steps)
        self.values: list[str | None] = [None] * len(self.steps)
        self.claims: list[dict[str, str]] = [{} for _ in self.steps]
        self.given = {
            self.numbers[question]: value for question, value in root_answers.items() if question in self.numbers
        }
        self.conflicts: list[Conflict] = []
        # Charades may annotate one object of a verb although there were two.
        self.complete = graph is None or graph.provenance in COMPLETE
        self.recomputed: dict[Question, str] = {}
        self.links: list[list[_Link]] = [[] for _ in self.steps]
        self.by_relation: dict[tuple[str, Window], list[tuple[int, str]]] = defaultdict(list)
        self.referring: dict[Object, list[int]] = defaultdict(list)

    def result(self) -> VideoAnswers:
        for node, step in enumerate(self.steps):
            self.connect(node, step)
            self.look_up(node, step.question)
        changed = [node for node, value in enumerate(self.values) if value is not None]
        while changed:
            changed = self.accept({implied for node in changed for implied in self.implied(node)})
        answers, sources = {}, {}
        for node, step in enumerate(self.steps):
            value = self.values[node]
            answers[step.question] = Answer(value, "" if value is not None else self.reasons[node])
            if value is not None:
                sources[step.question] = self.claims[node][value]
        ordered = sorted(
            self.conflicts,
            key=lambda conflict: (notation(conflict.question), conflict.kind, conflict.sources, conflict.values),
        )
        return VideoAnswers(answers, sources, tuple(ordered), self.recomputed)

    def connect(self, index: int, step: Step) -> None:
        for rule, children in step.rules:
            link = _Link(rule, (index, *(self.numbers[child] for child in children)))
            for node in set(link.nodes):
                self.links[node].append(link)
            for option in _options(step.question):
                if option in self.numbers:
                    self.links[self.numbers[option]].append(link)
        match step.question:
            case ask.Interaction(relation, str() as thing, window):
                self.by_relation[relation, window].append((index, thing))
            case ask.Interaction(_, thing) | ask.ObjectExists(thing) if not isinstance(thing, str):
                self.referring[thing].append(index)

    def look_up(self, node: int, question: Question) -> None:
        root_answer = self.given.get(node)
        if root_answer is not None:
            self.values[node] = root_answer
            self.claims[node][root_answer] = ROOT
        if self.evaluator is None:
            return
        answer = self.evaluator.answer(question)
        if root_answer is None:
            self.reasons[node] = answer.reason
            if answer.value is not None:
                self.values[node] = answer.value
                self.claims[node][answer.value] = GRAPH
        elif answer.value is not None:
            self.recomputed[question] = answer.value
            if answer.value != root_answer:
                self.conflicts.append(Conflict(question, "recomputed", (ROOT, GRAPH), (root_answer, answer.value)))

    def accept(self, implied: set[Implied]) -> list[int]:
        """Record inferred answers, and return the questions that they newly answer."""
        changed = []
        contradicted = set()
        for node, value, rule in sorted(implied):
            claims = self.claims[node]
            # "Before or after" is asked only if the other side is certain or does not exist.
            sure = value != NO or rule == "Choose"
            if value in claims or (not sure and self.is_open(node)):
                continue
            if claims:
                first, source = next(iter(claims.items()))
                kind = {ROOT: "against_root", GRAPH: "against_graph"}.get(source, "implied")
                self.conflicts.append(Conflict(self.steps[node].question, kind, (source, rule), (first, value)))
                contradicted.add(node)
            elif sure or self.reasons[node] not in _NOWHERE:
                # An inferred "no" does not answer a question about a part of the video that does not exist, but it
                # contradicts an inferred "yes".
                changed.append(node)
            claims[value] = rule
        for node in changed:
            self.values[node] = next(iter(self.claims[node]))
        for node in contradicted - self.given.keys():
            self.values[node], self.reasons[node] = None, "conflict"
        return [node for node in changed if self.values[node] is not None]

    def is_open(self, node: int) -> bool:
        """Return whether annotations are too incomplete to infer the answer "no"."""
        is_existential = isinstance(
            self.steps[node].question, ask.ObjectExists | ask.RelationExists | ask.Interaction | ask.ActionHappens
        )
        return is_existential and not self.complete and self.reasons[node] == "not_annotated"

    def implied(self, node: int) -> Iterator[Implied]:
        question = self.steps[node].question
        value = self.values[node]
        if value is None:
            return
        if value not in (YES, NO):
            yield from self.implied_by_name(question, value)
        for link in self.links[node]:
            yield from _LINKS[link.rule](self, link)

    def implied_by_name(self, question: Question, value: str) -> Iterator[Implied]:
        """Yield what is implied by an answer that names an object or action."""
        therefore: list[Question] = []
        match question:
            case ask.ObjectsOf(relation, window) | ask.EdgeObject(_, relation, window):
                therefore = [ask.ObjectExists(value), ask.ObjectExists(value, window)]
                therefore += [ask.RelationExists(relation, window), ask.RelationExists(relation)]
                therefore += [ask.Interaction(relation, value, window), ask.Interaction(relation, value)]
                if isinstance(question, ask.ObjectsOf) and self.complete:
                    for rival, name in self.by_relation.get((relation, window), ()):
                        if name != value:
                            yield rival, NO, "only object"
                for node in self.referring.get(question, ()):
                    yield from self.implied_by_reference(node, question, value)
            case ask.ActionsIn(window) | ask.EdgeAction(_, window):
                therefore = [ask.ActionHappens(value), ask.ActionHappens(value, window)]
            case ask.ExtremeAction() | ask.LengthChoose():
                therefore = [ask.ActionHappens(value)]
        for consequence in therefore:
            if consequence in self.numbers:
                yield self.numbers[consequence], YES, "answer"

    def implied_by_reference(self, node: int, reference: ask.Reference, value: str) -> Iterator[Implied]:
        """Yield what is implied by knowing which object a reference in a question stands for."""
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

    def name_of(self, part: Object | Action) -> str | None:
        """Return the name of an object or action. For a reference, return the answer to its question, if known."""
        if isinstance(part, str):
            return part
        node = None if isinstance(part, ask.ToAction) else self.numbers.get(part)
        return None if node is None else self.values[node]

    def asks_for_action(self, node: int) -> bool:
        return isinstance(self.steps[node].question, ask.ActionHappens | ask.Interaction)


def _options(question: Question) -> tuple[Question, ...]:
    match question:
        case ask.ObjectChoose(first, second) | ask.ActionEquals(_, ask.LengthChoose(_, first, second)):
            options = (first, second)
            return tuple(option for option in options if isinstance(option, ask.Reference | ask.ExtremeAction))
    return ()


def _same(known: _Inference, link: _Link) -> Iterator[Implied]:
    first, second = link.nodes
    for source, target in ((first, second), (second, first)):
        value = known.values[source]
        if value is not None:
            yield target, value, "same"


def _interaction(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, *children = link.nodes
    value, question = known.values[parent], known.steps[parent].question
    for child in children:
        if not isinstance(known.steps[child].question, ask.RelationExists | ask.ObjectExists):
            continue
        if value is not None and value != NO:
            yield child, YES, link.rule
        elif known.values[child] == NO and not isinstance(question, ask.ObjectsOf):
            yield parent, NO, link.rule


def _localized(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, everywhere, action = link.nodes
    value = known.values[parent]
    # AGQA only asks about the time of an action that happens, and the graph found the answer at that time;
    # but an inferred "no" does not imply anything about the action.
    if known.asks_for_action(action) and value is not None and (value != NO or parent in known.given):
        yield action, YES, link.rule
    if value == YES:
        yield everywhere, YES, link.rule
    if known.values[everywhere] == NO:
        yield parent, NO, link.rule


def _between(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, *halves = link.nodes
    value = known.values[parent]
    for half in halves:
        if value == YES:
            yield half, YES, link.rule
        elif known.values[half] == NO:
            yield parent, NO, link.rule


def _edge(known: _Inference, link: _Link) -> Iterator[Implied]:
    # A single object is both first and last; a single action in a part of the video may start or end outside it.
    parent, child = link.nodes
    value, parent_value, question = known.values[child], known.values[parent], known.steps[parent].question
    if value is None or (isinstance(question, ask.EdgeAction) and question.window != VIDEO):
        return
    yield parent, value, link.rule
    if parent_value is not None:
        yield child, parent_value, link.rule


def _both(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, first, second = link.nodes
    if first == second:
        return  # "a but not a" is neither implied nor implies anything
    combined = conjunction(link.rule.lower(), known.values[first], known.values[second])
    if combined is not None:
        yield parent, combined, link.rule
    wanted = {first: YES, second: YES if link.rule == "And" else NO}
    opposite = {YES: NO, NO: YES}
    if known.values[parent] == YES:
        for node, value in wanted.items():
            yield node, value, link.rule
    elif known.values[parent] == NO:
        for node, rest in ((first, second), (second, first)):
            if known.values[rest] == wanted[rest]:
                yield node, opposite[wanted[node]], link.rule


def _equals(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, subject, reference = link.nodes
    value, referent, question = known.values[parent], known.values[reference], known.steps[parent].question
    if isinstance(question, ask.ActionEquals):
        yield from _action_equals(known, link, question)
    if not isinstance(question, ask.ObjectEquals):
        return
    name = known.name_of(question.object)
    if name is not None and referent is not None:
        yield parent, verdict(name == referent), link.rule
    if value == YES:
        if isinstance(question.object, str):
            yield subject, YES, link.rule
        elif referent is not None:
            yield subject, referent, link.rule
        if name is not None:
            yield reference, name, link.rule
    elif isinstance(question.object, str) and known.values[subject] == NO:
        yield parent, NO, link.rule


def _action_equals(known: _Inference, link: _Link, question: ask.ActionEquals) -> Iterator[Implied]:
    parent, subject, comparison = link.nodes
    first, second = (known.name_of(action) for action in (question.question.first, question.question.second))
    value, chosen = known.values[parent], known.values[comparison]
    if value is not None:
        if known.asks_for_action(subject):
            yield subject, YES, link.rule  # lengths are only compared for actions that happen
        answer_is = first if value == YES else second
        if answer_is is not None:
            yield comparison, answer_is, link.rule
    if chosen is not None and chosen in (first, second):
        yield parent, verdict(chosen == first), link.rule


def _choose(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, first, second = link.nodes
    value, question = known.values[parent], known.steps[parent].question
    if isinstance(question, ask.OrderChoose):
        # The converse does not hold: what is true only before the action may be true at its first frame only.
        for node, side in ((first, "before"), (second, "after")):
            if value in ("before", "after"):
                yield node, verdict(value == side), link.rule
        return
    if not isinstance(question, ask.ObjectChoose):
        return
    names = {first: known.name_of(question.first), second: known.name_of(question.second)}
    for node, rest in ((first, second), (second, first)):
        name, other_name = names[node], names[rest]
        if known.values[node] == YES and known.values[rest] == NO and name is not None:
            yield parent, name, link.rule
        if value is not None and name == value and name != other_name:
            yield rest, NO, link.rule
            # The touched object of the two need not be the only one; but only one object is the first.
            if isinstance(question.question, ask.EdgeObject) or known.values[node] == NO:
                yield node, YES, link.rule


def _lengths(known: _Inference, link: _Link) -> Iterator[Implied]:
    parent, *actions = link.nodes
    if known.values[parent] is not None:
        for action in actions:
            if known.asks_for_action(action):
                yield action, YES, link.rule


_LINKS: Mapping[str, Callable[[_Inference, _Link], Iterator[Implied]]] = {
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
