"""Why-questions as events: golden wording, and properties over any text."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.cast import Cast
from stressreel.language.event_questions import LONGEST, REASONS, Event, event, event_identity

CASES = yaml.safe_load(Path(__file__).with_name("event_cases.yaml").read_text(encoding="utf-8"))
CAST = Cast(("Tom", "Jerry", "Pip", "Bramble"), {"pip": "male", "bramble": "male", "tom": "male", "jerry": "male"})
WORDS = st.sampled_from(
    sorted(
        {word for question, *_ in CASES["converted"] + CASES["refused"] for word in question.split()}
        | {"his", "her", "it", "them", "and", ",", "'s", "not", "when", "after", "to", "there", "being", "."}
    )
)


def assert_sound(found: Event | str) -> None:
    """What must hold of every answer, whatever was asked."""
    if isinstance(found, str):
        assert found in REASONS
        return
    assert found.phrase.startswith(found.subject), found
    assert found.objects <= found.words, found
    assert found.verb
    assert found.asked[0].isupper()
    assert len(found.phrase.split()) <= LONGEST
    for text in (found.phrase, found.asked):
        assert text == " ".join(text.split()).rstrip(".?!,;:"), found


@pytest.mark.parametrize(("question", "phrase", "asked"), CASES["converted"])
def test_wording(question: str, phrase: str, asked: str) -> None:
    found = event(question, CAST)
    assert isinstance(found, Event), found
    assert (found.phrase, found.asked) == (phrase, asked)
    assert_sound(found)


@pytest.mark.parametrize(("question", "reason"), CASES["refused"])
def test_refusal(question: str, reason: str) -> None:
    assert event(question, CAST) == reason


def test_every_reason_has_a_case() -> None:
    assert {reason for _, reason in CASES["refused"]} == set(REASONS)


@pytest.mark.parametrize(("question", "verb", "objects", "words"), CASES["content"])
def test_content(question: str, verb: str, objects: str, words: str) -> None:
    found = event(question, CAST)
    assert isinstance(found, Event), found
    assert (found.verb, set(found.objects), set(found.words)) == (verb, set(objects.split()), set(words.split()))


def test_names_are_written_as_in_the_cast() -> None:
    found = event("why did tom and jerry shake hands with the tom doll", CAST)
    assert isinstance(found, Event)
    assert found.phrase == "Tom and Jerry shook hands with the tom doll"


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert_sound(event(text, CAST))
    assert_sound(event(f"Why did {text}", CAST))


@settings(max_examples=400)
@given(st.sampled_from(["did", "was", "were", "has", "does"]), st.lists(WORDS, max_size=12).map(" ".join))
def test_any_words_are_answered(auxiliary: str, text: str) -> None:
    assert_sound(event(f"Why {auxiliary} {text}?", CAST))
    assert_sound(event(f"why {auxiliary} {text}"))


@given(st.sampled_from([question for question, *_ in CASES["converted"]]))
def test_small_letters_and_stops_do_not_matter(question: str) -> None:
    assert event(f" {question.lower().rstrip('?').replace(' ', '  ')} .", CAST) == event(question, CAST)


def test_the_identity_names_its_word_lists() -> None:
    assert set(event_identity()) == {"clipped.yaml", "lexicon.yaml", "stories.yaml", "tagger"}
