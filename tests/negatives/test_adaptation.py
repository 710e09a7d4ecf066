from pathlib import Path
from typing import Any

import pytest
import yaml
from stressreel.language.people import Cast
from stressreel.negatives.adaptation import parsed_alike
from stressreel.negatives.candidates import AdaptableTexts
from stressreel.negatives.confusion import Confuser
from stressreel.negatives.options import QuestionRow
from stressreel.negatives.roles import find_restated, read_roles

from .test_content_words import CASES as WORDS

NAMES = ("Tom", "Jerry", "Spike", "Butch", "Toodles", "Mammy Two Shoes")
FEMALE = ("toodles", "mammy two shoes")
CONFUSER = Confuser(Cast(NAMES, {name.lower(): "female" if name.lower() in FEMALE else "male" for name in NAMES}))
CASES = yaml.safe_load((Path(__file__).parent / "cases" / "adaptation.yaml").read_text(encoding="utf-8"))


def adapted(case: dict[str, Any]) -> str | None:
    """Adapt the donor's answer to the question of a case."""
    pairs = [case["donor"], [case["question"], "Nobody knows."], *CASES["sources"]]
    rows = [QuestionRow(str(place), asked, {"answer": answer}) for place, (asked, answer) in enumerate(pairs)]
    texts = AdaptableTexts(rows, CONFUSER, one_style=True)
    found = texts.adapted(0, 1, inject=case.get("inject", False), restate=case.get("restate", False))
    return found and found[0]


@pytest.mark.parametrize("case", [*CASES["adapted"], *CASES["refused"]], ids=lambda case: case.get("text", "refused"))
def test_an_answer_is_adapted_or_refused(case: dict[str, Any]) -> None:
    assert adapted(case) == case.get("text")


@pytest.mark.parametrize(("source", "result", "alike"), WORDS["parsed_alike"])
def test_texts_are_compared_by_their_parses(source: str, result: str, alike: bool) -> None:
    assert parsed_alike(CONFUSER.read(source), CONFUSER.read(result)) == alike


def test_well_formed_checks_every_text_of_a_row() -> None:
    row = QuestionRow("0", "Why did Tom hide?", {"answer": "Tom saw Spike.", "explanation": "Tom saw the cat run."})
    texts = AdaptableTexts([row], CONFUSER, one_style=True)
    assert texts.well_formed(0, ["Jerry saw Spike", "Jerry saw the cat run"])
    assert not texts.well_formed(0, ["Jerry saw Spike", "Jerry saw the duck hit run"])


@pytest.mark.parametrize(("question", "answer", "expected"), WORDS["restated"])
def test_restated_predicate_is_found(question: str, answer: str, expected: str | None) -> None:
    roles, caption = read_roles(CONFUSER.read(question), CONFUSER.cast), CONFUSER.read(answer)
    found = find_restated(caption, roles.predicate, roles.subject.key[-1])
    assert (found and caption.slice((found.first, found.stop - 1))) == expected


@pytest.mark.parametrize(("question", "verb", "rest"), WORDS["predicates"])
def test_questions_are_read(question: str, verb: str, rest: str) -> None:
    predicate = read_roles(CONFUSER.read(question), CONFUSER.cast).predicate
    assert (predicate.verb, predicate.rest) == (verb, rest)
