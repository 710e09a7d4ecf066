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

from .notation import cases, read
from .test_decomposition import check_golden, shown


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
    words = load_agqa()
    programs = [
        *(f"interaction({relation}, box)" for relation in words.relations),
        *(f"objExists({thing})" for thing in words.objects),
        *(f"objExists(bag, while({action}))" for action in words.actions),
        *(f"objExists(bag, after(toAction({verb}, object(holding))))" for verb in ("taking", "turning", "holding")),
        "choose(box, object(throwing), lastObject(holding, after(taking a picture of something)))",
        "xor(interaction(in front of, mirror), interaction(behind, table, before(longestAction)))",
        *dict.fromkeys(ask.notation(question) for name in ("answers", "drop_rules") for _, question, _ in cases(name)),
    ]
    check_golden("golden_graphs.txt", dict.fromkeys(line for program in programs for line in shown(read(program))))


def test_golden_wordings_of_roots() -> None:
    questions = [question for _, question, expected in cases("drop_rules") if expected != "nothing"]
    wordings = [f"{template_of(question)}: {word_root(question, n)}" for n, question in enumerate(questions)]
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
