"""Decompose compositional questions into graphs of sub-questions.

As in AGQA-Decomp (Gandhi et al. 2022, section 3 and Figure 2), every function of a program, down to its leaves, becomes
a question, and the question above it refers to its answer. Categories, rules and the order of children follow the
released scoring programs and the one graph shown in full in the authors' notebooks; `docs/decomp.md` lists our choices
where these leave a case open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...templates.agqa import PERSON, load_agqa
from . import questions as ask
from .questions import VIDEO, Action, Object, Question, Window, Windowed, kind_of, notation, template_of
from .wording import Wording, word

RuleChildren = tuple[str, tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Step:
    """A question, its leaf category (such as "Interaction After"), and its composition rules with their children."""

    question: Question
    kind: str
    rules: tuple[RuleChildren, ...]


@dataclass(frozen=True, slots=True)
class DecomposedQuestion:
    """The graph of one question and its sub-questions.

    Attributes:
        steps: All questions, children before parents and in the order of the rules, the root last.
        edges: Triples of a parent's position in `steps`, a rule, and the positions of the rule's children.
    """

    steps: list[Step]
    edges: list[tuple[int, str, list[int]]]


def decompose_with_edges(root: Question, roots: Collection[Question] = ()) -> DecomposedQuestion:
    """Decompose a question down to its leaves. If no rule applies to it, the graph consists of that question.

    `roots` are all roots about the video. One that occurs below another is decomposed as a root there too, so that a
    question has the same children in all graphs.
    """
    graph = DecomposedQuestion([], [])
    positions: dict[Question, int] = {}

    def add(step: Step) -> None:
        edges = []
        for rule, children in step.rules:
            # The engine numbers the objects of an interaction before its relation.
            by_number = sorted(children, key=lambda child: rule == "Interaction" and kind_of(child) != "Object Exists")
            for child in by_number:
                if child not in positions:
                    add(_root(child) if child in roots else decompose_once(child))
            edges.append((rule, [positions[child] for child in children]))
        parent = positions[step.question] = len(graph.steps)
        graph.steps.append(step)
        graph.edges.extend((parent, rule, children) for rule, children in edges)

    add(_root(root))
    return graph


def decompose(root: Question, roots: Collection[Question] = ()) -> list[Step]:
    """Return all questions in the graph of a question, children before parents and the root last."""
    return decompose_with_edges(root, roots).steps


def _root(question: Question) -> Step:
    """Decompose a root by one level.

    Roots that ask for a relation to any object also have the person as a child, and are interactions if they ask about
    a part of the video. This reproduces the groups of roots in the authors' tables.
    """
    step = decompose_once(question)
    if not isinstance(question, ask.RelationExists):
        return step
    kind = step.kind if question.window == VIDEO else f"Interaction {question.window.word.title()}"
    return Step(question, kind, (*step.rules, ("Interaction", (ask.ObjectExists(PERSON, question.window),))))


@lru_cache(maxsize=1 << 16)
def decompose_once(question: Question) -> Step:
    """Decompose a question by one level: return its category, and its children by each rule."""
    return Step(question, kind_of(question), tuple(_rules(question)))


def _rules(question: Question) -> Iterator[RuleChildren]:
    match question:
        case ask.ObjectExists() | ask.RelationExists() | ask.ActionsIn():
            yield from _localized(question)
        case ask.Interaction(relation, thing, window):
            yield from _localized(question)
            yield _interaction(relation, thing, window)
        case ask.ActionHappens(action, window):
            yield from _localized(question)
            if parts := _relation_and_object(action):
                yield _interaction(*parts, window)
        case ask.ObjectsOf(relation, window):
            yield from _localized(question)
            yield "Interaction", (ask.ObjectExists(PERSON, window), ask.RelationExists(relation, window))
        case ask.EdgeObject(edge, relation, window):
            yield edge.title(), (ask.ObjectsOf(relation, window),)
        case ask.EdgeAction(edge, window):
            yield edge.title(), (ask.ActionsIn(window),)
        case ask.Both(word, first, second):
            yield word.title(), (first, second)
        case ask.ObjectEquals(thing, reference):
            yield "Equals", (ask.ObjectExists(thing) if isinstance(thing, str) else thing, reference)
        case ask.ActionEquals(action, compared):
            yield "Equals", (_question_about(action), compared)
        case ask.ObjectChoose(first, second, reference):
            yield "Choose", (ask.ObjectEquals(first, reference), ask.ObjectEquals(second, reference))
        case ask.LengthChoose(_, first_action, second_action):
            yield kind_of(question), (_question_about(first_action), _question_about(second_action))
        case ask.OrderChoose(event, action):
            whole = _same_interaction(event.action) or event if isinstance(event, ask.ActionHappens) else event
            sides = (Window("before", (action,)), Window("after", (action,)))
            yield "Choose", tuple(replace(whole, window=side) for side in sides)


def _interaction(relation: str, thing: Object, window: Window) -> RuleChildren:
    """Decompose an interaction. An object given by reference is represented by the question of the reference."""
    known_by = ask.ObjectExists(thing, window) if isinstance(thing, str) or window != VIDEO else thing
    return "Interaction", (ask.ObjectExists(PERSON, window), ask.RelationExists(relation, window), known_by)


def _localized(question: Windowed) -> Iterator[RuleChildren]:
    window = question.window
    if window.word == "between":
        after, before = window.actions
        halves = (Window("after", (after,)), Window("before", (before,)))
        yield "Between", tuple(replace(question, window=half) for half in halves)
    elif window != VIDEO:
        yield window.word.title(), (replace(question, window=VIDEO), _question_about(*window.actions))


def _question_about(action: Action) -> Question:
    """Return the sub-question about an action: whether it happens, or which one is the longest or shortest.

    "Is the person holding a phone?" asks for both the action and the relation, so there is a single question.
    """
    if isinstance(action, ask.ExtremeAction):
        return action
    return _same_interaction(action) or ask.ActionHappens(action)


def _same_interaction(action: Action) -> ask.Interaction | None:
    """Return the interaction that is worded like the action, in our wording or the engine's, or None."""
    if parts := _relation_and_object(action):
        related, happens = ask.Interaction(*parts), ask.ActionHappens(action)
        same = word(related) == word(happens) or word(related, "engine") == word(happens, "engine")
        return related if same else None
    return None


def _relation_and_object(action: Action) -> tuple[str, Object] | None:
    match action:
        case str():
            words = load_agqa().actions.get(action)
            return (words.verb, words.object) if words and words.verb and words.object else None
        case ask.ToAction(verb, thing):
            return load_agqa().relation_of(verb), thing
    return None


def as_json(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> dict[str, Any]:
    """Return a graph as JSON values: its template, the questions in order, and edges between question numbers.

    If `root` is set, it is the text of the root.
    """
    texts = [word(step.question, wording) for step in steps]
    texts[-1] = root or texts[-1]
    numbers = {step.question: number for number, step in enumerate(steps)}
    return {
        "template": template_of(steps[-1].question),
        "nodes": [
            {"question": text, "kind": step.kind, "program": notation(step.question)}
            for text, step in zip(texts, steps, strict=True)
        ],
        "edges": [
            {"parent": parent, "rule": rule, "children": [numbers[child] for child in children]}
            for parent, step in enumerate(steps)
            for rule, children in step.rules
        ],
    }


def as_tree(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> str:
    """Format a graph as a text tree. A question with several parents is expanded only where it first occurs."""
    graph = as_json(steps, root, wording)
    below: dict[int, list[tuple[str, int]]] = {}
    for edge in graph["edges"]:
        below.setdefault(edge["parent"], []).extend((edge["rule"], child) for child in edge["children"])
    lines: list[str] = []
    shown = set[int]()

    def show(number: int, indent: str, rule: str) -> None:
        node = graph["nodes"][number]
        again = "  (above)" if number in shown and number in below else ""
        lines.append(f"{indent}{rule}[{number}] {node['question']}  <{node['kind']}>{again}")
        if number not in shown:
            shown.add(number)
            for name, child in below.get(number, ()):
                show(child, indent + "  ", f"{name}: ")

    count = len(steps) - 1
    show(count, "", "")
    lines.append(f"{count} sub-question{'s' * (count != 1)}")
    return "\n".join(lines)


def as_dot(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> str:
    """Format a graph in DOT, the language of Graphviz."""
    graph = as_json(steps, root, wording)
    lines = ["digraph questions {", "  node [shape=box, style=rounded];"]
    for number, node in enumerate(graph["nodes"]):
        label = "\\n".join(node[name].replace("\\", "\\\\").replace('"', '\\"') for name in ("question", "kind"))
        lines.append(f'  n{number} [label="{label}"];')
    for edge in graph["edges"]:
        lines += [f'  n{edge["parent"]} -> n{child} [label="{edge["rule"]}"];' for child in edge["children"]]
    return "\n".join([*lines, "}"])
