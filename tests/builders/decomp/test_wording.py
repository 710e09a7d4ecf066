import os
from collections import defaultdict
from pathlib import Path
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

from .test_decomposition import shown
from .test_drop_rules import CASES

GOLDEN = Path(__file__).with_name("golden_graphs.txt")
PHOTO = ask.Window("after", ("taking a picture of something",))


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
    door, phone = "opening a door", "holding a phone"
    lines = []
    for root in [
        *[ask.Interaction(relation, "box") for relation in load_agqa().relations],
        *[ask.ObjectExists(thing) for thing in load_agqa().objects],
        *[
            ask.ObjectExists("bag", ask.Window("after", (ask.ToAction(verb, ask.ObjectsOf("holding")),)))
            for verb in ("taking", "turning", "holding")
        ],
        *[ask.ObjectExists("bag", ask.Window("while", (action,))) for action in load_agqa().actions],
        ask.Interaction(
            "behind", ask.EdgeObject("last", "above"), ask.Window("between", (door, ask.ExtremeAction("longest")))
        ),
        ask.Both("and", ask.Interaction("in front of", "mirror", PHOTO), ask.Interaction("behind", "table", PHOTO)),
        ask.Both("xor", ask.Interaction("turning", "light"), ask.Interaction("turning", "television")),
        ask.ObjectsOf(ask.INTERACTING, ask.Window("before", (ask.ExtremeAction("shortest"),))),
        ask.ObjectChoose("clothes", "medicine", ask.EdgeObject("last", "holding", PHOTO)),
        ask.ObjectChoose("box", ask.ObjectsOf("throwing"), ask.ObjectsOf("holding")),
        ask.ObjectEquals("clothes", ask.EdgeObject("first", "washing")),
        ask.ActionsIn(ask.Window("after", (door,))),
        ask.EdgeAction("first", ask.VIDEO),
        ask.EdgeAction("last", ask.Window("before", (door,))),
        ask.LengthChoose("shorter", door, phone),
        *[ask.ActionEquals(door, ask.LengthChoose(how, door, phone)) for how in ("longer", "shorter")],
        *[
            ask.OrderChoose(asked, door)
            for asked in (ask.Interaction(ask.INTERACTING, "clothes"), ask.RelationExists("pouring into"))
        ],
    ]:
        for kind, text, rules in shown(decompose(root)):
            line = f"{kind}: {text} {'; '.join(f'{rule} {len(children)}' for rule, children in rules)}".rstrip()
            if line not in lines:
                lines.append(line)
    text = "\n".join(lines) + "\n"
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("wording", get_args(Wording))
def test_vocabulary_questions_have_distinct_texts(wording: Wording) -> None:
    words, asked = load_agqa(), defaultdict(set)
    for phrase in words.actions:
        # What is done is asked as the relation, where that is said in the same words.
        steps = decompose(ask.OrderChoose(ask.RelationExists("holding"), phrase))
        happens = next(children[1] for step in steps for rule, children in step.rules if rule == "Before")
        asked[word(happens, wording)].add(happens)
    for relation in words.relations:
        asked[word(ask.RelationExists(relation), wording)].add(ask.RelationExists(relation))
        for thing in words.objects:
            asked[word(ask.Interaction(relation, thing), wording)].add(ask.Interaction(relation, thing))
    assert {text: meant for text, meant in asked.items() if len(meant) > 1} == {}


def test_every_template_has_wordings() -> None:
    assert set(load_frames().frames) == set(TEMPLATES) == NAME_TEMPLATES | set(TWO_ANSWERS)


def test_golden_wordings_of_roots() -> None:
    """The first wording of each template, so that a change of words is seen."""
    questions = enumerate(case[1] for case in CASES if case[3] is not None)
    lines = [f"{template_of(question)}: {word_root(question, number)}" for number, question in questions]
    golden = Path(__file__).with_name("golden_roots.txt")
    assert "\n".join(lines) + "\n" == golden.read_text(encoding="utf-8")
