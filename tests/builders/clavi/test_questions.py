from collections import Counter
from collections.abc import Callable
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import pytest
from changed import derived
from scipy.stats import chi2_contingency
from stressreel.builders.clavi.questions import TABLES, forms_of, is_natural, question_rows
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.core.schema import Row
from stressreel.templates import load_classes, load_natural, load_questions

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
        ("sitting in a chair eating", "sit in a chair eating", "sat in a chair eating"),
        ("getting up, smiling and leaving", "get up, smiling and leave", "got up, smiling and left"),
        ("holding a ring and a string", "hold a ring and a string", "held a ring and a string"),
    ],
)
def test_sentences_are_inflected(gerund: str, base: str, past: str) -> None:
    assert forms_of(gerund) == {"x": gerund, "x_base": base, "x_past": past}


@pytest.mark.parametrize(
    ("gerund", "expected"),
    [
        ("awakening in bed", "waking up in bed"),
        ("awakening another person", "awakening another person"),
        ("undressing", "getting undressed"),
        ("fixing hair", "fixing their hair"),
    ],
)
def test_stilted_phrases_are_mended_once(gerund: str, expected: str) -> None:
    assert forms_of(gerund)["x"] == forms_of(expected)["x"] == expected
    assert is_natural(gerund)


def test_only_phrases_with_a_natural_wording_are_kept() -> None:
    refused = (
        *("laughing as they leave", "watching a video that is playing", "opening", "putting a book", "turning"),
        *("closing the door to it", "taking some with a glass of water", "sneezing again", "sneezing twice"),
        *("opening the door and opening washing machine", "walking to wall turning lights on"),
        *("sitting working on a laptop laughing", "taking the other person's book", "throwing a some clothes"),
    )
    kept = (
        *("putting on shoes", "putting groceries away", "turning on a light", "opening a door", "running out"),
        *("putting clothes into a washing machine", "sitting at a dining table", "closing the door behind them"),
        *("walking into a living room holding a bag", "taking a sandwich from a box"),
    )
    assert [phrase for phrase in refused if is_natural(phrase)] == []
    assert [phrase for phrase in kept if not is_natural(phrase) or forms_of(phrase)["x"] != phrase] == []


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


@pytest.fixture(scope="module")
def out(build_once: Callable[..., Path]) -> Path:
    """Three pairs in two wordings; read only."""
    flags = ("--no-render", "--wording", "natural", "--paraphrases", 2)
    return build_once("build-clavi", "--charades", "sample", "--limit", 3, *flags)


def test_natural_questions_follow_from_pairs(out: Path) -> None:
    assert derived(out) == []
    assert derived(out, lambda forged: forged.rows("questions")[0].update(question="Did the person open a door?"))
