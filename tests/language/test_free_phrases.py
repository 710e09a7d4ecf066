"""Free phrases: who is asked about, golden wording, and answers to any text."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language import event_questions, phrases
from stressreel.language.event_questions import Event
from stressreel.language.free_phrases import free_phrase, free_phrase_identity
from stressreel.language.gerund_wording import Gerund

CASES = yaml.safe_load(Path(__file__).with_name("free_phrase_cases.yaml").read_text(encoding="utf-8"))
WORDS = st.sampled_from(
    sorted({word for rows in CASES.values() for text, *_ in rows for word in text.split()} | {",", "'s", "Tom", "and"})
)


@pytest.mark.parametrize(("text", "wanted"), CASES["people"])
def test_people_are_not_named(text: str, wanted: str) -> None:
    found = free_phrase(text)
    assert isinstance(found, Gerund), found
    assert found.phrase == wanted


@pytest.mark.parametrize(("text", "statement", "asked"), CASES["others"])
def test_animals_vehicles_and_names_are_asked_about(text: str, statement: str, asked: str) -> None:
    found = free_phrase(text)
    assert isinstance(found, Event), found
    assert (found.phrase, found.asked) == (statement, asked)
    assert found.phrase.startswith(found.subject)


@pytest.mark.parametrize(("text", "reason"), CASES["refused"])
def test_refusal(text: str, reason: str) -> None:
    assert free_phrase(text) == reason


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    found = free_phrase(text)
    assert not isinstance(found, str) or found in phrases.REASONS | event_questions.REASONS


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_words_are_answered(text: str) -> None:
    found = free_phrase(text)
    assert not isinstance(found, str) or found in phrases.REASONS | event_questions.REASONS
    assert not isinstance(found, Event) or found.asked.split()[0] in {"Did", "Was", "Were"}


def test_endless_text_is_long() -> None:
    assert free_phrase("x" * (phrases.LONGEST_TEXT + 1)) == "long"


def test_the_identity_names_its_word_lists() -> None:
    assert set(free_phrase_identity()) == {"clipped.yaml", "lexicon.yaml", "orders.yaml", "stories.yaml", "tagger"}
