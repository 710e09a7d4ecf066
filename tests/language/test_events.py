from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language import events, phrases
from stressreel.language.events import Event, event, free_phrase
from stressreel.language.people import Cast

CASES = yaml.safe_load((Path(__file__).parent / "event_cases.yaml").read_text(encoding="utf-8"))
CAST = Cast(("Tom", "Jerry", "Pip", "Bramble"), {"pip": "male", "bramble": "male", "tom": "male", "jerry": "male"})
WORDS = sorted({word for case in CASES["told"] + CASES["asked"] for word in case[0].split()} | {"it", "'s", ",", "."})


def read(text: str) -> Any:
    return event(text, CAST) if text.lower().startswith(("why", "?")) else free_phrase(text)


def assert_sound(found: Any) -> None:
    if isinstance(found, str):
        assert found in {**events.REASONS, **phrases.REASONS}
    elif isinstance(found, Event):
        assert found.question[0].isupper()
        assert found.phrase.startswith(found.subject)
        assert found.objects <= found.words


@pytest.mark.parametrize("case", CASES["asked"] + CASES["told"])
def test_wording(case: list[str]) -> None:
    found = read(case[0])
    assert [found.phrase, found.question] == case[1:]
    assert_sound(found)


def test_refusals_and_content() -> None:
    assert {text: read(text) for text, _ in CASES["refused"]} == dict(CASES["refused"])
    for question, verb, objects, words in CASES["content"]:
        found = read(question)
        assert (found.verb, found.objects, found.words) == (verb, {*objects.split()}, {*words.split()})


def test_names_are_written_as_in_cast() -> None:
    assert event("why did spike chase tom?", Cast(("Spike", "Tom"))).phrase == "Spike chased Tom"
    assert event("why did spike pat the tiny mouse?", Cast(("Spike", "Tiny"))).phrase == "Spike patted the tiny mouse"
    assert free_phrase("a person opens the door").phrase == "opening the door"


@settings(max_examples=40, deadline=None)
@given(st.text() | st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_any_words_are_answered(text: str) -> None:
    for opening in ("did", "was"):
        assert_sound(event(f"Why {opening} {text}", CAST))
