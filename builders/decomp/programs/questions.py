"""Compositional questions as typed values: what AGQA's programs mean, and what they are taken apart into.

AGQA 2.0 (Grunde-McLaughlin et al. 2021) has 27 templates. AGQA-Decomp (Gandhi et al. 2022, section 3) decomposes them
into sub-questions, some of which AGQA does not ask: whether an action happens, before or after another one for example.
All are values of `Question`; parts of them that stand for the answer of another question (an indirect reference) are
that question itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar, dataclass_transform

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
    question: ObjectsOf | EdgeObject


@_value
class ObjectChoose(_Hashed):
    """Which of two objects is the answer? Templates objWhatChoose, objFirstChoose and objLastChoose."""

    first: Object
    second: Object
    question: ObjectsOf | EdgeObject


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
    object: ObjectsOf | EdgeObject


Object = str | ObjectsOf | EdgeObject
Action = str | ExtremeAction | ToAction
Windowed = ObjectExists | RelationExists | Interaction | ActionHappens | ObjectsOf | EdgeObject | ActionsIn | EdgeAction
Question = Windowed | Both | ExtremeAction | ObjectEquals | ObjectChoose | LengthChoose | ActionEquals | OrderChoose

_ORDERED = {Interaction: "objTime", RelationExists: "relTime", ActionHappens: "actTime"}
_IN_WINDOWS = {"before": "actWhatBefore", "after": "actWhatAfterAll"}


def template_of(question: Question) -> str:
    """Name AGQA's template of a question; empty if AGQA does not ask it."""
    match question:
        case RelationExists():
            return "relExists"
        case Interaction(relation):
            return "objExists" if relation == INTERACTING else "objRelExists"
        case Both(word):
            return f"{word}ObjRelExists"
        case ObjectsOf(relation):
            return "objWhatGeneral" if relation == INTERACTING else "objWhat"
        case EdgeObject(edge):
            return f"obj{edge.title()}"
        case ActionsIn(window):
            return _IN_WINDOWS.get(window.word, "")
        case EdgeAction(edge):
            return f"act{edge.title()}"
        case ExtremeAction(word):
            return f"act{word.title()}"
        case ObjectEquals(_, EdgeObject(edge)):
            return f"obj{edge.title()}Verify"
        case ObjectChoose(_, _, EdgeObject(edge)):
            return f"obj{edge.title()}Choose"
        case ObjectChoose():
            return "objWhatChoose"
        case LengthChoose(word):
            return f"actLength{word.title()}Choose"
        case ActionEquals(_, LengthChoose(word)):
            return f"actLength{word.title()}Verify"
        case OrderChoose(asked):
            return _ORDERED[type(asked)]
    return ""


TEMPLATES = (
    *("objExists", "objRelExists", "relExists", "andObjRelExists", "xorObjRelExists", "objWhatGeneral", "objWhat"),
    *("objWhatChoose", "actWhatBefore", "actWhatAfterAll", "objFirst", "objLast", "objFirstChoose", "objLastChoose"),
    *("objFirstVerify", "objLastVerify", "actFirst", "actLast", "actLengthLongerChoose", "actLengthShorterChoose"),
    *("actLengthLongerVerify", "actLengthShorterVerify", "actLongest", "actShortest", "actTime", "relTime", "objTime"),
)
"""AGQA's 27 templates."""


@lru_cache(maxsize=1 << 16)
def notation(part: Question | Object | Action | Window | None) -> str:
    """Write a question, or a part of one, in a short notation: equal for equal questions, and only for those.

    An object that exists in the whole video is `objExists(phone)`, as in the released hierarchies.
    """
    match part:
        case str():
            return part
        case Window(word, actions):
            return f"{word}({', '.join(map(notation, actions))})"
        case ObjectExists(thing, window):
            return _call("objExists", thing, window)
        case RelationExists(relation, window):
            return _call("relExists", relation, window)
        case Interaction(relation, thing, window):
            return _call("interaction", relation, thing, window)
        case ActionHappens(action, window):
            return _call("happens", action, window)
        case Both(word, first, second):
            return _call(word, first, second)
        case ObjectsOf(relation, window):
            return _call("object", relation, window)
        case EdgeObject(edge, relation, window):
            return _call(f"{edge}Object", relation, window)
        case ActionsIn(window):
            return _call("action", window)
        case EdgeAction(edge, window):
            return _call(f"{edge}Action", window)
        case ExtremeAction(word):
            return f"{word}Action()"
        case ObjectEquals(thing, question):
            return _call("equals", thing, question)
        case ObjectChoose(first, second, question):
            return _call("choose", first, second, question)
        case LengthChoose(word, first, second):
            return _call(word, first, second)
        case ActionEquals(action, question):
            return _call("equalsAction", action, question)
        case OrderChoose(asked, action):
            return _call("beforeOrAfter", asked, action)
        case ToAction(verb, thing):
            return _call("toAction", verb, thing)
    raise TypeError(f"no question: {part!r}")


def _call(name: str, *parts: Question | Object | Action | Window) -> str:
    return f"{name}({', '.join(notation(part) for part in parts if part != VIDEO)})"


def at(question: Windowed, window: Window) -> Windowed:
    """Ask the same of another part of the video."""
    return replace(question, window=window)
