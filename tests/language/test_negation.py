from contextlib import suppress

import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.grammar import Refused
from stressreel.language.negation import main_verb, negation_of, reverse_negation, with_negation, without_negation
from stressreel.language.parse import parse

CASES = read_cases(__file__)
WORDS = "a the man women dog is are not riding rides ride rode picks up ball and who that by of , . to her no eaten"


@pytest.mark.parametrize(("text", "expected"), CASES["negation.negated"] + CASES["negation.negated_and_back"])
def test_negated(text: str, expected: str) -> None:
    caption, again = parse(text), parse(expected)
    assert caption.edit(*with_negation(caption, main_verb(caption))) == expected
    with pytest.raises(Refused, match="already"):
        with_negation(again, main_verb(again))
    if [text, expected] in CASES["negation.negated_and_back"]:
        assert again.edit(*without_negation(again, negation_of(again, main_verb(again)))) == text


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_words_are_negated_or_refused(text: str) -> None:
    with suppress(Refused):
        assert reverse_negation(parse(text)) != text
