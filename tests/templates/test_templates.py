"""The wording of questions. After an intended change: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/templates"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest
import stressreel.templates as templates
from stressreel.core.errors import InputError
from stressreel.templates import load_classes, load_questions, read_table
from stressreel.templates.agqa import ANYTHING, load_agqa
from stressreel.templates.agqa_making import ANY, load_frames, load_rules

EXAMPLE = {"A": "holding clothes", "B": "taking food", "C": "washing mirror"}  # the paper's; C never happens
EVENTS = {"A": "Tom dipped a pen", "B": "Jerry ran into the wall", "C": "Tom slept"}
ASKED = {"A": "Did Tom dip a pen", "B": "Did Jerry run into the wall", "C": "Did Tom sleep"}


def slots_of(texts: Iterable[str]) -> set[str]:
    return {slot for text in texts for _, slot, _, _ in Formatter().parse(text) if slot}


def lines_of_frames() -> Iterator[str]:
    frames = load_frames()
    for part in (frames.windows, frames.references, frames.frames):
        yield from (f"{name}: {text}" for name, wordings in part.items() for text in wordings)
    for phrase in load_agqa().actions:
        yield f"{phrase} | {frames.tense(phrase, past=False)} | {frames.tense(phrase, past=True)}"
    for relation in load_agqa().relations.values():
        if relation.family != "attention" and relation.name not in load_rules().unasked_relations:
            tenses = [frames.relation(relation.pattern, relation.name, past) for past in (False, True)]
            yield f"{relation.pattern} | {' | '.join(tenses)}"


def lines_of_questions() -> Iterator[str]:
    for variant, name in enumerate(("V", "V′")):
        for each in load_questions():
            yield f"{name} {each.id} {each.type_ids[variant]} {each.answers[variant]} {each.worded(EXAMPLE, {})}"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("phrases", (f"{name} {entry.phrase}" for name, entry in load_classes().classes.items())),
        ("questions", lines_of_questions()),
        ("event_questions", (each.worded(EVENTS, ASKED) for each in load_questions("clavi_events"))),
        ("frames", lines_of_frames()),
    ],
)
def test_wording_never_changes(name: str, lines: Iterable[str]) -> None:
    path, text = Path(__file__).with_name(f"golden_{name}.txt"), "".join(f"{line}\n" for line in lines)
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), f"the wording changed; {__doc__}"


# CLAVI


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


@pytest.mark.parametrize("variant", [0, 1])
def test_answers_are_true_and_balanced(variant: int) -> None:
    questions = {question.id: question for question in load_questions()}
    assert len(questions) == 19
    assert [question.answers[variant] for question in questions.values()].count("yes") == 6
    for question in questions.values():
        assert question.answers[variant] == truth(question.worded(EXAMPLE, {}), variant), question.id
        assert question.type_ids[1] == question.type_ids[0] + 16
        assert question.subset == ("complement" if question.type in ("BE", "BA") else "control")
        if question.complement:
            assert question.complement != question.id == questions[question.complement].complement


def test_questions_about_events_differ_in_wording_only() -> None:
    for question, other in zip(load_questions(), load_questions("clavi_events"), strict=True):
        assert replace(question, text="", several="") == replace(other, text="", several="")
        for text in (question.text, other.text):
            slots = {slot.removeprefix("asked_") for slot in slots_of([text])}
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
    before = templates.table_hashes()
    assert [*before] == sorted(path.name for path in templates.FOLDER.glob("*.yaml"))
    monkeypatch.setattr(templates, "FOLDER", shutil.copytree(templates.FOLDER, tmp_path / "copy"))
    path = tmp_path / "copy" / "clavi.yaml"
    path.write_bytes(path.read_bytes() + b"#\n")
    assert templates.table_hashes() == before | {"clavi.yaml": hashlib.sha256(path.read_bytes()).hexdigest()}


# AGQA


def test_unknown_gerunds_are_refused() -> None:
    with pytest.raises(InputError, match="juggling"):
        load_frames().tense("juggling apples", past=True)


def test_every_charades_class_counts_as_an_action() -> None:
    words, alike = load_agqa(), load_rules().alike
    assert all(name in alike[other] for name, others in alike.items() for other in others)
    assert {*words.by_class, *words.replaced} == load_classes().classes.keys()
    for replaced in words.replaced.values():
        if itself := replaced.itself:
            assert itself.phrase not in words.actions
            assert itself.object == ANYTHING or itself.object in alike[replaced.by.object or ""]


def test_tables_contain_known_words_only() -> None:
    words, rules, frames = load_agqa(), load_rules(), load_frames()
    actions = words.actions.values()
    assert len(read_table("agqa")["actions"]) == len(actions)  # no two share a phrase
    assert {action.object for action in actions} <= {*words.objects, None}
    assert {action.besides for action in actions} <= {*words.objects, ANYTHING, None}
    assert {action.verb for action in actions} <= {*words.relations, None}
    assert all((action.verb is None) == (action.object is None) for action in actions)
    assert {relation.family for relation in words.relations.values()} == {"attention", "spatial", "contact", "verb"}
    assert not {relation.anything for relation in words.relations.values()} & words.actions.keys()
    assert {kind.answer for kind in words.kinds.values()} == {"yes/no", "choice", "object", "action"}
    groups = {group for rule in words.rules.values() for part in (rule.parents, *rule.children) for group in part}
    assert groups <= {kind.group for kind in words.kinds.values()}
    objects = {thing for group in read_table("agqa_making")["look_alike"] for thing in group} | rules.unasked_objects
    assert objects | {thing for _, thing in rules.obvious} <= words.objects.keys() | words.unnamed_objects.keys()
    relations = rules.unasked_relations | rules.transitions | rules.referred | {name for name, _ in rules.obvious}
    assert relations.union(rules.doubtful, rules.implied, *rules.doubtful_actions.values()) <= words.relations.keys()
    implying = [actions for by in rules.implied.values() for actions in (by.during, by.begins, by.ends)]
    without_object = {phrase for phrase, action in words.actions.items() if not action.verb}
    assert {ANY, *without_object, *words.relations} >= set().union(*rules.doubtful.values(), *implying)
    assert {action.into for action in actions} <= {*rules.implied, None}
    assert rules.never_in_time | rules.doubtful_actions.keys() <= words.actions.keys()
    texts = [text for part in (frames.windows, frames.frames) for wordings in part.values() for text in wordings]
    assert {slot.partition("_")[0] for slot in slots_of(texts)} == {*"aboprst"}
