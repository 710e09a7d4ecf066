"""Phrases of any timed annotation as gerunds: golden wording, and properties over any text."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.gerund_wording import Gerund
from stressreel.language.phrases import LONGEST, LONGEST_TEXT, REASONS, instruction, phrase, phrase_identity, said

CASES = yaml.safe_load(Path(__file__).with_name("phrase_cases.yaml").read_text(encoding="utf-8"))
TURNED = CASES["orders"] + CASES["gerunds"] + CASES["sentences"]
WORDS = st.sampled_from(
    sorted(
        {word for text, *_ in TURNED + CASES["refused"] for word in text.split()}
        | {
            "it",
            "them",
            "and",
            ",",
            "then",
            "can",
            "ground",
            "wrap",
            "until",
            "which",
            "a",
            "little",
            "bit",
            "not",
            "#",
        }
    )
)


def assert_sound(found: Gerund | str) -> None:
    """What must hold of every answer, whatever was given."""
    if isinstance(found, str):
        assert found in REASONS
        return
    assert re.match(r"(\w+ly )*[\w'’-]+ing\b", found.phrase), found
    assert found.phrase == " ".join(found.phrase.lower().split()).rstrip(".,!?;:"), found
    assert found.objects <= found.words, found
    assert found.verb
    assert not found.anaphoric
    assert len(found.phrase.split()) <= LONGEST


@pytest.mark.parametrize(("text", "wanted"), TURNED)
def test_wording(text: str, wanted: str) -> None:
    found = phrase(text)
    assert isinstance(found, Gerund), found
    assert found.phrase == wanted
    assert_sound(found)


@pytest.mark.parametrize(("text", "wanted"), CASES["orders"])
def test_an_order_is_the_same_where_only_orders_are(text: str, wanted: str) -> None:
    assert instruction(text) == phrase(text)


@pytest.mark.parametrize(("text", "wanted"), CASES["instructions"])
def test_instructions(text: str, wanted: str) -> None:
    found = instruction(text)
    assert isinstance(found, Gerund), found
    assert found.phrase == wanted
    assert_sound(found)


@pytest.mark.parametrize(("text", "wanted"), CASES["orders"])
def test_a_gerund_phrase_is_a_fixed_point(text: str, wanted: str) -> None:
    found = phrase(wanted)
    assert isinstance(found, Gerund), found
    assert found.phrase == wanted


@pytest.mark.parametrize(("text", "reason"), CASES["refused"])
def test_refusal(text: str, reason: str) -> None:
    assert phrase(text) == reason


def test_every_reason_has_a_case() -> None:
    assert phrase("add salt" + " and stir the soup" * 8) == phrase("x" * (LONGEST_TEXT + 1)) == "long"
    assert {reason for _, reason in CASES["refused"]} | {"long"} == set(REASONS)


@pytest.mark.parametrize(("text", "verb", "objects", "words"), CASES["content"])
def test_content(text: str, verb: str, objects: str, words: str) -> None:
    found = phrase(text)
    assert isinstance(found, Gerund), found
    assert (found.verb, set(found.objects), set(found.words)) == (verb, set(objects.split()), set(words.split()))


@pytest.mark.parametrize("text", ["  The dog  runs. ", "Tom opened the door!", "1/2 cup", "water boils"])
def test_as_is(text: str) -> None:
    found = phrase(text, as_is=True)
    assert isinstance(found, Gerund)
    assert found.phrase == " ".join(text.split()).rstrip(".!")
    assert found.verb
    assert found.objects <= found.words
    assert phrase(" . ", as_is=True) == "empty"


def test_what_was_refused_is_read_all_the_same() -> None:
    assert said("let the bowl cool down", "imperative") == ({"let"}, {"dish"})
    assert said("x" * (LONGEST_TEXT + 1)) == (set(), set())


@given(st.text(), st.booleans())
def test_any_text_is_answered(text: str, as_is: bool) -> None:
    found = phrase(text, as_is=as_is)
    if not as_is:
        assert_sound(found)
    assert_sound(instruction(text))
    said(text)


@settings(max_examples=400)
@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_any_words_are_answered(text: str) -> None:
    assert_sound(phrase(text))
    assert_sound(instruction(text))
    assert isinstance(phrase(text, as_is=True), Gerund | str)


def test_the_identity_names_its_word_lists() -> None:
    assert set(phrase_identity()) == {"clipped.yaml", "lexicon.yaml", "orders.yaml", "tagger"}
