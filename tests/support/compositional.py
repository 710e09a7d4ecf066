"""Compositional questions made by hypothesis, from AGQA's vocabulary."""

from __future__ import annotations

from hypothesis import strategies as st
from stressreel.builders.decomp.questions import (
    INTERACTING,
    VIDEO,
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

relations, edges = st.sampled_from(RELATIONS), st.sampled_from(("first", "last"))
references = st.builds(ObjectsOf, relations) | st.builds(EdgeObject, edges, relations)
objects = st.sampled_from(OBJECTS) | references
extremes = st.builds(ExtremeAction, st.sampled_from(("longest", "shortest")))
actions = st.sampled_from(ACTIONS) | extremes | st.builds(ToAction, relations, references)
windows = st.one_of(
    st.just(VIDEO),
    st.builds(Window, st.sampled_from(("before", "after", "while")), st.tuples(actions)),
    st.builds(Window, st.just("between"), st.tuples(actions, actions)),
)
edge_objects = st.builds(EdgeObject, edges, relations, windows)
lengths = st.builds(LengthChoose, st.sampled_from(("longer", "shorter")), actions, actions)


def _both(word: str, relation: str, one: Object, other: Object, window: Window) -> Both:
    return Both(word, Interaction(relation, one, window), Interaction(relation, other, window))


interacting = st.just(INTERACTING)
QUESTIONS: st.SearchStrategy[Question] = st.one_of(
    st.builds(Interaction, interacting | relations, objects, windows),
    st.builds(RelationExists, relations, windows),
    st.builds(_both, st.sampled_from(("and", "xor")), relations, objects, objects, windows),
    st.builds(ObjectsOf, interacting | relations, windows),
    edge_objects,
    st.builds(ActionsIn, windows),
    st.builds(EdgeAction, edges, windows),
    extremes,
    st.builds(ObjectEquals, objects, edge_objects),
    st.builds(ObjectChoose, objects, objects, st.builds(ObjectsOf, relations, windows) | edge_objects),
    lengths,
    lengths.map(lambda compared: ActionEquals(compared.first, compared)),
    st.builds(OrderChoose, st.builds(Interaction, interacting, objects), actions),
    st.builds(OrderChoose, st.builds(RelationExists, relations), actions),
    st.builds(OrderChoose, st.builds(ActionHappens, actions), actions),
)


@st.composite  # which has a short name in reports
def roots(draw: st.DrawFn) -> Question:
    """Every question that AGQA has a program for."""
    return draw(QUESTIONS)
