"""Compositional questions made by hypothesis, from AGQA's vocabulary."""

from __future__ import annotations

from hypothesis import strategies as st
from stressreel.builders.decomp import questions as q
from stressreel.templates.agqa import PERSON, load_agqa

WORDS = load_agqa()
OBJECTS, ACTIONS = sorted({*WORDS.objects} - {PERSON}), sorted(WORDS.actions)
RELATIONS = sorted({*WORDS.relations} - {q.INTERACTING})

relations, edges = st.sampled_from(RELATIONS), st.sampled_from(("first", "last"))
references = st.builds(q.ObjectsOf, relations) | st.builds(q.EdgeObject, edges, relations)
objects = st.sampled_from(OBJECTS) | references
extremes = st.builds(q.ExtremeAction, st.sampled_from(("longest", "shortest")))
actions = st.sampled_from(ACTIONS) | extremes | st.builds(q.ToAction, relations, references)
windows = st.one_of(
    st.just(q.VIDEO),
    st.builds(q.Window, st.sampled_from(("before", "after", "while")), st.tuples(actions)),
    st.builds(q.Window, st.just("between"), st.tuples(actions, actions)),
)
edge_objects = st.builds(q.EdgeObject, edges, relations, windows)
lengths = st.builds(q.LengthChoose, st.sampled_from(("longer", "shorter")), actions, actions)


def _both(word: str, relation: str, one: q.Object, other: q.Object, window: q.Window) -> q.Both:
    return q.Both(word, q.Interaction(relation, one, window), q.Interaction(relation, other, window))


interacting = st.just(q.INTERACTING)
QUESTIONS: st.SearchStrategy[q.Question] = st.one_of(
    st.builds(q.Interaction, interacting | relations, objects, windows),
    st.builds(q.RelationExists, relations, windows),
    st.builds(_both, st.sampled_from(("and", "xor")), relations, objects, objects, windows),
    st.builds(q.ObjectsOf, interacting | relations, windows),
    edge_objects,
    st.builds(q.ActionsIn, windows),
    st.builds(q.EdgeAction, edges, windows),
    extremes,
    st.builds(q.ObjectEquals, objects, edge_objects),
    st.builds(q.ObjectChoose, objects, objects, st.builds(q.ObjectsOf, relations, windows) | edge_objects),
    lengths,
    lengths.map(lambda compared: q.ActionEquals(compared.first, compared)),
    st.builds(q.OrderChoose, st.builds(q.Interaction, interacting, objects), actions),
    st.builds(q.OrderChoose, st.builds(q.RelationExists, relations), actions),
    st.builds(q.OrderChoose, st.builds(q.ActionHappens, actions), actions),
)


@st.composite  # which has a short name in reports
def roots(draw: st.DrawFn) -> q.Question:
    """Every question that AGQA has a program for."""
    return draw(QUESTIONS)
