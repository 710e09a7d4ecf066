"""The wording of CLAVI. After an intended change: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/templates"""

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
from stressreel.templates import load_classes, load_questions

EXAMPLE = {"A": "holding clothes", "B": "taking food", "C": "washing mirror"}  # the paper's; C never happens
EVENTS = {"A": "Tom dipped a pen", "B": "Jerry ran into the wall", "C": "Tom slept"}
ASKED = {"A": "Did Tom dip a pen", "B": "Did Jerry run into the wall", "C": "Did Tom sleep"}
TYPE_IDS = {  # type and answer of every type id in the release; V has 0 to 10, V′ 16 to 26
    **{0: ("E", "yes"), 1: ("E-NC", "no"), 4: ("BE", "yes"), 5: ("BE", "no")},
    **{8: ("BA", "yes"), 9: ("BA", "no"), 10: ("BA-NC", "no")},
    **{16: ("E", "yes"), 17: ("E-NC", "no"), 20: ("BE", "no"), 21: ("BE", "yes")},
    **{24: ("BA", "no"), 25: ("BA", "yes"), 26: ("BA-NC", "no")},
}


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
        right = [match[1], match[3]] == (events if match[2] == "before" else events[::-1])
    return "yes" if right else "no"


def check_golden(name: str, lines: Iterable[str]) -> None:
    path = Path(__file__).parent / name
    text = "".join(f"{line}\n" for line in lines)
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), f"the wording changed; {__doc__}"


def test_wording_never_changes() -> None:
    classes = load_classes().classes
    assert list(classes) == [f"c{number:03d}" for number in range(157)]
    assert len({entry.phrase for entry in classes.values()}) == 157
    check_golden("golden_phrases.txt", (f"{name} {entry.phrase}" for name, entry in classes.items()))
    check_golden(
        "golden_questions.txt",
        (
            f"{name} {question.id} {question.type_ids[variant]} {question.answers[variant]} "
            f"{question.worded(EXAMPLE, {})}"
            for variant, name in enumerate(("V", "V′"))
            for question in load_questions()
        ),
    )
    check_golden("golden_event_questions.txt", (q.worded(EVENTS, ASKED) for q in load_questions("clavi_events")))


@pytest.mark.parametrize("variant", [0, 1])
def test_answers_are_true_and_types_as_released(variant: int) -> None:
    questions = {question.id: question for question in load_questions()}
    assert len(questions) == 19
    assert [question.answers[variant] for question in questions.values()].count("yes") == 6
    for question in questions.values():
        assert question.answers[variant] == truth(question.worded(EXAMPLE, {}), variant), question.id
        assert (question.type, question.answers[variant]) == TYPE_IDS[question.type_ids[variant]]
        assert question.type_ids[1] == question.type_ids[0] + 16
        assert question.subset == ("complement" if question.type in ("BE", "BA") else "control")
        if question.complement:
            assert question.complement != question.id == questions[question.complement].complement


def test_questions_about_events_differ_in_wording_only() -> None:
    for question, other in zip(load_questions(), load_questions("clavi_events"), strict=True):
        assert replace(question, text="", several="") == replace(other, text="", several="")
        for text in (question.text, other.text):
            slots = {slot.removeprefix("asked_") for _, slot, _, _ in Formatter().parse(text) if slot}
            assert slots == ({"x"} if question.y is None else {"x", "y"})


@pytest.mark.parametrize(
    ("name", "action", "expected"),
    [
        ("e-a", "talking to each other", "Were people talking to each other?"),
        ("e-a", "sitting together", "Were people sitting together?"),
        ("e-a", "putting a shelf together", "Was someone putting a shelf together?"),
        ("e-b", "talking to each other", "Was someone eating?"),
        ("be-a-end", "talking to each other", "Were the people talking to each other at the end?"),
        ("ba-c-before-a", "hugging one another", "Did hugging happen before hugging one another?"),
    ],
)
def test_mutual_actions_ask_about_people(name: str, action: str, expected: str) -> None:
    phrases = {"A": action, "B": "eating", "C": "hugging"}
    assert {question.id: question.worded(phrases, {}) for question in load_questions()}[name] == expected


def test_table_hashes_are_those_of_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(templates.FOLDER, tmp_path, dirs_exist_ok=True)
    before = templates.table_hashes()
    assert list(before) == sorted(before)
    assert {"charades_classes.yaml", "clavi.yaml"} <= set(before)
    monkeypatch.setattr(templates, "FOLDER", tmp_path)
    path = tmp_path / "clavi.yaml"
    path.write_bytes(path.read_bytes() + b"#\n")
    assert templates.table_hashes() == before | {"clavi.yaml": hashlib.sha256(path.read_bytes()).hexdigest()}
