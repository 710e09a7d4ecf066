"""AGQA's functional programs: from text to `Question` and back, byte for byte.

The grammar is that of the strings in AGQA 2.0's `program` field (Grunde-McLaughlin et al. 2021, Table 11, and the
benchmark's own slips: `relation` in the singular in AND and XOR). What a program refers to indirectly, as "the object
that they were holding", is a program inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, TypeVar

from ....core.errors import InputError
from .questions import (
    INTERACTING,
    VIDEO,
    Action,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    Edge,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    Object,
    ObjectChoose,
    ObjectEquals,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
)

DEEPEST = 40
NAME = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*\Z")
_TOKEN = re.compile(r"[()\[\],]|[^()\[\],]+")
_EDGES: dict[str, Edge] = {"forward": "first", "backward": "last"}
_LENGTH = "Subtract(Query(end, action), Query(start, action))"
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Tree:
    """A program as written.

    Attributes:
        name: Of a function, or an atom's text; "[" for a list.
        arguments: Arguments or elements; None for an atom.
        at: Which token of the program it begins with, from 0.
    """

    name: str
    arguments: tuple[Tree, ...] | None
    at: int

    def __str__(self) -> str:
        """Write the program, arguments separated by a comma and a space."""
        if self.arguments is None:
            return self.name
        inside = ", ".join(map(str, self.arguments))
        return f"[{inside}]" if self.name == "[" else f"{self.name}({inside})"


def read_tree(program: str) -> Tree:
    """Read the brackets of a program.

    Raises:
        InputError: They do not match, or something is missing; the message has the position.
    """
    tokens = [text for text in map(str.strip, _TOKEN.findall(program)) if text]
    # A stack of (name, token, arguments so far); the outermost holds the program itself.
    open_calls: list[tuple[str, int, list[Tree]]] = [("", 0, [])]
    expects = True
    for at, text in enumerate(tokens):
        if text == "," or text in "()[]":
            if text == ",":
                if expects:
                    _refuse(program, at, "something is missing before this comma")
                if len(open_calls) == 1:
                    _refuse(program, at, "the program ends here, and this comma follows")
                expects = True
            elif text in "([":
                if not expects and text == "[":
                    _refuse(program, at, "a comma is missing before this list")
                if text == "(" and (at == 0 or tokens[at - 1] in "([,)]"):
                    _refuse(program, at, "this bracket follows no function's name")
                open_calls.append(("[", at, []) if text == "[" else (tokens[at - 1], at - 1, []))
                if len(open_calls) > DEEPEST:
                    _refuse(program, at, f"it is nested more than {DEEPEST} deep")
                expects = True
            else:
                name, begun, inside = open_calls.pop()
                if not open_calls or (name == "[") != (text == "]"):
                    _refuse(program, at, f"this {text} closes nothing")
                if expects:
                    _refuse(program, at, f"something is missing before this {text}")
                open_calls[-1][2].append(Tree(name, tuple(inside), begun))
                expects = False
            continue
        if not expects:
            _refuse(program, at, "a comma is missing here")
        expects = False
        if at + 1 == len(tokens) or tokens[at + 1] != "(":
            open_calls[-1][2].append(Tree(text, None, at))
    if len(open_calls) > 1:
        _refuse(program, len(tokens), f"{len(open_calls) - 1} bracket(s) are not closed")
    if len(open_calls[0][2]) != 1:
        _refuse(program, 0, "there is no program")
    return open_calls[0][2][0]


def _position(program: str, token: int) -> int:
    """Return where a token begins, in characters; the program's length behind the last."""
    found = (match for match in _TOKEN.finditer(program) if match.group().strip())
    starts = [match.start() + len(match.group()) - len(match.group().lstrip()) for match in found]
    return starts[token] if token < len(starts) else len(program) * bool(token)


def _refuse(program: str, token: int, why: str) -> NoReturn:
    at = _position(program, token)
    shown = f"{program[max(0, at - 30) : at]}⟦here⟧{program[at : at + 30]}"
    raise InputError(
        f"the program cannot be read at character {at}: {why}: …{shown}… Programs are those of AGQA 2.0, such as "
        "Exists(phone, Iterate(video, Filter(frame, [objects])))."
    )


@lru_cache(maxsize=1 << 14)
def parse_program(program: str) -> Question:
    """Read one of AGQA's programs.

    Args:
        program: As in the field `program` of its questions.

    Raises:
        InputError: It is none; the message has the position and what is allowed there.
    """
    return _Reader(program).question(read_tree(program))


class _Reader:
    """Turns trees into questions; keeps the program for messages."""

    def __init__(self, program: str) -> None:
        self.program = program

    def refuse(self, tree: Tree, allowed: str) -> NoReturn:
        _refuse(self.program, tree.at, f"here should be {allowed}, and is {str(tree)[:60]!r}")

    def call(self, tree: Tree, name: str, count: int) -> tuple[Tree, ...]:
        if tree.name != name or tree.arguments is None or len(tree.arguments) != count:
            self.refuse(tree, f"{name} with {count} argument(s)")
        return tree.arguments

    def words(self, tree: Tree, *allowed: str) -> str:
        if tree.arguments is not None or tree.name not in allowed:
            self.refuse(tree, " or ".join(allowed))
        return tree.name

    def name(self, tree: Tree) -> str:
        if tree.arguments is not None or not NAME.match(tree.name):
            self.refuse(tree, "a name")
        return tree.name

    def question(self, tree: Tree) -> Question:
        readers: dict[str, Callable[[Tree], Question]] = {
            "Exists": self.exists,
            "AND": self.both,
            "XOR": self.both,
            "Query": self.query,
            "Choose": self.choose,
            "Equals": self.equals,
            "Superlative": self.superlative,
            "Compare": self.order,
        }
        if tree.arguments is None or tree.name not in readers:
            self.refuse(tree, f"one of {', '.join(readers)}")
        return readers[tree.name](tree)

    def exists(self, tree: Tree) -> Question:
        what, where = self.call(tree, "Exists", 2)
        over, filtered = self.call(where, "Iterate", 2)
        window, inside = self.window(over), self.filtered(filtered)
        match [part.name for part in inside]:
            case ["objects"]:
                return Interaction(INTERACTING, self.object(what), window)
            case ["relations"]:
                return RelationExists(self.related(what), window)
            case ["relations", _, "objects"]:
                return Interaction(self.related(inside[1]), self.object(what), window)
        self.refuse(filtered, "a filter of [objects], [relations] or [relations, NAME, objects]")

    def filtered(self, tree: Tree, frame: str = "frame") -> tuple[Tree, ...]:
        scope, inside = self.call(tree, "Filter", 2)
        self.words(scope, frame)
        if inside.name != "[" or not inside.arguments:
            self.refuse(inside, "a list of what is looked for")
        return inside.arguments

    def kind(self, tree: Tree, *expected: str) -> None:
        if [str(part) for part in self.filtered(tree)] != list(expected):
            self.refuse(tree, f"Filter(frame, [{', '.join(expected)}])")

    def relation(self, tree: Tree, word: str = "relations") -> str:
        inside = self.filtered(tree)
        if len(inside) != 3 or inside[0].name != word or inside[2].name != "objects":
            self.refuse(tree, f"Filter(frame, [{word}, NAME, objects])")
        return self.related(inside[1])

    def related(self, tree: Tree) -> str:
        """Read a relation. AGQA never names that of any contact, so that two programs would mean the same."""
        found = self.name(tree)
        if found == INTERACTING:
            self.refuse(tree, "another relation: any contact is Filter(frame, [objects])")
        return found

    def both(self, tree: Tree) -> Both:
        first, second = self.call(tree, tree.name, 2)
        return Both("and" if tree.name == "AND" else "xor", self.part(first), self.part(second))

    def part(self, tree: Tree) -> Interaction:
        what, where = self.call(tree, "Exists", 2)
        over, filtered = self.call(where, "Iterate", 2)
        return Interaction(self.relation(filtered, "relation"), self.object(what), self.window(over))

    def query(self, tree: Tree) -> Question:
        what, only = self.call(tree, "Query", 2)
        self.words(what, "class")
        (inside,) = self.call(only, "OnlyItem", 1)
        if inside.name == "IterateUntil":
            return self.edge(inside)
        over, filtered = self.call(inside, "Iterate", 2)
        window, found = self.window(over), self.filtered(filtered)
        match [part.name for part in found]:
            case ["objects"]:
                return ObjectsOf(INTERACTING, window)
            case ["actions"]:
                return ActionsIn(window)
        return ObjectsOf(self.relation(filtered), window)

    def edge(self, tree: Tree) -> EdgeObject | EdgeAction:
        direction, over, until, filtered = self.call(tree, "IterateUntil", 4)
        edge, window = _EDGES[self.words(direction, *_EDGES)], self.window(over)
        if until.name == "HasItem":
            (inside,) = self.call(until, "HasItem", 1)
            self.kind(inside, "actions")
            self.kind(filtered, "actions")
            return EdgeAction(edge, window)
        relation = self.relation(filtered)
        asked, found = self.call(until, "Exists", 2)
        if self.related(asked) != relation:
            self.refuse(asked, f"the relation of the filter, {relation}")
        self.kind(found, "relations")
        return EdgeObject(edge, relation, window)

    def edge_object(self, tree: Tree) -> EdgeObject:
        found = self.edge(tree)
        if not isinstance(found, EdgeObject):
            self.refuse(tree, "a question for an object")
        return found

    def choose(self, tree: Tree) -> ObjectChoose:
        first, second, where = self.call(tree, "Choose", 3)
        options = self.object(first), self.object(second)
        if where.name != "IterateUntil":
            return ObjectChoose(*options, self.what(where))
        direction, over, until, filtered = self.call(where, "IterateUntil", 4)
        edge, window, relation = _EDGES[self.words(direction, *_EDGES)], self.window(over), self.relation(filtered)
        for option, given in zip(self.call(until, "XOR", 2), options, strict=True):
            what, inside = self.call(option, "Exists", 2)
            if self.object(what) != given:
                self.refuse(what, "the option again")
            if self.relation(inside) != relation:
                self.refuse(inside, f"the relation of the filter, {relation}")
        return ObjectChoose(*options, EdgeObject(edge, relation, window))

    def what(self, tree: Tree) -> ObjectsOf:
        found = self.query(tree)
        if not isinstance(found, ObjectsOf) or found.relation == INTERACTING:
            self.refuse(tree, "Query(class, OnlyItem(Iterate(…, Filter(frame, [relations, NAME, objects]))))")
        return found

    def equals(self, tree: Tree) -> ObjectEquals | ActionEquals:
        what, other = self.call(tree, "Equals", 2)
        if other.name == "OnlyItem":
            (inside,) = self.call(other, "OnlyItem", 1)
            return ObjectEquals(self.object(what), self.edge_object(inside))
        question = self.superlative(other)
        if not isinstance(question, LengthChoose):
            self.refuse(other, "a comparison of two actions")
        action = self.action(what)
        if action != question.first:
            self.refuse(what, "the first of the two actions that are compared")
        return ActionEquals(action, question)

    def superlative(self, tree: Tree) -> LengthChoose | ExtremeAction:
        most, among, length = self.call(tree, "Superlative", 3)
        most_is = self.words(most, "max", "min")
        if str(length) != _LENGTH:
            self.refuse(length, _LENGTH)
        if among.name == "[":
            first, second = [self.compared(part) for part in self.elements(among, 2)]
            return LengthChoose("longer" if most_is == "max" else "shorter", first, second)
        if [str(part) for part in self.filtered(among, "video")] != ["actions"]:
            self.refuse(among, "Filter(video, [actions])")
        return ExtremeAction("longest" if most_is == "max" else "shortest")

    def elements(self, tree: Tree, count: int) -> tuple[Tree, ...]:
        return self.call(tree, "[", count)

    def compared(self, tree: Tree) -> Action:
        inside = self.filtered(tree, "video")
        if len(inside) != 2 or inside[0].name != "actions":
            self.refuse(tree, "Filter(video, [actions, ACTION])")
        return self.action(inside[1])

    def order(self, tree: Tree) -> OrderChoose:
        words, exists = self.call(tree, "Compare", 2)
        for word, expected in zip(self.elements(words, 2), ("before", "after"), strict=True):
            self.words(word, expected)
        what, where = self.call(exists, "Exists", 2)
        over, filtered = self.call(where, "Iterate", 2)
        tag, then = self.call(over, "Localize", 2)
        self.words(tag, "temporal tag")
        action = self.action(then)
        match [part.name for part in self.filtered(filtered)]:
            case ["objects"]:
                return OrderChoose(Interaction(INTERACTING, self.object(what)), action)
            case ["relations"]:
                return OrderChoose(RelationExists(self.related(what)), action)
            case ["actions"]:
                return OrderChoose(ActionHappens(self.action(what)), action)
        self.refuse(filtered, "a filter of [objects], [relations] or [actions]")

    def window(self, tree: Tree) -> Window:
        if tree.arguments is None:
            self.words(tree, "video")
            return VIDEO
        word, what = self.call(tree, "Localize", 2)
        match self.words(word, "before", "after", "while", "between"):
            case "before" | "after" | "while" as single:
                return Window(single, (self.action(what),))
        first, second = self.elements(what, 2)
        return Window("between", (self.action(first), self.action(second)))

    def object(self, tree: Tree) -> Object:
        if tree.arguments is None:
            return self.name(tree)
        found = self.query(tree)
        if not isinstance(found, ObjectsOf | EdgeObject):
            self.refuse(tree, "an object or a question for one")
        if found.window != VIDEO:
            self.refuse(tree, "a question about the whole video: an object is never spoken of by a part of it")
        return found

    def action(self, tree: Tree) -> Action:
        if tree.arguments is None:
            return self.name(tree)
        if tree.name == "ToAction":
            verb, thing = self.call(tree, "ToAction", 2)
            found = self.object(thing)
            if isinstance(found, str):
                self.refuse(thing, "a question for an object")
            return ToAction(self.name(verb), found)
        found_action = self.superlative(tree)
        if not isinstance(found_action, ExtremeAction):
            self.refuse(tree, "an action, the longest or shortest one, or ToAction")
        return found_action


def program_of(question: Question) -> str:
    """Write a question as AGQA does.

    Raises:
        ValueError: AGQA has no program for it.
    """
    match question:
        case RelationExists(relation, window):
            return _exists(relation, _window(window), "relations")
        case Interaction(relation, thing, window):
            return _exists(_object(thing), _window(window), _related(relation))
        case Both(word, first, second):
            parts = [
                _exists(_object(part.object), _window(part.window), f"relation, {part.relation}, objects")
                for part in (first, second)
            ]
            return f"{word.upper()}({', '.join(parts)})"
        case ObjectsOf() | EdgeObject():
            return _object(question)
        case ActionsIn(window):
            return f"Query(class, OnlyItem(Iterate({_window(window)}, Filter(frame, [actions]))))"
        case EdgeAction(edge, window):
            found = "Filter(frame, [actions])"
            return f"Query(class, OnlyItem(IterateUntil({_way(edge)}, {_window(window)}, HasItem({found}), {found})))"
        case ObjectEquals(thing, EdgeObject() as asked):
            return f"Equals({_object(thing)}, OnlyItem({_until(asked)}))"
        case ObjectChoose(one, other, asked):
            return f"Choose({_object(one)}, {_object(other)}, {_chosen(_object(one), _object(other), asked)})"
        case ExtremeAction() | LengthChoose():
            return _superlative(question)
        case ActionEquals(action, asked):
            return f"Equals({_action(action)}, {_superlative(asked)})"
        case OrderChoose(asked, action):
            what, kind = _asked(asked)
            return f"Compare([before, after], {_exists(what, f'Localize(temporal tag, {_action(action)})', kind)})"
    raise ValueError(f"AGQA has no program for {question}")


def _exists(what: str, window: str, kind: str) -> str:
    return f"Exists({what}, Iterate({window}, Filter(frame, [{kind}])))"


def _related(relation: str) -> str:
    return "objects" if relation == INTERACTING else f"relations, {relation}, objects"


def _asked(asked: Interaction | RelationExists | ActionHappens) -> tuple[str, str]:
    match asked:
        case Interaction(_, thing):
            return _object(thing), "objects"
        case RelationExists(relation):
            return relation, "relations"
    return _action(asked.action), "actions"


def _way(edge: Edge) -> str:
    return "forward" if edge == "first" else "backward"


def _object(thing: Object) -> str:
    match thing:
        case str():
            return thing
        case EdgeObject():
            return f"Query(class, OnlyItem({_until(thing)}))"
    return f"Query(class, OnlyItem(Iterate({_window(thing.window)}, Filter(frame, [{_related(thing.relation)}]))))"


def _until(asked: EdgeObject) -> str:
    relation, found = asked.relation, f"Filter(frame, [relations, {asked.relation}, objects])"
    until = f"Exists({relation}, Filter(frame, [relations]))"
    return f"IterateUntil({_way(asked.edge)}, {_window(asked.window)}, {until}, {found})"


def _chosen(one: str, other: str, asked: ObjectsOf | EdgeObject) -> str:
    if isinstance(asked, ObjectsOf):
        return _object(asked)
    found = f"Filter(frame, [relations, {asked.relation}, objects])"
    either = f"XOR(Exists({one}, {found}), Exists({other}, {found}))"
    return f"IterateUntil({_way(asked.edge)}, {_window(asked.window)}, {either}, {found})"


def _superlative(asked: ExtremeAction | LengthChoose) -> str:
    if isinstance(asked, ExtremeAction):
        among, most = "Filter(video, [actions])", asked.word == "longest"
    else:
        parts = [f"Filter(video, [actions, {_action(action)}])" for action in (asked.first, asked.second)]
        among, most = f"[{', '.join(parts)}]", asked.word == "longer"
    return f"Superlative({'max' if most else 'min'}, {among}, {_LENGTH})"


def _action(action: Action) -> str:
    match action:
        case str():
            return action
        case ToAction(verb, thing):
            return f"ToAction({verb}, {_object(thing)})"
    return _superlative(action)


def _window(window: Window) -> str:
    actions: Sequence[str] = [_action(action) for action in window.actions]
    if not actions:
        return "video"
    return f"Localize({window.word}, {actions[0] if len(actions) == 1 else f'[{actions[0]}, {actions[1]}]'})"
