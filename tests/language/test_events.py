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


def read(text: str) -> Any:
    return event(text, CAST) if text.lower().startswith(("why", "?")) else free_phrase(text)


@pytest.mark.parametrize("case", CASES["asked"] + CASES["told"])
def test_wording(case: list[str]) -> None:
    found = read(case[0])
    assert isinstance(found, Event), found
    assert [found.phrase, found.question] == case[1:]
    assert found.phrase.startswith(found.subject)
    assert found.objects <= found.words


@pytest.mark.parametrize(("text", "reason"), CASES["refused"])
def test_refusal(text: str, reason: str) -> None:
    assert read(text) == reason
    assert reason in {**events.REASONS, **phrases.REASONS}


@pytest.mark.parametrize("case", CASES["content"])
def test_content(case: list[str]) -> None:
    found = read(case[0])
    assert [found.verb, set(found.objects), set(found.words)] == [case[1], set(case[2].split()), set(case[3].split())]


def test_names_are_written_as_in_cast() -> None:
    assert event("why did spike chase tom?", Cast(("Spike", "Tom"))).phrase == "Spike chased Tom"
    assert event("why did spike pat the tiny mouse?", Cast(("Spike", "Tiny"))).phrase == "Spike patted the tiny mouse"
    assert free_phrase("a person opens the door").phrase == "opening the door"


WORDS = sorted(
    {word for row in CASES["told"] + CASES["asked"] for word in row[0].split()} | {"it", "'s", ",", "?", "."}
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
def test_any_words_are_answered(text: str) -> None:
    for found in (event(f"Why did {text}", CAST), event(f"Why was {text}", CAST)):
        if isinstance(found, Event):
            assert found.question[0].isupper()
            assert found.phrase.startswith(found.subject)
        elif isinstance(found, str):
            assert found in {**events.REASONS, **phrases.REASONS}
