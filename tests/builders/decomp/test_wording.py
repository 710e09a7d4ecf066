from collections import defaultdict
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.decomposition import decompose
from stressreel.builders.decomp.generation import TWO_ANSWERS
from stressreel.builders.decomp.questions import NAME_TEMPLATES, TEMPLATES, template_of
from stressreel.builders.decomp.wording import Wording, word, word_root
from stressreel.templates.agqa import load_agqa
from stressreel.templates.agqa_making import load_frames

from tests.support.compositional import roots

from .test_decomposition import check_golden, shown
from .test_drop_rules import CASES


@pytest.mark.parametrize("wording", get_args(Wording))
@given(questions=st.lists(roots(), min_size=1, max_size=6))
@settings(max_examples=50, deadline=None)
def test_equal_texts_have_equal_meanings(wording: Wording, questions: list[ask.Question]) -> None:
    meant: dict[str, str] = {}
    for root in questions:
        for step in decompose(root)[:-1]:
            program = ask.notation(step.question)
            assert meant.setdefault(word(step.question, wording), program) == program


def test_golden_wordings_of_sub_questions() -> None:
    door, photo = "opening a door", ask.Window("after", ("taking a picture of something",))
    taken = [ask.ToAction(verb, ask.ObjectsOf("holding")) for verb in ("taking", "turning", "holding")]
    longest = ask.Window("between", (door, ask.ExtremeAction("longest")))
    questions = [
        *[ask.Interaction(relation, "box") for relation in load_agqa().relations],
        *[ask.ObjectExists(thing) for thing in load_agqa().objects],
        *[ask.ObjectExists("bag", ask.Window("after", (action,))) for action in taken],
        *[ask.ObjectExists("bag", ask.Window("while", (action,))) for action in load_agqa().actions],
        ask.Interaction("behind", ask.EdgeObject("last", "above"), longest),
        ask.Both("and", ask.Interaction("in front of", "mirror", photo), ask.Interaction("behind", "table", photo)),
        ask.Both("xor", ask.Interaction("turning", "light"), ask.Interaction("turning", "television")),
        ask.ObjectsOf(ask.INTERACTING, ask.Window("before", (ask.ExtremeAction("shortest"),))),
        ask.ObjectChoose("box", ask.ObjectsOf("throwing"), ask.EdgeObject("last", "holding", photo)),
        ask.ObjectEquals("clothes", ask.EdgeObject("first", "washing")),
        ask.ActionsIn(ask.Window("after", (door,))),
        ask.EdgeAction("first", ask.VIDEO),
        ask.LengthChoose("shorter", door, "holding a phone"),
        ask.ActionEquals(door, ask.LengthChoose("longer", door, "holding a phone")),
        ask.OrderChoose(ask.Interaction(ask.INTERACTING, "clothes"), door),
        ask.OrderChoose(ask.RelationExists("pouring into"), door),
    ]
    check_golden("golden_graphs.txt", dict.fromkeys(line for question in questions for line in shown(question)))


def test_golden_wordings_of_roots() -> None:
    questions = enumerate(case[1] for case in CASES if case[3] is not None)
    wordings = [f"{template_of(question)}: {word_root(question, number)}" for number, question in questions]
    check_golden("golden_roots.txt", wordings)
    assert set(load_frames().frames) == set(TEMPLATES) == NAME_TEMPLATES | set(TWO_ANSWERS)


@pytest.mark.parametrize("wording", get_args(Wording))
def test_vocabulary_questions_have_distinct_texts(wording: Wording) -> None:
    words, asked = load_agqa(), defaultdict(set)
    for phrase in words.actions:
        # What is done is asked as the relation, where that is said in the same words.
        steps = decompose(ask.OrderChoose(ask.RelationExists("holding"), phrase))
        happens = next(children[1] for step in steps for rule, children in step.rules if rule == "Before")
        asked[word(happens, wording)].add(happens)
    for relation in words.relations:
        for question in (ask.RelationExists(relation), *(ask.Interaction(relation, thing) for thing in words.objects)):
            asked[word(question, wording)].add(question)
    assert {text: meant for text, meant in asked.items() if len(meant) > 1} == {}
