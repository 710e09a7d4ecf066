import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language import phrases
from stressreel.language.phrases import (
    LONGEST_TEXT,
    Gerund,
    gerund,
    instruction,
    phrase,
    verbs_and_nouns,
)

FOLDER = Path(__file__).parent
GERUNDS, PHRASES = (
    yaml.safe_load((FOLDER / f"{name}_cases.yaml").read_text(encoding="utf-8")) for name in ("gerund", "phrase")
)
GENDERED = re.compile(
    r"(?<!-)\b(he|she|him|his|her|hers|himself|herself|m[ae]n|wom[ae]n|boys?|girls?|guys?|lad(y|ies)|fe?males?)\b(?!-)"
)


READERS: dict[str, tuple[Callable[[str], Any], dict[str, Any], dict[str, str]]] = {
    "gerund": (gerund, GERUNDS, phrases.REASONS),
    "phrase": (phrase, PHRASES, phrases.REASONS),
}
TURNED = {  # the tables of each reader's cases that name what a text becomes
    "gerund": GERUNDS["converted"],
    "phrase": PHRASES["orders"] + PHRASES["gerunds"] + PHRASES["sentences"],
}


def assert_sound(reader: str, found: Gerund | str) -> None:
    if isinstance(found, str):
        assert found in READERS[reader][2]
        return
    assert found.phrase == " ".join(found.phrase.split()).rstrip(".,!?;:"), found
    assert found.objects <= found.words, found
    assert found.verb, found
    assert re.match(r"(\w+ly )*[\w'’-]+ing\b", found.phrase), found
    assert reader != "gerund" or not GENDERED.search(found.phrase), found
    assert reader != "phrase" or (not found.anaphoric and len(found.phrase.split()) <= phrases.LONGEST)


@pytest.mark.parametrize(("reader", "case"), [(name, case) for name, rows in TURNED.items() for case in rows])
def test_wording(reader: str, case: list[str]) -> None:
    gerund_phrase = READERS[reader][0](case[0])
    assert gerund_phrase.phrase == case[1]
    assert_sound(reader, gerund_phrase)


@pytest.mark.parametrize(
    ("reader", "text", "reason"), [(name, *case) for name in READERS for case in READERS[name][1]["refused"]]
)
def test_refusal(reader: str, text: str, reason: str) -> None:
    assert READERS[reader][0](text) == reason


@pytest.mark.parametrize(
    ("reader", "case"), [(name, case) for name in READERS for case in READERS[name][1].get("content", ())]
)
def test_content(reader: str, case: list[Any]) -> None:
    text, verb, objects, words, *anaphoric = case
    content = READERS[reader][0](text)
    assert (content.verb, content.objects, content.words) == (verb, set(objects.split()), set(words.split()))
    assert not anaphoric or content.anaphoric == anaphoric[0]


@pytest.mark.parametrize("text", ["puts a blanket on it.", "takes some food out of it.", "looks at them.", "eats one."])
def test_pronoun_without_noun_is_anaphoric(text: str) -> None:
    assert gerund(f"person {text}").anaphoric


@pytest.mark.parametrize(
    "text", ["closes the door behind them.", "opens a box with clothes in it.", "takes a cup and drinks from it."]
)
def test_pronoun_with_noun_is_not_anaphoric(text: str) -> None:
    assert not gerund(f"person {text}").anaphoric


@pytest.mark.parametrize(("text", "wanted"), PHRASES["orders"])
def test_gerund_phrase_stays_the_same(text: str, wanted: str) -> None:
    assert phrase(wanted) == "unclear" or phrase(wanted).phrase == wanted
    assert instruction(text) == phrase(text)


@pytest.mark.parametrize(("text", "wanted"), PHRASES["instructions"])
def test_instructions(text: str, wanted: str) -> None:
    assert instruction(text).phrase == wanted


def test_as_is() -> None:
    assert phrase("  The dog  runs. ", as_is=True).phrase == "The dog runs"
    assert phrase(" . ", as_is=True) == "empty"


def test_long_texts_are_refused() -> None:
    endless = "x" * (LONGEST_TEXT + 1)
    assert phrase("add salt" + " and stir the soup" * 8) == phrase(endless) == "long"
    assert verbs_and_nouns("let the bowl cool down", "imperative") == ({"let", "cool"}, {"dish"})
    assert verbs_and_nouns(endless) == (set(), set())


@pytest.mark.parametrize("text", ["BUG$he#", "bug+lady"])
def test_glued_gendered_words_are_refused(text: str) -> None:
    assert gerund(text) in phrases.REASONS


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_words_are_answered(reader: str, data: st.DataObject) -> None:
    rows = TURNED[reader] + READERS[reader][1]["refused"]
    known = sorted({word for text, *_ in rows for word in text.split()} | {"her", "it", "them", "and", ",", "'s", "#"})
    drawn = st.one_of(st.text(), st.lists(st.sampled_from(known), max_size=14).map(" ".join))
    text = data.draw(drawn)
    assert_sound(reader, READERS[reader][0](text))


@pytest.mark.full
@pytest.mark.shared
def test_charades_sta(shared: Path) -> None:
    files = [shared / "data" / "charades_sta" / f"charades_sta_{part}.txt" for part in ("train", "test")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) == 16_128
    found = [gerund(line.split("##", 1)[1]) for line in lines]
    for answer in found:
        assert_sound("gerund", answer)
    assert sum(isinstance(answer, Gerund) for answer in found) >= 0.93 * len(found)
