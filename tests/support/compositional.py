"""Compositional questions made by hypothesis, from AGQA's vocabulary."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from stressreel.builders.decomp.programs.questions import (
    INTERACTING,
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
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
)
from stressreel.templates.agqa import PERSON, load_agqa

WORDS = load_agqa()
OBJECTS, ACTIONS = sorted({*WORDS.objects} - {PERSON}), sorted(WORDS.actions)
RELATIONS = sorted({*WORDS.relations} - {INTERACTING})
KINDS = (
    *("object exists", "relation exists", "interaction", "both", "objects", "edge object", "actions", "edge action"),
    *("extreme", "equals", "choose", "length", "length equals", "object order", "relation order", "action order"),
)


class _Maker:
    """Makes questions from draws."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one_of(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def relation(self) -> str:
        return str(self.one_of(*RELATIONS))

    def reference(self) -> ObjectsOf | EdgeObject:
        if self.draw(st.booleans()):
            return ObjectsOf(self.relation())
        return EdgeObject(self.one_of("first", "last"), self.relation())

    def object(self) -> Object:
        return self.reference() if self.one_of(0, 0, 1) else str(self.one_of(*OBJECTS))

    def action(self) -> Action:
        match self.one_of("name", "name", "extreme", "to"):
            case "extreme":
                return ExtremeAction(self.one_of("longest", "shortest"))
            case "to":
                return ToAction(self.relation(), self.reference())
        return str(self.one_of(*ACTIONS))

    def window(self) -> Window:
        word = self.one_of("video", "before", "after", "while", "between")
        actions = [self.action() for _ in range({"video": 0, "between": 2}.get(word, 1))]
        return Window(word, tuple(actions)) if actions else VIDEO

    def edge_object(self) -> EdgeObject:
        return EdgeObject(self.one_of("first", "last"), self.relation(), self.window())

    def length(self) -> LengthChoose:
        return LengthChoose(self.one_of("longer", "shorter"), self.action(), self.action())

    def question(self) -> Question:
        match self.one_of(*KINDS):
            case "object exists":
                return Interaction(INTERACTING, self.object(), self.window())
            case "relation exists":
                return RelationExists(self.relation(), self.window())
            case "interaction":
                return Interaction(self.relation(), self.object(), self.window())
            case "both":
                relation, window = self.relation(), self.window()
                parts = [Interaction(relation, self.object(), window) for _ in range(2)]
                return Both(self.one_of("and", "xor"), *parts)
            case "objects":
                return ObjectsOf(self.one_of(INTERACTING, self.relation()), self.window())
            case "edge object":
                return self.edge_object()
            case "actions":
                return ActionsIn(self.window())
            case "edge action":
                return EdgeAction(self.one_of("first", "last"), self.window())
            case "extreme":
                return ExtremeAction(self.one_of("longest", "shortest"))
            case "equals":
                return ObjectEquals(self.object(), self.edge_object())
            case "choose":
                asked = self.one_of(ObjectsOf(self.relation(), self.window()), self.edge_object())
                return ObjectChoose(self.object(), self.object(), asked)
            case "length":
                return self.length()
            case "length equals":
                compared = self.length()
                return ActionEquals(compared.first, compared)
            case "object order":
                return OrderChoose(Interaction(INTERACTING, self.object()), self.action())
            case "relation order":
                return OrderChoose(RelationExists(self.relation()), self.action())
        return OrderChoose(ActionHappens(self.action()), self.action())


@st.composite
def roots(draw: st.DrawFn) -> Question:
    """Every question that AGQA has a program for."""
    return _Maker(draw).question()
