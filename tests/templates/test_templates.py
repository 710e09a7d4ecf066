"""The wording of CLAVI.

The golden files freeze it. After a change that is meant: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/templates
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest
import stressreel.templates as templates
from stressreel.templates import QuestionTemplate, load_classes, load_questions

# The paper's example: A comes before B in V, C never happens.
EXAMPLE = {"A": "holding clothes", "B": "taking food", "C": "washing mirror"}


# The table of the release: type and answer of every type id; V has 0 to 10, V′ 16 to 26.
TYPE_IDS = {
    **{0: ("E", "yes"), 1: ("E-NC", "no"), 4: ("BE", "yes"), 5: ("BE", "no")},
    **{8: ("BA", "yes"), 9: ("BA", "no"), 10: ("BA-NC", "no")},
    **{16: ("E", "yes"), 17: ("E-NC", "no"), 20: ("BE", "no"), 21: ("BE", "yes")},
    **{24: ("BA", "no"), 25: ("BA", "yes"), 26: ("BA-NC", "no")},
}


def word(question: QuestionTemplate) -> str:
    return question.text.format(x=EXAMPLE[question.x], y=EXAMPLE.get(question.y or ""))


def truth(text: str, variant: int) -> str:
    """Answer a question from what happens in the example's V or V′, in order."""
    events = [EXAMPLE["A"], EXAMPLE["B"]][:: -1 if variant else 1]
    if match := re.fullmatch(r"Was someone (.+)\?", text):
        right = match[1] in events
    elif match := re.fullmatch(r"Was the person (.+) at the (beginning|end)\?", text):
        right = events[0 if match[2] == "beginning" else -1] == match[1]
    else:
        match = re.fullmatch(r"Did (.+) happen (before|after) (.+)\?", text)
        assert match, text
        order = (match[1], match[3]) if match[2] == "before" else (match[3], match[1])
        right = order == tuple(events)
    return "yes" if right else "no"


def check_golden(name: str, lines: Iterable[str]) -> None:
    path = Path(__file__).parent / name
    text = "".join(f"{line}\n" for line in lines)
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), f"the wording changed; if that is meant: {__doc__}"


# Phrases


def phrases() -> dict[str, str]:
    return {entry.id: entry.phrase for entry in load_classes().classes.values()}


def test_the_phrases_of_the_157_classes_are_frozen() -> None:
    assert list(phrases()) == [f"c{number:03d}" for number in range(157)]
    check_golden("golden_phrases.txt", (f"{key} {phrase}" for key, phrase in phrases().items()))


# Questions


def test_the_questions_of_the_papers_example_are_frozen() -> None:
    lines = (
        f"{name} {question.id} {question.type_ids[variant]} {question.answers[variant]} {word(question)}"
        for variant, name in enumerate(("V", "V′"))
        for question in load_questions()
    )
    check_golden("golden_questions.txt", lines)


@pytest.mark.parametrize("variant", [0, 1])
def test_answers_are_true_and_types_those_of_the_release(variant: int) -> None:
    for question in load_questions():
        assert question.answers[variant] == truth(word(question), variant), question.id
        assert (question.type, question.answers[variant]) == TYPE_IDS[question.type_ids[variant]]
        assert question.type_ids[1] == question.type_ids[0] + 16
        assert question.subset == ("complement" if question.type in ("BE", "BA") else "control")


# Phrases with subjects

TOLD = {"A": "Tom dipped a pen", "B": "Jerry ran into the wall", "C": "Tom slept"}
ASKED = {"A": "Did Tom dip a pen", "B": "Did Jerry run into the wall", "C": "Did Tom sleep"}


def test_the_wording_of_phrases_with_subjects() -> None:
    check_golden("golden_event_questions.txt", (q.worded(TOLD, ASKED) for q in load_questions("clavi_events")))


def test_phrases_with_subjects_have_the_same_questions() -> None:
    both = zip(load_questions(), load_questions("clavi_events"), strict=True)
    assert all(replace(own, text="", several="") == replace(other, text="", several="") for own, other in both)


def test_mutual_actions_are_asked_of_people() -> None:
    phrases = {"A": "talking to each other", "B": "eating", "C": "hugging one another"}
    asked = {question.id: question.worded(phrases, {}) for question in load_questions()}
    assert asked["e-a"] == "Were people talking to each other?"
    assert asked["e-b"] == "Was someone eating?"
    assert asked["be-a-end"] == "Were the people talking to each other at the end?"
    assert load_questions()[0].worded({"A": "sitting together"}, {}) == "Were people sitting together?"
    assert load_questions()[0].worded({"A": "putting a shelf together"}, {}) == "Was someone putting a shelf together?"
    assert asked["ba-c-before-a"] == "Did hugging one another happen before talking to each other?"


# Tables


def test_classes_name_their_own_words_and_questions_fill_their_slots() -> None:
    phrases_of = [entry.phrase for entry in load_classes().classes.values()]
    assert len(set(phrases_of)) == len(phrases_of)
    for name in ("clavi", "clavi_events"):
        questions = {question.id: question for question in load_questions(name)}
        assert len(questions) == 19
        for question in questions.values():
            slots = {slot.removeprefix("asked_") for _, slot, _, _ in Formatter().parse(question.text) if slot}
            assert slots == ({"x"} if question.y is None else {"x", "y"})
            if question.complement:
                assert question.complement != question.id == questions[question.complement].complement
        for variant in (0, 1):
            assert [question.answers[variant] for question in questions.values()].count("yes") == 6


def test_tables_are_hashed_by_their_bytes_and_must_have_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in templates.FOLDER.glob("*.yaml"):
        shutil.copy(path, tmp_path)
    before = templates.table_hashes()
    assert list(before) == sorted(before)
    assert {"charades_classes.yaml", "clavi.yaml"} <= set(before)
    monkeypatch.setattr(templates, "FOLDER", tmp_path)
    path = tmp_path / "clavi.yaml"
    path.write_bytes(path.read_bytes() + b"#\n")
    assert templates.table_hashes() == before | {"clavi.yaml": hashlib.sha256(path.read_bytes()).hexdigest()}
