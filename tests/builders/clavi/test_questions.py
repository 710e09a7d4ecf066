"""Wordings of questions in natural English, and actions that imply one another."""

from collections import Counter
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import yaml
from scipy.stats import chi2_contingency
from stressreel.annotations.actions import Action
from stressreel.annotations.charades import class_actions
from stressreel.builders.clavi.meaning import imply
from stressreel.builders.clavi.questions import TABLES, forms_of, is_natural, question_rows
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.core.schema import Row
from stressreel.templates import load_classes, load_natural, load_questions

PHRASES = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text())
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


def asked(settings: ClaviSettings) -> list[Row]:
    return [row for pair in pairs(4) for variant in (0, 1) for row in question_rows(pair, variant, settings)]


def test_classes_have_phrases_and_templates_frames() -> None:
    natural = load_natural()
    assert list(natural.phrases) == list(load_classes().classes)
    assert len({forms["x"] for forms in natural.phrases.values()}) == 157
    templates = {template.template_id for table in TABLES.values() for template in load_questions(table)}
    assert templates == natural.frames.keys()
    assert min(map(len, natural.frames.values())) >= 3


def test_repeated_object_becomes_definite() -> None:
    natural = load_natural()
    door, knob, take = (natural.phrases[key] for key in ("c008", "c141", "c006"))
    frame = "Did the person {x_base} before they {y_past}?"
    assert natural.worded(frame, door, take) == "Did the person open a door before they closed the door?"
    assert natural.worded(frame, door, knob) == "Did the person open a door before they grabbed a doorknob?"
    first = natural.worded("Before {y}, did the person {x_base}?", door, take)
    assert first == "Before closing a door, did the person open the door?"
    mutual = natural.worded("Was the person {x} at the end of the video?", forms_of("hugging each other"), {})
    assert mutual == "Were the people hugging each other at the end of the video?"


def test_phrases_are_inflected_mended_or_refused() -> None:
    for gerund, (base, past) in PHRASES["inflected"].items():
        assert forms_of(gerund) == {"x": gerund, "x_base": base, "x_past": past}
    for phrase, form in {**{phrase: phrase for phrase in PHRASES["kept"]}, **PHRASES["mended"]}.items():
        assert is_natural(phrase)
        assert forms_of(phrase)["x"] == forms_of(form)["x"] == form
    assert [phrase for phrase in PHRASES["refused"] if is_natural(phrase)] == []


def test_complements_share_their_wording() -> None:
    rows = {row["question_id"]: row for row in asked(NATURAL)}
    for row in rows.values():
        if link := row["complement_question_id"]:
            words = [row["question"].lower().split(), rows[link]["question"].lower().split()]
            differing = {tuple(word.strip("?,") for word in pair) for pair in zip(*words, strict=True)}
            ((one, other),) = {pair for pair in differing if pair[0] != pair[1]}
            assert other == OPPOSITE[one] or (one, other) == ("end", "begin")


def test_paraphrases_are_further_questions_with_other_wordings() -> None:
    rows, single = asked(ClaviSettings(charades="sample", wording="natural", paraphrases=3)), asked(NATURAL)
    assert [row for row in rows if int(row["question_id"][-2:]) < 19] == single
    wordings: dict[tuple[str, int], set[str]] = {}
    for row in rows:
        number = int(row["question_id"][-2:])
        wordings.setdefault((row["video_id"], number % 19), set()).add(row["question"])
        for link in (row["counterpart_question_id"], row["complement_question_id"] or row["question_id"]):
            assert int(link[-2:]) // 19 == number // 19
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


def test_actions_imply_one_another() -> None:
    def phrase(verb: str, *objects: str) -> Action:
        return Action("phrase", "", "", verb, frozenset(objects))

    classes = class_actions(load_classes())
    for one, other, expected in PHRASES["implied"]:
        assert imply(classes[one], classes[other]) is imply(classes[other], classes[one]) is expected, (one, other)
    assert imply(phrase("hold", "cup"), phrase("drink", "glass"))
    assert imply(phrase("grasp", "doorknob"), phrase("open", "door"))
    assert not imply(phrase("hold", "cup"), phrase("open", "door"))
    implied = [decided(ClaviSettings(charades="sample", wording=each)).implied for each in ("paper", "natural")]
    assert implied == ["keep", "drop"]
