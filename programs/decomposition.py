"""Take compositional questions apart into graphs of sub-questions.

AGQA-Decomp (Gandhi et al. 2022), section 3 and Figure 2: the program is walked down to its leaves; every function on
the way is a question, and what stands for its answer goes into the question above it. Kinds, rules and the order of
children are those of the released scoring programs; where those leave it open, `docs/decomp.md` says what we do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..templates.agqa import load_agqa
from .questions import (
    VIDEO,
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
    Windowed,
    at,
)
from .wording import word

Composition = tuple[str, tuple[Question, ...]]


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
    rules: tuple[Composition, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A question taken apart.

    Attributes:
        steps: Every question of it once, children before parents and in the order of the rules, the root last.
        edges: Each parent's place in `steps`, a rule, and the places of the children that the rule gives it.
        depths: For each step the number of rules on the longest way down.
    """

    steps: list[Step]
    edges: list[tuple[int, str, list[int]]]
    depths: list[int]


def graph_of(root: Question) -> Graph:
    """Take a question apart, down to its leaves. A root that no rule applies to comes alone: it is isolated."""
    found = Graph([], [], [])
    _collect(root, {}, found)
    return found


def decompose(root: Question) -> list[Step]:
    """Return the questions of a question's graph: children before parents, the root last."""
    return graph_of(root).steps


def _collect(question: Question, places: dict[Question, int], found: Graph) -> int:
    step, depth = take_apart(question), 0
    edges = []
    for rule, children in step.rules:
        below = []
        for child in children:
            place = places.get(child)
            below.append(_collect(child, places, found) if place is None else place)
        edges.append((rule, below))
        depth = max(depth, 1 + max(found.depths[place] for place in below))
    here = places[question] = len(found.steps)
    found.steps.append(step)
    found.depths.append(depth)
    found.edges.extend((here, rule, below) for rule, below in edges)
    return here


@lru_cache(maxsize=1 << 16)
def take_apart(question: Question) -> Step:
    """Return a question's kind, and the children that rules give it."""
    return Step(question, kind_of(question), tuple(_rules(question)))


def kind_of(question: Question) -> str:
    """Name the leaf kind of a question."""
    match question:
        case ObjectExists(window=window) | RelationExists(window=window) if window != VIDEO:
            return f"Exists {window.word.title()}"
        case ObjectExists():
            return "Object Exists"
        case RelationExists():
            return "Relation Exists"
        case Interaction(window=window) | ActionHappens(window=window):
            return _in(window, "Interaction")
        case ObjectsOf(window=window):
            return _in(window, "Object")
        case ActionsIn(window):
            return _in(window, "Action")
        case Both(word):
            return word.title()
        case EdgeObject(edge):
            return f"{edge.title()} Object"
        case EdgeAction(edge):
            return f"{edge.title()} Action"
        case ExtremeAction(word):
            return f"{word.title()} Action"
        case ObjectEquals():
            return "Object Equals"
        case ActionEquals():
            return "Action Equals"
        case LengthChoose(word):
            return f"{word.title()} Choose"
        case ObjectChoose() | OrderChoose():
            return "Choose"


def _in(window: Window, kind: str) -> str:
    return kind if window == VIDEO else f"{kind} {window.word.title()}"


def _rules(question: Question) -> Iterator[Composition]:
    match question:
        case ObjectExists(thing, window):
            if not isinstance(thing, str) and window == VIDEO and thing.relation:
                yield "Interaction", (RelationExists(thing.relation, thing.window), thing)
            yield from _localized(question)
        case RelationExists():
            yield from _localized(question)
        case Interaction(relation, thing, window):
            yield "Interaction", (RelationExists(relation, window), ObjectExists(thing, window))
            yield from _localized(question)
        case ActionHappens(action, window):
            if parts := _parts(action):
                yield "Interaction", (RelationExists(parts[0], window), ObjectExists(parts[1], window))
            yield from _localized(question)
        case ObjectsOf(relation, window):
            if relation:
                yield "Interaction", (RelationExists(relation, window),)
            yield from _localized(question)
        case ActionsIn():
            yield from _localized(question)
        case EdgeObject(edge, relation, window):
            yield edge.title(), (ObjectsOf(relation, window),)
        case EdgeAction(edge, window):
            yield edge.title(), (ActionsIn(window),)
        case Both(word, first, second):
            yield word.title(), (first, second)
        case ObjectEquals(thing, asked):
            yield "Equals", (ObjectExists(thing) if isinstance(thing, str) else thing, asked)
        case ActionEquals(action, compared):
            yield "Equals", (_happening(action), compared)
        case ObjectChoose(first, second, asked):
            yield "Choose", (ObjectEquals(first, asked), ObjectEquals(second, asked))
        case LengthChoose(_, one, other):
            yield kind_of(question), (_happening(one), _happening(other))
        case OrderChoose(asked, action):
            whole = _related(asked.action) or asked if isinstance(asked, ActionHappens) else asked
            yield "Choose", (at(whole, Window("before", (action,))), at(whole, Window("after", (action,))))


def _localized(question: Windowed) -> Iterator[Composition]:
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
    if isinstance(action, ExtremeAction):
        return action
    return _related(action) or ActionHappens(action)


def _related(action: Action) -> Interaction | None:
    """Return the interaction that asks the same in the same words; None if there is none."""
    if parts := _parts(action):
        related = Interaction(*parts)
        return related if word(related) == word(ActionHappens(action)) else None
    return None


def _parts(action: Action) -> tuple[str, Object] | None:
    """Return the relation and the object of an action; None if it has none or is not known."""
    match action:
        case str():
            words = load_agqa().actions.get(action)
            return (words.verb, words.object) if words and words.verb and words.object else None
        case ToAction(verb, thing):
            return verb, thing
    return None
