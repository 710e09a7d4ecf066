"""Compositional questions as typed values: what AGQA's programs mean, and what they are taken apart into.

AGQA 2.0 (Grunde-McLaughlin et al. 2021) has 27 templates. AGQA-Decomp (Gandhi et al. 2022, section 3) decomposes them
into sub-questions, some of which AGQA does not ask: whether an action happens, before or after another one for example.
All are values of `Question`; parts of them that stand for the answer of another question (an indirect reference) are
that question itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform

Edge = Literal["first", "last"]
Extreme = Literal["longest", "shortest"]
Comparison = Literal["longer", "shorter"]
Conjunction = Literal["and", "xor"]
WindowWord = Literal["video", "before", "after", "while", "between"]
Class = TypeVar("Class")

INTERACTING = "interacting with"
"""The relation of whoever has any contact with an object; AGQA's programs leave it out."""


class _Hashed:
    """Has room for its hash: questions hold one another and are keys of most tables, so it is computed once."""

    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _value(cls: type[Class]) -> type[Class]:
    """Make a frozen dataclass that remembers its hash."""
    made: Any = dataclass(frozen=True, slots=True)(cls)
    compute = made.__hash__

    def remembered(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = compute(self)
            object.__setattr__(self, "_hash", found)
        return found

    made.__hash__ = remembered
    return made  # type: ignore[no-any-return]


@_value
class Window(_Hashed):
    """A part of the video.

    Attributes:
        word: Which part; "video" is all of it.
        actions: What it lies before, after, at the time of, or between: none, one or two.
    """

    word: WindowWord
    actions: tuple[Action, ...] = ()


VIDEO = Window("video")


@_value
class ObjectExists(_Hashed):
    """Is there the object in the window? A sub-question only: AGQA's objExists asks for an interaction."""

    object: Object
    window: Window = VIDEO


@_value
class RelationExists(_Hashed):
    """Does the person have the relation to anything in the window? Template relExists."""

    relation: str
    window: Window = VIDEO


@_value
class Interaction(_Hashed):
    """Does the person have the relation to the object in the window? Templates objRelExists and objExists."""

    relation: str
    object: Object
    window: Window = VIDEO


@_value
class ActionHappens(_Hashed):
    """Does the person do the action in the window? A sub-question only."""

    action: Action
    window: Window = VIDEO


@_value
class Both(_Hashed):
    """Two interactions: the first and the second ("and"), or the first but not the second ("xor").

    Templates andObjRelExists and xorObjRelExists. AGQA calls the second XOR; its answers are those of "but not".
    """

    word: Conjunction
    first: Interaction
    second: Interaction


@_value
class ObjectsOf(_Hashed):
    """Which object does the person have the relation to? Templates objWhat and objWhatGeneral."""

    relation: str
    window: Window = VIDEO


@_value
class EdgeObject(_Hashed):
    """Which object has the relation to the person first or last? Templates objFirst and objLast."""

    edge: Edge
    relation: str
    window: Window = VIDEO


@_value
class ActionsIn(_Hashed):
    """What does the person do in the window? Templates actWhatBefore and actWhatAfterAll."""

    window: Window = VIDEO


@_value
class EdgeAction(_Hashed):
    """What does the person do first (earliest start) or last (latest end)? Templates actFirst and actLast."""

    edge: Edge
    window: Window = VIDEO


@_value
class ExtremeAction(_Hashed):
    """What does the person do for the longest or shortest time? Templates actLongest and actShortest."""

    word: Extreme


@_value
class ObjectEquals(_Hashed):
    """Is the object the answer of the question? Templates objFirstVerify and objLastVerify."""

    object: Object
    question: Reference


@_value
class ObjectChoose(_Hashed):
    """Which of two objects is the answer? Templates objWhatChoose, objFirstChoose and objLastChoose."""

    first: Object
    second: Object
    question: Reference


@_value
class LengthChoose(_Hashed):
    """Which of two actions takes longer, or less time? Templates actLengthLongerChoose and actLengthShorterChoose."""

    word: Comparison
    first: Action
    second: Action


@_value
class ActionEquals(_Hashed):
    """Is the action the answer of the question? Templates actLengthLongerVerify and actLengthShorterVerify."""

    action: Action
    question: LengthChoose


@_value
class OrderChoose(_Hashed):
    """Is it so before or after the action? Templates objTime, relTime and actTime.

    Attributes:
        asked: What is asked about, of the whole video.
        action: Before or after what.
    """

    asked: Interaction | RelationExists | ActionHappens
    action: Action


@_value
class ToAction(_Hashed):
    """An action whose object is the answer of a question: "taking the thing that they held first from somewhere"."""

    verb: str
    object: Reference


Reference = ObjectsOf | EdgeObject
Object = str | Reference
Action = str | ExtremeAction | ToAction
Windowed = ObjectExists | RelationExists | Interaction | ActionHappens | ObjectsOf | EdgeObject | ActionsIn | EdgeAction
Question = Windowed | Both | ExtremeAction | ObjectEquals | ObjectChoose | LengthChoose | ActionEquals | OrderChoose


class QuestionType(NamedTuple):
    """How questions of a type are called; `{word}` and `{Edge}` stand for what is in those fields, in capitals or not.

    Attributes:
        notation: In the short notation; every field that is not named so follows in brackets.
        kind: The leaf kind of the released hierarchies.
        kind_in_part: That of questions about a part of the video, if it is another.
        template: AGQA's template; empty if `template_of` has to look closer, or if AGQA does not ask it.
    """

    notation: str
    kind: str = ""
    kind_in_part: str = ""
    template: str = ""


QUESTION_TYPES: Mapping[type, QuestionType] = {
    ObjectExists: QuestionType("objExists", "Object Exists", "Exists {Window}"),
    RelationExists: QuestionType("relExists", "Relation Exists", "Exists {Window}", "relExists"),
    Interaction: QuestionType("interaction", "Interaction", "Interaction {Window}", "objRelExists"),
    ActionHappens: QuestionType("happens", "Interaction", "Interaction {Window}"),
    Both: QuestionType("{word}", "{Word}", template="{word}ObjRelExists"),
    ObjectsOf: QuestionType("object", "Object", "Object {Window}", "objWhat"),
    EdgeObject: QuestionType("{edge}Object", "{Edge} Object", template="obj{Edge}"),
    ActionsIn: QuestionType("action", "Action", "Action {Window}"),
    EdgeAction: QuestionType("{edge}Action", "{Edge} Action", template="act{Edge}"),
    ExtremeAction: QuestionType("{word}Action", "{Word} Action", template="act{Word}"),
    ObjectEquals: QuestionType("equals", "Object Equals"),
    ObjectChoose: QuestionType("choose", "Choose"),
    LengthChoose: QuestionType("{word}", "{Word} Choose", template="actLength{Word}Choose"),
    ActionEquals: QuestionType("equalsAction", "Action Equals"),
    OrderChoose: QuestionType("beforeOrAfter", "Choose"),
    ToAction: QuestionType("toAction"),
}
_IN_BRACKETS = {
    cls: [each.name for each in fields(cls) if f"{{{each.name}}}" not in its.notation]
    for cls, its in QUESTION_TYPES.items()
}
_ORDERED = {Interaction: "objTime", RelationExists: "relTime", ActionHappens: "actTime"}
_IN_WINDOWS = {"before": "actWhatBefore", "after": "actWhatAfterAll"}


def _called(pattern: str, question: Question | ToAction) -> str:
    word, edge = getattr(question, "word", ""), getattr(question, "edge", "")
    return pattern.format(word=word, Word=word.title(), edge=edge, Edge=edge.title())


def kind_of(question: Question) -> str:
    """Name the leaf kind of a question."""
    its = QUESTION_TYPES[type(question)]
    window = getattr(question, "window", VIDEO)
    if window == VIDEO or not its.kind_in_part:
        return _called(its.kind, question)
    return its.kind_in_part.format(Window=window.word.title())


def template_of(question: Question) -> str:
    """Name AGQA's template of a question; empty if AGQA does not ask it."""
    match question:
        case Interaction(relation) if relation == INTERACTING:
            return "objExists"
        case ObjectsOf(relation) if relation == INTERACTING:
            return "objWhatGeneral"
        case ActionsIn(window):
            return _IN_WINDOWS.get(window.word, "")
        case ObjectEquals(_, EdgeObject() as asked):
            return f"{template_of(asked)}Verify"
        case ObjectChoose(_, _, asked):
            return f"{template_of(asked)}Choose" if isinstance(asked, EdgeObject) else "objWhatChoose"
        case ActionEquals(_, compared):
            return template_of(compared).replace("Choose", "Verify")
        case OrderChoose(asked):
            return _ORDERED[type(asked)]
    return _called(QUESTION_TYPES[type(question)].template, question)


TEMPLATES = (
    *("objExists", "objRelExists", "relExists", "andObjRelExists", "xorObjRelExists", "objWhatGeneral", "objWhat"),
    *("objWhatChoose", "actWhatBefore", "actWhatAfterAll", "objFirst", "objLast", "objFirstChoose", "objLastChoose"),
    *("objFirstVerify", "objLastVerify", "actFirst", "actLast", "actLengthLongerChoose", "actLengthShorterChoose"),
    *("actLengthLongerVerify", "actLengthShorterVerify", "actLongest", "actShortest", "actTime", "relTime", "objTime"),
)
"""AGQA's 27 templates."""


@lru_cache(maxsize=1 << 16)
def notation(part: Question | Action | Window) -> str:
    """Write a question, or a part of one, in a short notation: equal for equal questions, and only for those.

    An object that exists in the whole video is `objExists(phone)`, as in the released hierarchies.
    """
    if isinstance(part, str):
        return part
    if isinstance(part, Window):
        return f"{part.word}({', '.join(map(notation, part.actions))})"
    name = _called(QUESTION_TYPES[type(part)].notation, part)
    inside = [getattr(part, field) for field in _IN_BRACKETS[type(part)]]
    return f"{name}({', '.join(notation(each) for each in inside if each != VIDEO)})"


def at(question: Windowed, window: Window) -> Windowed:
    """Ask the same of another part of the video."""
    return replace(question, window=window)


def window_of(question: Question) -> Window:
    """Return the part of the video that a question is about; of two interactions, that of the first."""
    match question:
        case Both(_, first):
            return first.window
        case ObjectEquals(_, asked) | ObjectChoose(_, _, asked):
            return asked.window
        case LengthChoose() | ActionEquals() | OrderChoose() | ExtremeAction():
            return VIDEO
    return question.window


def objects_in(question: Question) -> tuple[Object, ...]:
    """Return the objects that a question names or refers to."""
    match question:
        case Both(_, first, second):
            return first.object, second.object
        case ObjectChoose(first, second):
            return first, second
        case OrderChoose(asked):
            return objects_in(asked)
        case ObjectExists(thing) | Interaction(_, thing) | ObjectEquals(thing):
            return (thing,)
    return ()


def actions_in(question: Question) -> tuple[Action, ...]:
    """Return the actions that a question names or refers to, but for those that name its part of the video."""
    match question:
        case LengthChoose(_, first, second) | ActionEquals(_, LengthChoose(_, first, second)):
            return first, second
        case OrderChoose(asked, action):
            return (*actions_in(asked), action)
        case ActionHappens(action):
            return (action,)
    return ()
