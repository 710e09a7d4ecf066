"""The wording of CLAVI.

The golden files freeze it. After a change that is meant: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/templates
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import Counter
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

# Table 2: Q and Q′.
TABLE_2 = [
    ("Was the person holding clothes at the beginning?", "Was the person holding clothes at the end?"),
    ("Was the person taking food at the end?", "Was the person taking food at the beginning?"),
    ("Did holding clothes happen before taking food?", "Did holding clothes happen after taking food?"),
    ("Did taking food happen after holding clothes?", "Did taking food happen before holding clothes?"),
    ("Did holding clothes happen before washing mirror?", "Did holding clothes happen after washing mirror?"),
    ("Did taking food happen after washing mirror?", "Did taking food happen before washing mirror?"),
]

# Appendix B.3, in its order; the same list for V and V′.
APPENDIX_B3 = """\
Was someone holding clothes?
Was someone taking food?
Was someone washing mirror?
Was the person holding clothes at the beginning?
Was the person holding clothes at the end?
Was the person taking food at the end?
Was the person taking food at the beginning?
Did holding clothes happen before taking food?
Did holding clothes happen after taking food?
Did taking food happen after holding clothes?
Did taking food happen before holding clothes?
Did washing mirror happen before holding clothes?
Did washing mirror happen after holding clothes?
Did holding clothes happen before washing mirror?
Did holding clothes happen after washing mirror?
Did washing mirror happen before taking food?
Did washing mirror happen after taking food?
Did taking food happen before washing mirror?
Did taking food happen after washing mirror?
""".splitlines()

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


def test_the_papers_phrases() -> None:
    assert [phrases()[key] for key in ("c000", "c002", "c063", "c095")] == [
        "holding clothes",
        "taking clothes",
        "taking food",
        "washing mirror",
    ]


def test_phrases_tell_the_classes_apart() -> None:
    assert [phrase for phrase, count in Counter(phrases().values()).items() if count > 1] == []


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


def test_every_verb_and_object_class_is_there_and_used() -> None:
    table = load_classes()
    assert list(table.verbs) == [f"v{number:03d}" for number in range(33)]
    assert list(table.objects) == [f"o{number:03d}" for number in range(38)]
    assert {entry.verb for entry in table.classes.values()} == set(table.verbs.values())
    assert {entry.object for entry in table.classes.values()} == set(table.objects.values())


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


def test_they_are_the_questions_of_appendix_b3() -> None:
    assert len(set(APPENDIX_B3)) == 19
    assert [word(question) for question in load_questions()] == APPENDIX_B3


def test_complements_are_those_of_table_2() -> None:
    worded = {question.id: word(question) for question in load_questions()}
    links = {worded[q.id]: worded[q.complement] for q in load_questions() if q.complement}
    assert all(links[question] == complement for question, complement in TABLE_2)


@VIDEOS
def test_every_answer_is_true(variant: int) -> None:
    for question in load_questions():
        assert question.answers[variant] == truth(word(question), variant), question.id


@VIDEOS
def test_six_yes_thirteen_no(variant: int) -> None:
    assert Counter(q.answers[variant] for q in load_questions()) == {"yes": 6, "no": 13}


@VIDEOS
def test_there_are_so_many_of_each_type(variant: int) -> None:
    counts = Counter(TYPE_IDS[q.type_ids[variant]][0] for q in load_questions())
    assert counts == {"E": 2, "E-NC": 1, "BE": 4, "BA": 4, "BA-NC": 8}


@VIDEOS
@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.id)
def test_types_and_ids_are_those_of_the_release(question: QuestionTemplate, variant: int) -> None:
    assert (question.type, question.answers[variant]) == TYPE_IDS[question.type_ids[variant]]
    assert question.type_ids[1] == question.type_ids[0] + 16
    assert question.subset == ("complement" if question.type in ("BE", "BA") else "control")


@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.id)
def test_complements_link_back_and_ask_the_opposite_time(question: QuestionTemplate) -> None:
    if question.type in ("E", "E-NC"):
        assert question.complement is None
        return
    by_id = {other.id: other for other in load_questions()}
    other = by_id[str(question.complement)]
    assert other.complement == question.id != other.id
    opposite = {"before": "after", "after": "before", "beginning": "end", "end": "beginning"}
    swapped = re.sub(r"before|after|beginning|end\b", lambda match: opposite[match[0]], word(question))
    assert word(other) == swapped
    assert (other.x, other.y, other.type) == (question.x, question.y, question.type)


@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.id)
def test_answers_flip_with_the_video_and_with_the_question_or_with_neither(question: QuestionTemplate) -> None:
    by_id = {other.id: other for other in load_questions()}
    assert (question.answers[0] != question.answers[1]) == (question.type in ("BE", "BA"))
    if question.complement:
        other = by_id[question.complement].answers
        flips = [mine != theirs for mine, theirs in zip(question.answers, other, strict=True)]
        assert flips == [question.type in ("BE", "BA")] * 2


# Phrases with subjects

TOLD = {"A": "Tom dipped a pen", "B": "Jerry ran into the wall", "C": "Tom slept"}
ASKED = {"A": "Did Tom dip a pen", "B": "Did Jerry run into the wall", "C": "Did Tom sleep"}
EVENTS = """\
Did Tom dip a pen?
Did Jerry run into the wall?
Did Tom sleep?
Was it at the beginning that Tom dipped a pen?
Was it at the end that Tom dipped a pen?
Was it at the end that Jerry ran into the wall?
Was it at the beginning that Jerry ran into the wall?
Did Tom dip a pen before Jerry ran into the wall?
Did Tom dip a pen after Jerry ran into the wall?
Did Jerry run into the wall after Tom dipped a pen?
Did Jerry run into the wall before Tom dipped a pen?
Did Tom sleep before Tom dipped a pen?
Did Tom sleep after Tom dipped a pen?
Did Tom dip a pen before Tom slept?
Did Tom dip a pen after Tom slept?
Did Tom sleep before Jerry ran into the wall?
Did Tom sleep after Jerry ran into the wall?
Did Jerry run into the wall before Tom slept?
Did Jerry run into the wall after Tom slept?
""".splitlines()


def test_the_wording_of_phrases_with_subjects() -> None:
    assert [question.worded(TOLD, ASKED) for question in load_questions("clavi_events")] == EVENTS


def test_phrases_with_subjects_have_the_same_questions() -> None:
    both = zip(load_questions(), load_questions("clavi_events"), strict=True)
    assert all(replace(own, text="") == replace(other, text="") for own, other in both)


@pytest.mark.parametrize("text", ["Was it so?", "{asked_y}?", "{x} and {y}?"])
def test_a_damaged_wording_is_refused(tables: Path, text: str) -> None:
    damage(tables / "clavi_events.yaml", lambda table: table["templates"].update({"E": text}))
    with pytest.raises(InputError, match=r"templates/clavi_events\.yaml: e-a does not fill the slots"):
        load_questions("clavi_events")


def test_gerund_phrases_have_no_question_of_their_own(tables: Path) -> None:
    damage(tables / "clavi.yaml", lambda table: table["templates"].update({"E": "{asked_x}?"}))
    with pytest.raises(InputError, match="e-a does not fill the slots"):
        load_questions()


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


@pytest.mark.parametrize(("name", "load"), [("charades_classes", load_classes), ("clavi", load_questions)])
def test_copied_tables_load_as_the_originals(
    tables: Path, monkeypatch: pytest.MonkeyPatch, name: str, load: Callable[[], object]
) -> None:
    damage(tables / f"{name}.yaml", lambda table: None)
    copied = load()
    load_classes.cache_clear()
    load_questions.cache_clear()
    monkeypatch.undo()
    assert tables != templates.FOLDER
    assert copied == load()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("c003", verb="v033"), "c003 names an unknown verb or object"),
        (set_in("c003", object="clothes"), "c003 names an unknown verb or object"),
        (set_in("c003", phrase="holding clothes"), "two classes share a phrase"),
        (lambda table: table.pop("version"), "must be a mapping with a version; it is damaged"),
    ],
)
def test_a_damaged_class_table_is_refused(tables: Path, change: Callable[[Table], object], message: str) -> None:
    damage(tables / "charades_classes.yaml", change)
    with pytest.raises(InputError, match=rf"templates/charades_classes\.yaml.*{message}"):
        load_classes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("e-b", id="e-a"), "a question id is used twice"),
        (set_in("e-a", y="B"), r"e-a does not fill the slots of 'Was someone \{x\}\?'"),
        (set_in("ba-a-before-b", y=None), "ba-a-before-b does not fill the slots"),
        (lambda table: table["templates"].update({"E": "Was someone {z}?"}), "e-a does not fill the slots"),
        (set_in("be-a-end", complement="be-b-end"), "do not link back"),
        (set_in("be-a-end", complement="missing"), "do not link back"),
        (set_in("be-a-end", complement=None), "be-a-beginning and its complement do not link back"),
        (lambda table: table.pop("version"), "must be a mapping with a version; it is damaged"),
    ],
)
def test_a_damaged_question_table_is_refused(tables: Path, change: Callable[[Table], object], message: str) -> None:
    damage(tables / "clavi.yaml", change)
    with pytest.raises(InputError, match=rf"templates/clavi\.yaml.*{message}"):
        load_questions()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("charades_classes", lambda table: table.pop("classes")),
        ("charades_classes", lambda table: table["classes"]["c003"].pop("phrase")),
        ("charades_classes", lambda table: table["classes"]["c003"].pop("verb")),
        ("charades_classes", set_in("c003", phrase="")),
        ("clavi", lambda table: table.pop("questions")),
        ("clavi", lambda table: table["questions"].pop()),
        ("clavi", set_in("e-a", template="missing")),
        ("clavi", set_in("e-a", type="missing")),
        ("clavi", set_in("e-a", x="D")),
        ("clavi", set_in("e-a", answer=["yes"])),
        ("clavi", set_in("e-a", answer=["yes", "maybe"])),
        ("clavi", set_in("e-a", complement="missing")),
        ("clavi", set_in("e-c", complement="e-c")),
    ],
)
def test_other_damages_are_refused_as_well(tables: Path, name: str, change: Callable[[Table], object]) -> None:
    damage(tables / f"{name}.yaml", change)
    with pytest.raises(InputError, match=name):
        (load_classes if name == "charades_classes" else load_questions)()


@pytest.mark.parametrize("content", ["", "- a\n- b\n", "version\n"])
def test_a_table_that_is_no_mapping_is_refused(tables: Path, content: str) -> None:
    (tables / "clavi.yaml").write_text(content)
    with pytest.raises(InputError, match="must be a mapping with a version"):
        templates.read_table("clavi")


def test_a_table_that_is_not_yaml_is_refused(tables: Path) -> None:
    (tables / "clavi.yaml").write_text("version: [1\n")
    with pytest.raises(InputError, match="clavi"):
        templates.read_table("clavi")


def test_hashes_are_of_the_bytes_of_every_table(tables: Path) -> None:
    before = templates.table_hashes()
    assert {"charades_classes.yaml", "clavi.yaml"} <= set(before)
    assert list(before) == sorted(before)
    path = tables / "clavi.yaml"
    path.write_bytes(path.read_bytes() + b"#\n")
    after = templates.table_hashes()
    assert after == before | {"clavi.yaml": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert after != before
