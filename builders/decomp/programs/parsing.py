"""AGQA's functional programs: from text to `Question` and back, byte for byte.

The grammar is that of the strings in AGQA 2.0's `program` field (Grunde-McLaughlin et al. 2021, Table 11, and the
benchmark's own slips: `relation` in the singular in AND and XOR). What a program refers to indirectly, as "the object
that they were holding", is a program inside it. `FORMS` is the grammar: programs are read and written by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, NoReturn

from ....core.errors import InputError
from . import questions as ask
from .questions import INTERACTING, VIDEO, Action, Object, Question, Window

DEEPEST = 40
NAME = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*\Z")
_TOKEN = re.compile(r"[()\[\],]|[^()\[\],]+")
_DIRECTIONS = {"forward": "first", "backward": "last"}
_LENGTH = "Subtract(Query(end, action), Query(start, action))"


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


@dataclass(frozen=True)
class Form:
    """How questions of a type are written.

    Attributes:
        of: The type.
        pattern: The program, in which `{question.relation}` stands for the relation of its question. What may stand in
            a field follows from the field's name, or is given behind a colon: `{first:action}`.
        parts: Types of the fields that the pattern takes apart.
        fixed: Values of fields that the pattern does not have.
    """

    of: type
    pattern: str
    parts: Mapping[str, type] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def tree(self) -> Tree:
        """The pattern's brackets."""
        return read_tree(self.pattern)

    def fits(self, question: object) -> bool:
        """Return whether a question is written so."""
        return (
            type(question) is self.of
            and all(type(attrgetter(path)(question)) is part for path, part in self.parts.items())
            and all(attrgetter(path)(question) == value for path, value in self.fixed.items())
        )

    def build(self, values: Mapping[str, Any]) -> Any:
        """Make a question of the values of its fields."""
        given = {**values, **self.fixed}
        own = {path: value for path, value in given.items() if "." not in path}
        for name, part in self.parts.items():
            own[name] = part(**{path.partition(".")[2]: given[path] for path in given if path.startswith(f"{name}.")})
        return self.of(**own)


def _forms() -> Iterator[Form]:
    """Yield the forms; where two fit, the first is meant."""

    def holding(what: str, window: str, kind: str) -> str:
        return f"Exists({what}, Iterate({window}, Filter(frame, [{kind}])))"

    def having(of: str, kind: str) -> str:
        return f"Query(class, OnlyItem(Iterate({{{of}window}}, Filter(frame, [{kind}]))))"

    def edge(of: str) -> str:
        until = f"Exists({{{of}relation}}, Filter(frame, [relations]))"
        filtered = f"Filter(frame, [relations, {{{of}relation}}, objects])"
        return f"IterateUntil({{{of}edge}}, {{{of}window}}, {until}, {filtered})"

    any_contact = {"relation": INTERACTING}
    yield Form(ask.Interaction, holding("{object}", "{window}", "objects"), fixed=any_contact)
    yield Form(ask.RelationExists, holding("{relation}", "{window}", "relations"))
    yield Form(ask.Interaction, holding("{object}", "{window}", "relations, {relation}, objects"))
    first, second = (
        holding(f"{{{of}.object}}", f"{{{of}.window}}", f"relation, {{{of}.relation}}, objects")
        for of in ("first", "second")
    )
    both = {"first": ask.Interaction, "second": ask.Interaction}
    for word in ("and", "xor"):
        yield Form(ask.Both, f"{word.upper()}({first}, {second})", both, {"word": word})
    yield Form(ask.ObjectsOf, having("", "objects"), fixed=any_contact)
    yield Form(ask.ActionsIn, having("", "actions"))
    yield Form(ask.ObjectsOf, having("", "relations, {relation}, objects"))
    yield Form(ask.EdgeObject, f"Query(class, OnlyItem({edge('')}))")
    acting = "Filter(frame, [actions])"
    yield Form(
        ask.EdgeAction, f"Query(class, OnlyItem(IterateUntil({{edge}}, {{window}}, HasItem({acting}), {acting})))"
    )
    asked = {"question": ask.EdgeObject}
    yield Form(ask.ObjectEquals, f"Equals({{object}}, OnlyItem({edge('question.')}))", asked)
    options = "{first:object}, {second:object}"
    filtered = "Filter(frame, [relations, {question.relation}, objects])"
    either = f"XOR(Exists({{first:object}}, {filtered}), Exists({{second:object}}, {filtered}))"
    until = f"IterateUntil({{question.edge}}, {{question.window}}, {either}, {filtered})"
    yield Form(ask.ObjectChoose, f"Choose({options}, {until})", asked)
    one_of = having("question.", "relations, {question.relation}, objects")
    yield Form(ask.ObjectChoose, f"Choose({options}, {one_of})", {"question": ask.ObjectsOf})
    for most, extreme, comparison in (("max", "longest", "longer"), ("min", "shortest", "shorter")):
        longest = f"Superlative({most}, Filter(video, [actions]), {_LENGTH})"
        yield Form(ask.ExtremeAction, longest, fixed={"word": extreme})
        two = ", ".join(f"Filter(video, [actions, {{{name}:action}}])" for name in ("first", "second"))
        compared = f"Superlative({most}, [{two}], {_LENGTH})"
        yield Form(ask.LengthChoose, compared, fixed={"word": comparison})
        equal = f"Equals({{action}}, {compared.replace('{', '{question.')})"
        yield Form(ask.ActionEquals, equal, {"question": ask.LengthChoose}, {"question.word": comparison})
    for part, what, kind, known in (
        (ask.Interaction, "object", "objects", {"asked.relation": INTERACTING}),
        (ask.RelationExists, "relation", "relations", {}),
        (ask.ActionHappens, "action", "actions", {}),
    ):
        exists = holding(f"{{asked.{what}}}", "Localize(temporal tag, {action})", kind)
        yield Form(ask.OrderChoose, f"Compare([before, after], {exists})", {"asked": part}, known)


FORMS = tuple(_forms())
_TO_ACTION = Form(ask.ToAction, "ToAction({verb}, {object:reference})")


@lru_cache(maxsize=1 << 14)
def parse_program(program: str) -> Question:
    """Read one of AGQA's programs.

    Args:
        program: As in the field `program` of its questions.

    Raises:
        InputError: It is none; the message has the position and what is allowed there.
    """
    found: Question = _Reader(program).question(read_tree(program))
    return found


def _mismatch(pattern: Tree, tree: Tree, holes: dict[str, Tree]) -> tuple[Tree, str] | None:
    """Fit a program to a pattern, and note what stands in the pattern's fields.

    Returns:
        The part that does not fit, and what is allowed there; None if all fits.
    """
    if pattern.name.startswith("{"):
        known = holes.setdefault(pattern.name.strip("{}"), tree)
        return None if str(known) == str(tree) else (tree, f"{str(known)[:60]!r} again")
    if pattern.arguments is None or pattern.name == "[" != tree.name:
        fits = tree.arguments is None and tree.name == pattern.name
        return None if fits else (tree, str(pattern))
    count = len(pattern.arguments)
    if tree.name != pattern.name or tree.arguments is None or len(tree.arguments) != count:
        return tree, str(pattern) if pattern.name == "[" else f"{pattern.name} with {count} argument(s)"
    pairs = zip(pattern.arguments, tree.arguments, strict=True)
    return next((found for inner, part in pairs if (found := _mismatch(inner, part, holes))), None)


class _Reader:
    """Turns trees into questions; keeps the program for messages."""

    def __init__(self, program: str) -> None:
        self.program = program

    def refuse(self, tree: Tree, *allowed: str) -> NoReturn:
        choice = f"{'one of ' * (len(allowed) > 1)}{', '.join(allowed)}"
        _refuse(self.program, tree.at, f"here should be {choice}, and is {str(tree)[:60]!r}")

    def question(self, tree: Tree, forms: Sequence[Form] = ()) -> Any:
        """Read a program by the form that it has; if it has none, say what the nearest ones have where they end."""
        mismatches = []
        for form in forms or FORMS:
            holes: dict[str, Tree] = {}
            found = _mismatch(form.tree, tree, holes)
            if not found:
                values = [(hole.partition(":"), part) for hole, part in holes.items()]
                made = form.build({path: self.value(sort or path, part) for (path, _, sort), part in values})
                if isinstance(made, ask.ActionEquals) and made.action != made.question.first:
                    self.refuse(holes["action"], "the first of the two actions that are compared")
                return made
            mismatches.append(found)
        furthest = max((part for part, _ in mismatches), key=lambda part: part.at)
        self.refuse(furthest, *dict.fromkeys(allowed for part, allowed in mismatches if part.at == furthest.at))

    def value(self, sort: str, tree: Tree) -> object:
        match sort.rpartition(".")[2]:
            case "relation":
                return self.relation(tree)
            case "edge":
                return _DIRECTIONS[self.word(tree, *_DIRECTIONS)]
            case "window":
                return self.window(tree)
            case "object":
                return self.name(tree) if tree.arguments is None else self.reference(tree)
            case "reference":
                return self.reference(tree)
            case "action":
                return self.action(tree)
        return self.name(tree)

    def word(self, tree: Tree, *allowed: str) -> str:
        if tree.arguments is not None or tree.name not in allowed:
            self.refuse(tree, *allowed)
        return tree.name

    def name(self, tree: Tree) -> str:
        if tree.arguments is not None or not NAME.match(tree.name):
            self.refuse(tree, "a name")
        return tree.name

    def relation(self, tree: Tree) -> str:
        """Read a relation. AGQA never names that of any contact, so that two programs would mean the same."""
        found = self.name(tree)
        if found == INTERACTING:
            self.refuse(tree, "another relation: any contact is Filter(frame, [objects])")
        return found

    def window(self, tree: Tree) -> Window:
        if tree.arguments is None:
            self.word(tree, "video")
            return VIDEO
        if tree.name != "Localize" or len(tree.arguments) != 2:
            self.refuse(tree, "video", "Localize with 2 argument(s)")
        word, what = tree.arguments
        if self.word(word, "before", "after", "while", "between") != "between":
            return Window(word.name, (self.action(what),))  # type: ignore[arg-type]
        if what.name != "[" or len(what.arguments or ()) != 2:
            self.refuse(what, "a list of two actions")
        return Window("between", tuple(map(self.action, what.arguments or ())))

    def reference(self, tree: Tree) -> ask.Reference:
        found = None if tree.arguments is None else self.question(tree)
        if not isinstance(found, ask.Reference):
            self.refuse(tree, "a question for an object")
        if found.window != VIDEO:
            self.refuse(tree, "a question about the whole video: an object is never spoken of by a part of it")
        return found

    def action(self, tree: Tree) -> Action:
        if tree.arguments is None:
            return self.name(tree)
        found = self.question(tree, [_TO_ACTION] if tree.name == "ToAction" else FORMS)
        if not isinstance(found, ask.ToAction | ask.ExtremeAction):
            self.refuse(tree, "an action, the longest or shortest one, or ToAction")
        return found


_HOLE = re.compile(r"\{([\w.]+)[^}]*\}")


def program_of(question: Question) -> str:
    """Write a question as AGQA does.

    Raises:
        ValueError: AGQA has no program for it.
    """
    return _write(question)


def _write(part: Question | Object | Action | Window) -> str:
    if isinstance(part, str):
        return {edge: way for way, edge in _DIRECTIONS.items()}.get(part, part)
    if isinstance(part, Window):
        named = ", ".join(map(_write, part.actions))
        inside = f"[{named}]" if len(part.actions) > 1 else named
        return f"Localize({part.word}, {inside})" if named else part.word
    form = next((form for form in (*FORMS, _TO_ACTION) if form.fits(part)), None)
    if form is None:
        raise ValueError(f"AGQA has no program for {part}")
    return _HOLE.sub(lambda hole: _write(attrgetter(hole[1])(part)), form.pattern)
