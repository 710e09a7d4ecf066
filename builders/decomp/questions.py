"""Represent compositional questions, both AGQA's programs and their sub-questions, as typed values.

AGQA 2.0 (Grunde-McLaughlin et al. 2021) has 27 templates. AGQA-Decomp (Gandhi et al. 2022, section 3) decomposes them
into sub-questions, some of which AGQA does not ask, such as whether an action happens. An indirect reference ("the
object that they held first") is represented by the question whose answer is the object.

To add a question type, add a class and its row in `QUESTION_TYPES` here, its program in `parsing`, its rules in
`decomposition`, its wording in `wording` and its answer in `graph_answers`. To generate it, also extend `proposals`,
`drop_rules` and the tables `templates/agqa*.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform

from ...templates.agqa_making import load_rules

FirstOrLast = Literal["first", "last"]
Extreme = Literal["longest", "shortest"]
Comparison = Literal["longer", "shorter"]
Conjunction = Literal["and", "xor"]
WindowWord = Literal["video", "before", "after", "while", "between"]
QuestionClass = TypeVar("QuestionClass")

INTERACTING = "interacting with"
"""Any contact with an object; AGQA's programs omit this relation."""


class _Hashed:
    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _value(cls: type[QuestionClass]) -> type[QuestionClass]:
    """Create a frozen dataclass that caches its hash. Questions are nested and often used as dictionary keys."""
    frozen: Any = dataclass(frozen=True, slots=True)(cls)
    compute = frozen.__hash__

    def remembered(self: Any) -> int:
        try:
            cached: int = self._hash
        except AttributeError:
            cached = compute(self)
            object.__setattr__(self, "_hash", cached)
        return cached

    frozen.__hash__ = remembered
    return frozen  # type: ignore[no-any-return]


@_value
class Window(_Hashed):
    """A part of the video that a question is about.

    Attributes:
        word: Temporal relation to the actions; "video" is the entire video.
        actions: Actions that delimit the part: none, one, or two for "between".
    """

    word: WindowWord
    actions: tuple[Action, ...] = ()


VIDEO = Window("video")


@_value
class ObjectExists(_Hashed):
    """Asks whether the object is in the window. Used only as a sub-question; AGQA's objExists is an Interaction."""

    object: Object
    window: Window = VIDEO


@_value
class RelationExists(_Hashed):
    """Asks whether the person has the relation to any object in the window (template relExists)."""

    relation: str
    window: Window = VIDEO


@_value
class Interaction(_Hashed):
    """Asks whether the person has the relation to the object in the window (templates objRelExists and objExists)."""

    relation: str
    object: Object
    window: Window = VIDEO


@_value
class ActionHappens(_Hashed):
    """Asks whether the person does the action in the window. It is only used as a sub-question."""

    action: Action
    window: Window = VIDEO


@_value
class Both(_Hashed):
    """Asks whether both interactions hold ("and"), or the first but not the second ("xor").

    Templates andObjRelExists and xorObjRelExists; AGQA's answers to XOR are those of "but not".
    """

    word: Conjunction
    first: Interaction
    second: Interaction


@_value
class ObjectsOf(_Hashed):
    """Asks which object the person has the relation to (templates objWhat and objWhatGeneral)."""

    relation: str
    window: Window = VIDEO


@_value
class EdgeObject(_Hashed):
    """Asks which object has the relation to the person first or last (templates objFirst and objLast)."""

    edge: FirstOrLast
    relation: str
    window: Window = VIDEO


@_value
class ActionsIn(_Hashed):
    """Asks what the person does in the window (templates actWhatBefore and actWhatAfterAll)."""

    window: Window = VIDEO


@_value
class EdgeAction(_Hashed):
    """Asks what the person does first (earliest start) or last (latest end): templates actFirst and actLast."""

    edge: FirstOrLast
    window: Window = VIDEO


@_value
class ExtremeAction(_Hashed):
    """Asks what the person does for the longest or shortest time (templates actLongest and actShortest)."""

    word: Extreme


@_value
class ObjectEquals(_Hashed):
    """Asks whether the object is the answer to the question (templates objFirstVerify and objLastVerify)."""

    object: Object
    question: Reference


@_value
class ObjectChoose(_Hashed):
    """Asks which of two objects is the answer (templates objWhatChoose, objFirstChoose and objLastChoose)."""

    first: Object
    second: Object
    question: Reference


@_value
class LengthChoose(_Hashed):
    """Asks which of two actions takes longer or less time (actLengthLongerChoose and actLengthShorterChoose)."""

    word: Comparison
    first: Action
    second: Action


@_value
class ActionEquals(_Hashed):
    """Asks whether the action is the answer (templates actLengthLongerVerify and actLengthShorterVerify)."""

    action: Action
    question: LengthChoose


@_value
class OrderChoose(_Hashed):
    """Asks whether an event happens before or after the action (templates objTime, relTime and actTime).

    The event, `asked`, refers to the entire video.
    """

    asked: Interaction | RelationExists | ActionHappens
    action: Action


@_value
class ToAction(_Hashed):
    """An action on the object that a question identifies, as in "taking the object that they held first"."""

    verb: str
    object: Reference


Reference = ObjectsOf | EdgeObject
Object = str | Reference
Action = str | ExtremeAction | ToAction
Windowed = ObjectExists | RelationExists | Interaction | ActionHappens | ObjectsOf | EdgeObject | ActionsIn | EdgeAction
Question = Windowed | Both | ExtremeAction | ObjectEquals | ObjectChoose | LengthChoose | ActionEquals | OrderChoose


class QuestionType(NamedTuple):
    """The names of a question type. `{word}` and `{Edge}` stand for its fields, unchanged or capitalized.

    Attributes:
        notation: Name in the short notation, followed by the other fields in brackets.
        kind: Leaf category in the released hierarchies.
        kind_in_part: Category of a question about a part of the video, if different.
        template: AGQA's template; "" if AGQA does not ask the question, or if it depends on the fields (`template_of`).
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


def _fill_in(pattern: str, question: Question | ToAction) -> str:
    word, edge = getattr(question, "word", ""), getattr(question, "edge", "")
    return pattern.format(word=word, Word=word.title(), edge=edge, Edge=edge.title())


def kind_of(question: Question) -> str:
    """Return the leaf category of a question."""
    names = QUESTION_TYPES[type(question)]
    window = getattr(question, "window", VIDEO)
    if window == VIDEO or not names.kind_in_part:
        return _fill_in(names.kind, question)
    return names.kind_in_part.format(Window=window.word.title())


def template_of(question: Question) -> str:
    """Return AGQA's template of a question, or "" if AGQA does not ask it."""
    match question:
        case Interaction(relation) if relation == INTERACTING:
            return "objExists"
        case ObjectsOf(relation) if relation == INTERACTING:
            return "objWhatGeneral"
        case ActionsIn(window):
            return _IN_WINDOWS.get(window.word, "")
        case ObjectEquals(_, EdgeObject() as part):
            return f"{template_of(part)}Verify"
        case ObjectChoose(_, _, part):
            return f"{template_of(part)}Choose" if isinstance(part, EdgeObject) else "objWhatChoose"
        case ActionEquals(_, compared):
            return template_of(compared).replace("Choose", "Verify")
        case OrderChoose(part):
            return _ORDERED[type(part)]
    return _fill_in(QUESTION_TYPES[type(question)].template, question)


NAME_TEMPLATES = frozenset(
    (
        *("objWhatGeneral", "objWhat", "actWhatBefore", "actWhatAfterAll", "objFirst", "objLast", "actFirst"),
        *("actLast", "actLongest", "actShortest"),
    )
)
"""Templates answered by an object or an action; all others have two possible answers."""
TEMPLATES = tuple(load_rules().steps)
"""AGQA's 27 templates."""


@lru_cache(maxsize=1 << 16)
def notation(part: Question | Action | Window) -> str:
    """Format a question, or a part of one, in a short notation that is unique to it.

    An object that exists in the entire video is written `objExists(phone)`, as in the released hierarchies.
    """
    if isinstance(part, str):
        return part
    if isinstance(part, Window):
        return f"{part.word}({', '.join(map(notation, part.actions))})"
    name = _fill_in(QUESTION_TYPES[type(part)].notation, part)
    inside = [getattr(part, field) for field in _IN_BRACKETS[type(part)]]
    return f"{name}({', '.join(notation(value) for value in inside if value != VIDEO)})"


def window_of(question: Question) -> Window:
    """Return the window of a question or, if it has two interactions, the window of the first."""
    match question:
        case Both(_, first):
            return first.window
        case ObjectEquals(_, reference) | ObjectChoose(_, _, reference):
            return reference.window
        case LengthChoose() | ActionEquals() | OrderChoose() | ExtremeAction():
            return VIDEO
    return question.window


def objects_in(question: Question) -> tuple[Object, ...]:
    """Return the objects that a question mentions, as names or references."""
    match question:
        case Both(_, first, second):
            return first.object, second.object
        case ObjectChoose(first, second):
            return first, second
        case OrderChoose(event):
            return objects_in(event)
        case ObjectExists(thing) | Interaction(_, thing) | ObjectEquals(thing):
            return (thing,)
    return ()


def actions_in(question: Question) -> tuple[Action, ...]:
    """Return the actions that a question asks about, but not those that delimit its window."""
    match question:
        case LengthChoose(_, first, second) | ActionEquals(_, LengthChoose(_, first, second)):
            return first, second
        case OrderChoose(event, action):
            return (*actions_in(event), action)
        case ActionHappens(action):
            return (action,)
    return ()


Composition = tuple[str, str, str]
"""Combined parts: ("interaction", relation, object), ("time", word, action), ("edge", word, relation) or
("length", word, action)."""
Need = tuple[str, str]
"""A prerequisite of a question: ("action", phrase), ("object", name) or ("relation", name)."""


def compositions_of(question: Question) -> set[Composition]:
    """Return the compositions that a question contains, including those in its references."""
    match question:
        case Interaction(relation, str() as thing, window):
            return {("interaction", relation, thing)} | _window_compositions(window)
        case Interaction(_, reference, window):
            return compositions_of(reference) | _window_compositions(window)  # type: ignore[arg-type]
        case Both(_, first, second):
            return compositions_of(first) | compositions_of(second)
        case EdgeObject(edge, relation, window):
            return {("edge", edge, relation)} | _window_compositions(window)
        case ObjectEquals(_, question_of_object) | ObjectChoose(_, _, question_of_object):
            return compositions_of(question_of_object)
        case LengthChoose(word):
            return {
                ("length", word, str(action)) for action in (question.first, question.second) if isinstance(action, str)
            }
        case ActionEquals(_, compared):
            return compositions_of(compared)
        case OrderChoose(_, action):
            return _action_compositions("order", action)
    compositions = _window_compositions(getattr(question, "window", VIDEO))
    about = getattr(question, "object", None)
    return compositions | (compositions_of(about) if isinstance(about, Reference) else set())


def _window_compositions(window: Window) -> set[Composition]:
    return set().union(*(_action_compositions(window.word, action) for action in window.actions))


def _action_compositions(word: str, action: Action) -> set[Composition]:
    if isinstance(action, ToAction):
        return compositions_of(action.object)
    return {("time", word, action)} if isinstance(action, str) else set()


@lru_cache(maxsize=1 << 14)
def needs_of(question: Question) -> frozenset[Need]:
    """Return everything that a video must contain for the question to make sense."""
    needs: set[Need] = set()
    match question:
        case Both(_, first, second):
            return needs_of(first) | needs_of(second)
        case ObjectsOf(relation) | EdgeObject(_, relation) if relation != INTERACTING:
            needs.add(("relation", relation))
        case ObjectEquals(_, reference):
            needs |= needs_of(reference)
        case OrderChoose(RelationExists(relation)):
            needs.add(("relation", relation))
        case OrderChoose(Interaction(_, str() as thing)):
            needs.add(("object", thing))
    needs |= {need for thing in objects_in(question) if not isinstance(thing, str) for need in needs_of(thing)}
    return frozenset(needs).union(*map(_action_needs, (*actions_in(question), *window_of(question).actions)))


def _action_needs(action: Action) -> frozenset[Need]:
    match action:
        case str():
            return frozenset({("action", action)})
        case ToAction(verb, thing):
            return needs_of(thing) | {("relation", verb)}
    return frozenset()
