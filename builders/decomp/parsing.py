"""Parse AGQA's functional programs, and format them byte for byte as in the dataset.

The grammar is that of AGQA 2.0's `program` field (Grunde-McLaughlin et al. 2021, Table 11), including irregularities of
the data (`relation` in the singular in AND and XOR). An indirect reference, such as "the object that they were
holding", is a nested program. The table `FORMS` is used in both directions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, NoReturn

from ...core.errors import InputError
from . import questions as ask
from .questions import INTERACTING, VIDEO, Action, Object, Question, Window

DEEPEST = 40
NAME = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*\Z")
_TOKEN = re.compile(r"[()\[\],]|[^()\[\],]+")
_DIRECTIONS = {"forward": "first", "backward": "last"}
_LENGTH = "Subtract(Query(end, action), Query(start, action))"


@dataclass(frozen=True, slots=True)
class Tree:
    """A program, or a part of one, as a tree.

    Attributes:
        name: Name of a function, text of an atom, or "[" for a list.
        arguments: Arguments or elements; None for an atom.
        at: Index of the first token, from 0.
    """

    name: str
    arguments: tuple[Tree, ...] | None
    at: int

    def __str__(self) -> str:
        """Format the program, with arguments separated by a comma and a space."""
        if self.arguments is None:
            return self.name
        inside = ", ".join(map(str, self.arguments))
        return f"[{inside}]" if self.name == "[" else f"{self.name}({inside})"


def read_tree(program: str) -> Tree:
    """Parse the nested structure of a program.

    Raises:
        InputError: Brackets do not match, or an argument is missing. The message gives the position.
    """
    tokens = [text for text in map(str.strip, _TOKEN.findall(program)) if text]
    # A stack of (name, token, arguments so far). The outermost entry holds the program itself.
    open_calls: list[tuple[str, int, list[Tree]]] = [("", 0, [])]
    expects = True
    for at, text in enumerate(tokens):
        if text == "," or text in "()[]":
            if text == ",":
                if expects:
                    _refuse(program, at, "something is missing before this comma")
                if len(open_calls) == 1:
                    _refuse(program, at, "the program ends here, but a comma follows")
                expects = True
            elif text in "([":
                if not expects and text == "[":
                    _refuse(program, at, "a comma is missing before this list")
                if text == "(" and (at == 0 or tokens[at - 1] in "([,)]"):
                    _refuse(program, at, "this bracket does not follow a function name")
                open_calls.append(("[", at, []) if text == "[" else (tokens[at - 1], at - 1, []))
                if len(open_calls) > DEEPEST:
                    _refuse(program, at, f"it is nested more than {DEEPEST} deep")
                expects = True
            else:
                name, begun, inside = open_calls.pop()
                if not open_calls or (name == "[") != (text == "]"):
                    _refuse(program, at, f"this {text} closes no bracket")
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
    """Return the character position of a token. After the last token, return the length of the program."""
    matches = (match for match in _TOKEN.finditer(program) if match.group().strip())
    starts = [match.start() + len(match.group()) - len(match.group().lstrip()) for match in matches]
    return starts[token] if token < len(starts) else len(program) * bool(token)


def _refuse(program: str, token: int, why: str) -> NoReturn:
    at = _position(program, token)
    shown = f"{program[max(0, at - 30) : at]}⟦here⟧{program[at : at + 30]}"
    raise InputError(
        f"cannot parse the program at character {at}: {why} (near {shown!r}). Expected an AGQA 2.0 program, such as "
        "Exists(phone, Iterate(video, Filter(frame, [objects])))."
    )


@dataclass(frozen=True)
class _Form:
    """The program that represents a type of question.

    Attributes:
        pattern: The program, in which `{question.relation}` is the relation of its question. The allowed type of a
            field's value is the last part of its name, or follows a colon: `{first:action}`.
        parts: Types of the fields in the pattern.
        fixed: Values of the fields that are not in the pattern.
    """

    of: type
    pattern: str
    parts: Mapping[str, type] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def tree(self) -> Tree:
        return read_tree(self.pattern)

    def fits(self, question: object) -> bool:
        return (
            type(question) is self.of
            and all(type(attrgetter(path)(question)) is part for path, part in self.parts.items())
            and all(attrgetter(path)(question) == value for path, value in self.fixed.items())
        )

    def build(self, values: Mapping[str, Any]) -> Any:
        fields = {**values, **self.fixed}
        arguments = {path: value for path, value in fields.items() if "." not in path}
        for name, part in self.parts.items():
            arguments[name] = part(
                **{path.partition(".")[2]: fields[path] for path in fields if path.startswith(f"{name}.")}
            )
        return self.of(**arguments)


def _forms() -> Iterator[_Form]:
    """Yield all forms. If several match a program, the first applies."""

    def holding(what: str, window: str, kind: str) -> str:
        return f"Exists({what}, Iterate({window}, Filter(frame, [{kind}])))"

    def having(of: str, kind: str) -> str:
        return f"Query(class, OnlyItem(Iterate({{{of}window}}, Filter(frame, [{kind}]))))"

    def edge(of: str) -> str:
        until = f"Exists({{{of}relation}}, Filter(frame, [relations]))"
        filtered = f"Filter(frame, [relations, {{{of}relation}}, objects])"
        return f"IterateUntil({{{of}edge}}, {{{of}window}}, {until}, {filtered})"

    any_contact = {"relation": INTERACTING}
    yield _Form(ask.Interaction, holding("{object}", "{window}", "objects"), fixed=any_contact)
    yield _Form(ask.RelationExists, holding("{relation}", "{window}", "relations"))
    yield _Form(ask.Interaction, holding("{object}", "{window}", "relations, {relation}, objects"))
    first, second = (
        holding(f"{{{of}.object}}", f"{{{of}.window}}", f"relation, {{{of}.relation}}, objects")
        for of in ("first", "second")
    )
    both = {"first": ask.Interaction, "second": ask.Interaction}
    for word in ("and", "xor"):
        yield _Form(ask.Both, f"{word.upper()}({first}, {second})", both, {"word": word})
    yield _Form(ask.ObjectsOf, having("", "objects"), fixed=any_contact)
    yield _Form(ask.ActionsIn, having("", "actions"))
    yield _Form(ask.ObjectsOf, having("", "relations, {relation}, objects"))
    yield _Form(ask.EdgeObject, f"Query(class, OnlyItem({edge('')}))")
    acting = "Filter(frame, [actions])"
    yield _Form(
        ask.EdgeAction, f"Query(class, OnlyItem(IterateUntil({{edge}}, {{window}}, HasItem({acting}), {acting})))"
    )
    of_edge = {"question": ask.EdgeObject}
    yield _Form(ask.ObjectEquals, f"Equals({{object}}, OnlyItem({edge('question.')}))", of_edge)
    options = "{first:object}, {second:object}"
    filtered = "Filter(frame, [relations, {question.relation}, objects])"
    either = f"XOR(Exists({{first:object}}, {filtered}), Exists({{second:object}}, {filtered}))"
    until = f"IterateUntil({{question.edge}}, {{question.window}}, {either}, {filtered})"
    yield _Form(ask.ObjectChoose, f"Choose({options}, {until})", of_edge)
    one_of = having("question.", "relations, {question.relation}, objects")
    yield _Form(ask.ObjectChoose, f"Choose({options}, {one_of})", {"question": ask.ObjectsOf})
    for most, extreme, comparison in (("max", "longest", "longer"), ("min", "shortest", "shorter")):
        longest = f"Superlative({most}, Filter(video, [actions]), {_LENGTH})"
        yield _Form(ask.ExtremeAction, longest, fixed={"word": extreme})
        two = ", ".join(f"Filter(video, [actions, {{{name}:action}}])" for name in ("first", "second"))
        compared = f"Superlative({most}, [{two}], {_LENGTH})"
        yield _Form(ask.LengthChoose, compared, fixed={"word": comparison})
        equal = f"Equals({{action}}, {compared.replace('{', '{question.')})"
        yield _Form(ask.ActionEquals, equal, {"question": ask.LengthChoose}, {"question.word": comparison})
    for part, what, kind, known in (
        (ask.Interaction, "object", "objects", {"asked.relation": INTERACTING}),
        (ask.RelationExists, "relation", "relations", {}),
        (ask.ActionHappens, "action", "actions", {}),
    ):
        exists = holding(f"{{asked.{what}}}", "Localize(temporal tag, {action})", kind)
        yield _Form(ask.OrderChoose, f"Compare([before, after], {exists})", {"asked": part}, known)


FORMS = tuple(_forms())
_TO_ACTION = _Form(ask.ToAction, "ToAction({verb}, {object:reference})")


@lru_cache(maxsize=1 << 14)
def parse_program(program: str) -> Question:
    """Parse an AGQA program.

    Raises:
        InputError: The text is not a program. The message gives the position and what is allowed there.
    """
    question: Question = _Reader(program).question(read_tree(program))
    return question


def _mismatch(pattern: Tree, tree: Tree, holes: dict[str, Tree]) -> tuple[Tree, str] | None:
    """Match a program with a pattern, and collect the values of the pattern's fields in `holes`.

    Return the first part that does not match and what is allowed in its place, or None if everything matches.
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
    return next((mismatch for inner, part in pairs if (mismatch := _mismatch(inner, part, holes))), None)


class _Reader:
    def __init__(self, program: str) -> None:
        self.program = program

    def refuse(self, tree: Tree, *allowed: str) -> NoReturn:
        choice = f"{'one of ' * (len(allowed) > 1)}{', '.join(allowed)}"
        _refuse(self.program, tree.at, f"expected {choice}, got {str(tree)[:60]!r}")

    def question(self, tree: Tree, forms: Sequence[_Form] = ()) -> Any:
        """Parse with the first form that matches. If none does, report what the closest forms allow."""
        mismatches = []
        for form in forms or FORMS:
            holes: dict[str, Tree] = {}
            mismatch = _mismatch(form.tree, tree, holes)
            if not mismatch:
                values = [(hole.partition(":"), part) for hole, part in holes.items()]
                parsed = form.build({path: self.value(sort or path, part) for (path, _, sort), part in values})
                if isinstance(parsed, ask.ActionEquals) and parsed.action != parsed.question.first:
                    self.refuse(holes["action"], "the first of the two actions that are compared")
                return parsed
            mismatches.append(mismatch)
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
        """Parse a relation. AGQA has a separate form for any contact; accepting its name makes two programs equal."""
        name = self.name(tree)
        if name == INTERACTING:
            self.refuse(tree, "another relation: any contact is Filter(frame, [objects])")
        return name

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
        question = None if tree.arguments is None else self.question(tree)
        if not isinstance(question, ask.Reference):
            self.refuse(tree, "a question for an object")
        if question.window != VIDEO:
            self.refuse(tree, "a question about the whole video, as required for references to objects")
        return question

    def action(self, tree: Tree) -> Action:
        if tree.arguments is None:
            return self.name(tree)
        parsed = self.question(tree, [_TO_ACTION] if tree.name == "ToAction" else FORMS)
        if not isinstance(parsed, ask.ToAction | ask.ExtremeAction):
            self.refuse(tree, "an action, the longest or shortest one, or ToAction")
        return parsed


_HOLE = re.compile(r"\{([\w.]+)[^}]*\}")


def program_of(part: Question | Object | Action | Window) -> str:
    """Format a question or a part of one as an AGQA program. Raise ValueError if AGQA has no program for it."""
    if isinstance(part, str):
        return {edge: direction for direction, edge in _DIRECTIONS.items()}.get(part, part)
    if isinstance(part, Window):
        named = ", ".join(map(program_of, part.actions))
        inside = f"[{named}]" if len(part.actions) > 1 else named
        return f"Localize({part.word}, {inside})" if named else part.word
    form = next((form for form in (*FORMS, _TO_ACTION) if form.fits(part)), None)
    if form is None:
        raise ValueError(f"AGQA has no program for {part}")
    return _HOLE.sub(lambda hole: program_of(attrgetter(hole[1])(part)), form.pattern)
