import pytest
from cases import read_cases
from stressreel.annotations.actions import Action

CASES = read_cases(__file__)


@pytest.mark.parametrize(
    ("asked", "phrase", "verb", "subject"), CASES["actions.the_subject_is_what_question_and_statement_begin_with"]
)
def test_the_subject_is_what_question_and_statement_begin_with(
    asked: str, phrase: str, verb: str, subject: str
) -> None:
    assert Action("k", "l", phrase, verb, frozenset(), asked=asked).subject == subject
