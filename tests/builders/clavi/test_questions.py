"""Wordings of questions in natural English, and actions that imply one another."""

from collections import Counter
from itertools import islice, permutations
from typing import Any

import pytest
from scipy.stats import chi2_contingency
from stressreel.annotations.actions import Action
from stressreel.annotations.charades import class_actions
from stressreel.builders.clavi.meaning import imply
from stressreel.builders.clavi.questions import TABLES, forms_of, is_natural, question_rows
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.core.schema import Row
from stressreel.templates import load_classes, load_natural, load_questions

CLASSES = class_actions(load_classes())
NATURAL = ClaviSettings(charades="sample", wording="natural")
OPPOSITE = {"before": "after", "after": "before", "beginning": "end", "end": "beginning", "begin": "end"}


def pairs(count: int) -> list[dict[str, Any]]:
    phrases = {key: forms["x"] for key, forms in load_natural().phrases.items()}
    return [
        {"pair_id": f"{number:08x}", "source_id": "S"}
        | {f"class_{letter}": key for letter, key in zip("abc", keys, strict=True)}
        | {f"phrase_{letter}": phrases[key] for letter, key in zip("abc", keys, strict=True)}
        for number, keys in enumerate(islice(permutations(sorted(phrases), 3), 0, 31 * count, 31))
    ]


def asked(settings: ClaviSettings, count: int = 4) -> list[Row]:
    return [row for pair in pairs(count) for variant in (0, 1) for row in question_rows(pair, variant, settings)]


def test_classes_have_phrases_and_templates_frames() -> None:
    natural = load_natural()
    assert list(natural.phrases) == list(load_classes().classes)
    assert len({forms["x"] for forms in natural.phrases.values()}) == 157
    asked = [each for table in TABLES.values() for each in load_questions(table)]
    assert {template.template_id for template in asked} == natural.frames.keys()
    assert min(map(len, natural.frames.values())) >= 3


def test_repeated_object_becomes_definite() -> None:
    natural = load_natural()
    door, knob, take = (natural.phrases[key] for key in ("c008", "c141", "c006"))
    frame = "Did the person {x_base} before they {y_past}?"
    assert natural.worded(frame, door, take) == "Did the person open a door before they closed the door?"
    assert natural.worded("Before {y}, did the person {x_base}?", door, take) == (
        "Before closing a door, did the person open the door?"
    )
    assert natural.worded(frame, door, knob) == "Did the person open a door before they grabbed a doorknob?"
    mutual = natural.worded("Was the person {x} at the end of the video?", forms_of("hugging each other"), {})
    assert mutual == "Were the people hugging each other at the end of the video?"


@pytest.mark.parametrize(
    ("gerund", "base", "past"),
    [
        ("lying on a bed", "lie on a bed", "lay on a bed"),
        ("getting up, smiling and leaving", "get up, smiling and leave", "got up, smiling and left"),
        ("holding a ring and a string", "hold a ring and a string", "held a ring and a string"),
    ],
)
def test_sentences_are_inflected(gerund: str, base: str, past: str) -> None:
    assert forms_of(gerund) == {"x": gerund, "x_base": base, "x_past": past}


def test_only_phrases_with_natural_wording_are_kept() -> None:
    refused = (
        *("laughing as they leave", "watching a video that is playing", "opening", "putting a book", "turning"),
        *("closing the door to it", "taking some with a glass of water", "sneezing again", "sneezing twice"),
        *("opening the door and opening washing machine", "walking to wall turning lights on"),
        *("sitting working on a laptop laughing", "taking the other person's book", "throwing a some clothes"),
    )
    kept = (
        *("putting on shoes", "putting groceries away", "turning on a light", "opening a door", "running out"),
        *("putting clothes into a washing machine", "sitting at a dining table", "awakening another person"),
        *("walking into a living room holding a bag", "taking a sandwich from a box", "closing the door behind them"),
    )
    mended = {
        "awakening in bed": "waking up in bed",
        "undressing": "getting undressed",
        "fixing hair": "fixing their hair",
    }
    assert [phrase for phrase in refused if is_natural(phrase)] == []
    for phrase, form in {**dict(zip(kept, kept, strict=True)), **mended}.items():
        assert is_natural(phrase)
        assert forms_of(phrase)["x"] == forms_of(form)["x"] == form


def test_complements_share_their_wording() -> None:
    rows = {row["question_id"]: row for row in asked(NATURAL)}
    for row in rows.values():
        assert rows[row["counterpart_question_id"]]["question"] == row["question"]
        if link := row["complement_question_id"]:
            words = [row["question"].lower().split(), rows[link]["question"].lower().split()]
            differing = {tuple(word.strip("?,") for word in pair) for pair in zip(*words, strict=True)}
            ((one, other),) = {pair for pair in differing if pair[0] != pair[1]}
            assert other == OPPOSITE[one] or (one, other) == ("end", "begin")


def test_paraphrases_are_further_questions_with_other_wordings() -> None:
    rows, single = asked(ClaviSettings(charades="sample", wording="natural", paraphrases=3)), asked(NATURAL)
    assert [row for row in rows if int(row["question_id"][-2:]) < 19] == single
    wordings: dict[tuple[str, int], set[str]] = {}
    by_id = {row["question_id"]: row for row in rows}
    for row in rows:
        number = int(row["question_id"][-2:])
        wordings.setdefault((row["video_id"], number % 19), set()).add(row["question"])
        for link in (row["counterpart_question_id"], row["complement_question_id"] or row["question_id"]):
            assert int(by_id[link]["question_id"][-2:]) // 19 == number // 19
    assert {len(texts) for texts in wordings.values()} == {3}


def test_frames_are_independent_of_the_answer() -> None:
    natural = load_natural()
    counts: dict[str, Counter[tuple[int, str]]] = {}
    for pair in pairs(400):
        forms = {"": {}} | {letter: natural.phrases[pair[f"class_{letter.lower()}"]] for letter in "ABC"}
        for row, template in zip(question_rows(pair, 0, NATURAL), load_questions(), strict=True):
            x, y = forms[template.x], forms[template.y or ""]
            texts = [natural.worded(frame, x, y) for frame in natural.frames[template.template_id]]
            kind = template.template_id.split("-")[0]
            counts.setdefault(kind, Counter())[texts.index(row["question"]), row["answer"]] += 1
    for kind, count in counts.items():
        table = [[count[frame, answer] for answer in ("no", "yes")] for frame in sorted({key[0] for key in count})]
        assert len(table) == 4
        assert chi2_contingency(table).pvalue > 0.001, kind


# Implications


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("c141", "c008", True),  # grasping a doorknob, opening a door
        ("c141", "c113", True),  # a closet looks like a door
        ("c141", "c090", False),  # a window does not
        ("c061", "c065", True),  # holding food, eating a sandwich
        ("c020", "c021", True),  # holding and opening a bag
        ("c020", "c041", True),  # holding a bag, opening a box, which looks like one
        ("c020", "c008", False),
        ("c134", "c154", True),  # lying on a bed, standing up
        ("c059", "c106", False),
    ],
)
def test_table_of_implications(one: str, other: str, expected: bool) -> None:
    assert imply(CLASSES[one], CLASSES[other]) is imply(CLASSES[other], CLASSES[one]) is expected


def test_phrases_of_sentences_imply_one_another() -> None:
    def phrase(verb: str, *objects: str) -> Action:
        return Action("phrase", "", "", verb, frozenset(objects))

    assert imply(phrase("hold", "cup"), phrase("drink", "glass"))
    assert imply(phrase("grasp", "doorknob"), phrase("open", "door"))
    assert not imply(phrase("hold", "cup"), phrase("open", "door"))
    for wording, implied in (("paper", "keep"), ("natural", "drop")):
        settings = ClaviSettings(charades="sample", wording=wording)  # type: ignore[arg-type]
        assert decided(settings).implied == implied
