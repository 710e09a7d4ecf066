"""Take compositional questions apart into graphs of sub-questions.

AGQA-Decomp (Gandhi et al. 2022), section 3 and Figure 2: the program is walked down to its leaves; every function on
the way is a question, and what stands for its answer goes into the question above it. Kinds, rules and the order of
children are those of the released scoring programs and of the one graph that the authors' notebooks show whole; where
those leave it open, `docs/decomp.md` says what we do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ....templates.agqa import PERSON, load_agqa
from . import questions as ask
from .questions import VIDEO, Action, Object, Question, Window, Windowed, at, kind_of
from .wording import word

RuleChildren = tuple[str, tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Step:
    """A question and what it is composed of.

    Attributes:
        question: The question.
        kind: Its leaf kind, such as "Interaction After".
        rules: Names of composition rules with their children in order; none if it is a leaf.
    """

    question: Question
    kind: str
    rules: tuple[RuleChildren, ...]


@dataclass(frozen=True, slots=True)
class DecomposedQuestion:
    """A question taken apart.

    Attributes:
        steps: Every question of it once, children before parents and in the order of the rules, the root last.
        edges: Each parent's place in `steps`, a rule, and the places of the children that the rule gives it.
        depths: For each step the number of rules on the longest way down.
    """

    steps: list[Step]
    edges: list[tuple[int, str, list[int]]]
    depths: list[int]


def graph_of(root: Question) -> DecomposedQuestion:
    """Take a question apart, down to its leaves. A root that no rule applies to comes alone: it is isolated."""
    found = DecomposedQuestion([], [], [])
    _collect(_root(root), {}, found)
    return found


def decompose(root: Question) -> list[Step]:
    """Return the questions of a question's graph: children before parents, the root last."""
    return graph_of(root).steps


def _collect(step: Step, places: dict[Question, int], found: DecomposedQuestion) -> None:
    depth, edges = 0, []
    for rule, children in step.rules:
        for child in _in_order(rule, children):
            if child not in places:
                _collect(take_apart(child), places, found)
        below = [places[child] for child in children]
        edges.append((rule, below))
        depth = max(depth, 1 + max(found.depths[place] for place in below))
    here = places[step.question] = len(found.steps)
    found.steps.append(step)
    found.depths.append(depth)
    found.edges.extend((here, rule, below) for rule, below in edges)


def _in_order(rule: str, children: Sequence[Question]) -> Sequence[Question]:
    """Return children as the engine numbers them: of an interaction the objects, then the relation."""
    if rule != "Interaction":
        return children
    return sorted(children, key=lambda child: kind_of(child) != "Object Exists")


def _root(question: Question) -> Step:
    """Take a root apart.

    One about a relation to anything has the person for a child, and is an interaction in a part of the video: only so
    do the groups of roots in the authors' tables come about.
    """
    step = take_apart(question)
    if not isinstance(question, ask.RelationExists):
        return step
    kind = step.kind if question.window == VIDEO else f"Interaction {question.window.word.title()}"
    return Step(question, kind, (*step.rules, ("Interaction", (ask.ObjectExists(PERSON, question.window),))))


@lru_cache(maxsize=1 << 16)
def take_apart(question: Question) -> Step:
    """Return a question's kind, and the children that rules give it."""
    return Step(question, kind_of(question), tuple(_rules(question)))


def _rules(question: Question) -> Iterator[RuleChildren]:
    match question:
        case ask.ObjectExists() | ask.RelationExists() | ask.ActionsIn():
            yield from _localized(question)
        case ask.Interaction(relation, thing, window):
            yield from _localized(question)
            yield _joined(relation, thing, window)
        case ask.ActionHappens(action, window):
            yield from _localized(question)
            if parts := _parts(action):
                yield _joined(*parts, window)
        case ask.ObjectsOf(relation, window):
            yield from _localized(question)
            yield "Interaction", (ask.ObjectExists(PERSON, window), ask.RelationExists(relation, window))
        case ask.EdgeObject(edge, relation, window):
            yield edge.title(), (ask.ObjectsOf(relation, window),)
        case ask.EdgeAction(edge, window):
            yield edge.title(), (ask.ActionsIn(window),)
        case ask.Both(word, first, second):
            yield word.title(), (first, second)
        case ask.ObjectEquals(thing, asked):
            yield "Equals", (ask.ObjectExists(thing) if isinstance(thing, str) else thing, asked)
        case ask.ActionEquals(action, compared):
            yield "Equals", (_happening(action), compared)
        case ask.ObjectChoose(first, second, asked):
            yield "Choose", (ask.ObjectEquals(first, asked), ask.ObjectEquals(second, asked))
        case ask.LengthChoose(_, one, other):
            yield kind_of(question), (_happening(one), _happening(other))
        case ask.OrderChoose(asked, action):
            whole = _related(asked.action) or asked if isinstance(asked, ask.ActionHappens) else asked
            yield "Choose", (at(whole, Window("before", (action,))), at(whole, Window("after", (action,))))


def _joined(relation: str, thing: Object, window: Window) -> RuleChildren:
    """Compose an interaction. An object that is spoken of is known by the question that it is the answer of."""
    known_by = ask.ObjectExists(thing, window) if isinstance(thing, str) or window != VIDEO else thing
    return "Interaction", (ask.ObjectExists(PERSON, window), ask.RelationExists(relation, window), known_by)


def _localized(question: Windowed) -> Iterator[RuleChildren]:
    window = question.window
    if window.word == "between":
        after, before = window.actions
        yield "Between", (at(question, Window("after", (after,))), at(question, Window("before", (before,))))
    elif window != VIDEO:
        yield window.word.title(), (at(question, VIDEO), _happening(*window.actions))


def _happening(action: Action) -> Question:
    """Return the question that an action is known by: whether it happens, or which one is the longest.

    "Is the person holding a phone?" asks for the action and for the relation in the same words: it is one question.
    """
    if isinstance(action, ask.ExtremeAction):
        return action
    return _related(action) or ask.ActionHappens(action)


def _related(action: Action) -> ask.Interaction | None:
    """Return the interaction that asks the same in the same words of ours or of the engine; None if there is none."""
    if parts := _parts(action):
        related, happens = ask.Interaction(*parts), ask.ActionHappens(action)
        same = word(related) == word(happens) or word(related, "engine") == word(happens, "engine")
        return related if same else None
    return None


def _parts(action: Action) -> tuple[str, Object] | None:
    """Return the relation and the object of an action; None if it has none or is not known."""
    match action:
        case str():
            words = load_agqa().actions.get(action)
            return (words.verb, words.object) if words and words.verb and words.object else None
        case ask.ToAction(verb, thing):
            return load_agqa().relation_of(verb), thing
    return None
