"""The wording of CLAVI.

The golden files freeze it. After a change that is meant: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/templates
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import stressreel.templates as templates
import yaml
from stressreel.core.errors import InputError
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
VIDEOS = pytest.mark.parametrize("variant", [0, 1], ids=["V", "V′"])


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


def test_a_phrase_is_a_gerund_for_anybody_in_plain_words() -> None:
    form = re.compile(r"[a-z]+ing(,? [a-z]+)*")
    assert [phrase for phrase in phrases().values() if not form.fullmatch(phrase)] == []
    fillers = {"some", "a", "an", "the", "is", "their"}
    gendered = {"he", "she", "him", "his", "her", "hers", "himself", "herself", "man", "woman", "boy", "girl", "guy"}
    unwanted = fillers | gendered
    assert [p for p in phrases().values() if unwanted & set(re.findall("[a-z]+", p))] == []


def test_a_phrase_says_what_the_label_says() -> None:
    odd = {}
    for entry in load_classes().classes.values():
        label = entry.label.lower()
        said = set(re.findall("[a-z]+", label)) | {"or"} | ({"washing"} if label.startswith("wash ") else set())
        if more := set(re.findall("[a-z]+", entry.phrase)) - said:
            odd[entry.id] = more
    assert odd == {}


# Questions


def test_the_questions_of_the_papers_example_are_frozen() -> None:
    check_golden(
        "golden_questions.txt",
        (
            f"{name} {question.id} {question.type_ids[variant]} {question.answers[variant]} {word(question)}"
            for variant, name in enumerate(("V", "V′"))
            for question in load_questions()
        ),
    )


@VIDEOS
def test_every_answer_is_true(variant: int) -> None:
    for question in load_questions():
        assert question.answers[variant] == truth(word(question), variant), question.id


@VIDEOS
@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.id)
def test_types_and_ids_are_those_of_the_release(question: QuestionTemplate, variant: int) -> None:
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
    assert all(replace(own, text="") == replace(other, text="") for own, other in both)


# Loading

Table = dict[str, Any]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the tables that the loaders read instead, their caches put aside."""
    for path in templates.FOLDER.glob("*.yaml"):
        shutil.copy(path, tmp_path)
    load_classes.cache_clear()
    load_questions.cache_clear()
    monkeypatch.setattr(templates, "FOLDER", tmp_path)
    yield tmp_path
    load_classes.cache_clear()
    load_questions.cache_clear()


def damage(path: Path, change: Callable[[Table], object]) -> None:
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(table)
    path.write_text(yaml.safe_dump(table, allow_unicode=True), encoding="utf-8")


def question_row(table: Table, name: str) -> Table:
    (row,) = (row for row in table["questions"] if row["id"] == name)
    found: Table = row
    return found


def set_in(name: str, **values: object) -> Callable[[Table], object]:
    """Change a class or a question."""
    return lambda table: (table["classes"][name] if name[1:].isdigit() else question_row(table, name)).update(values)


def test_hashes_are_of_the_bytes_of_every_table(tables: Path) -> None:
    before = templates.table_hashes()
    assert {"charades_classes.yaml", "clavi.yaml"} <= set(before)
    assert list(before) == sorted(before)
    path = tables / "clavi.yaml"
    path.write_bytes(path.read_bytes() + b"#\n")
    after = templates.table_hashes()
    assert after == before | {"clavi.yaml": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert after != before


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("charades_classes", set_in("c003", verb="v033"), "c003 names an unknown verb or object"),
        ("charades_classes", set_in("c003", object="clothes"), "c003 names an unknown verb or object"),
        ("charades_classes", set_in("c003", phrase="holding clothes"), "two classes share a phrase"),
        ("charades_classes", set_in("c003", phrase=""), "one has none"),
        ("charades_classes", lambda table: table["classes"]["c003"].pop("verb"), "damaged"),
        *((name, lambda table: table.pop("version"), "with a version") for name in ("charades_classes", "clavi")),
        *((name, lambda table: table.clear(), "with a version") for name in ("charades_classes", "clavi")),
        ("clavi", set_in("e-b", id="e-a"), "a question id is used twice"),
        ("clavi", set_in("e-a", y="B"), r"e-a does not fill the slots of 'Was someone \{x\}\?'"),
        ("clavi", lambda table: table["templates"].update({"E": "{asked_x}?"}), "e-a does not fill the slots"),
        *(("clavi", set_in("be-a-end", complement=other), "do not link back") for other in ("be-b-end", "none", None)),
        ("clavi", set_in("e-c", complement="e-c"), "do not link back"),
        ("clavi", lambda table: table["questions"].pop(), ""),
        ("clavi", set_in("e-a", template="missing"), "damaged"),
        ("clavi", set_in("e-a", x="D"), "an unknown slot or answer"),
        ("clavi", set_in("e-a", answer=["yes"]), "damaged"),
        ("clavi", set_in("e-a", answer=["yes", "maybe"]), "an unknown slot or answer"),
        ("clavi_events", lambda table: table["templates"].update({"E": "{asked_y}?"}), "e-a does not fill the slots"),
    ],
)
def test_a_damaged_table_is_refused(tables: Path, name: str, change: Callable[[Table], object], message: str) -> None:
    damage(tables / f"{name}.yaml", change)
    with pytest.raises(InputError, match=rf"templates/{name}\.yaml.*{message}"):
        load_classes() if name == "charades_classes" else load_questions(name)
