import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language import phrases
from stressreel.language.phrases import LONGEST_TEXT, Gerund, gerund, instruction, phrase, verbs_and_nouns

GERUNDS, PHRASES = (
    yaml.safe_load((Path(__file__).parent / f"{name}_cases.yaml").read_text(encoding="utf-8"))
    for name in ("gerund", "phrase")
)
GENDERED = re.compile(
    r"(?<!-)\b(he|she|him|his|her|hers|himself|herself|m[ae]n|wom[ae]n|boys?|girls?|guys?|lad(y|ies)|fe?males?)\b(?!-)"
)
READERS: dict[str, tuple[Callable[[str], Any], dict[str, Any]]] = {
    "gerund": (gerund, GERUNDS),
    "phrase": (phrase, PHRASES | {"converted": PHRASES["orders"] + PHRASES["gerunds"] + PHRASES["sentences"]}),
}
of_both = pytest.mark.parametrize("reader", READERS)


def assert_sound(reader: str, found: Gerund | str) -> None:
    if isinstance(found, str):
        assert found in phrases.REASONS
        return
    assert found.phrase == " ".join(found.phrase.split()).rstrip(".,!?;:"), found
    assert found.objects <= found.words, found
    assert found.verb, found
    assert re.match(r"(\w+ly )*[\w'’-]+ing\b", found.phrase), found
    assert reader != "gerund" or not GENDERED.search(found.phrase), found
    assert reader != "phrase" or (not found.anaphoric and len(found.phrase.split()) <= phrases.LONGEST)


@pytest.mark.parametrize(
    ("reader", "case"), [(name, case) for name in READERS for case in READERS[name][1]["converted"]]
)
def test_wording(reader: str, case: list[str]) -> None:
    found = READERS[reader][0](case[0])
    assert found.phrase == case[1]
    assert_sound(reader, found)


@of_both
def test_refusals_and_content(reader: str) -> None:
    read, cases = READERS[reader]
    assert {text: read(text) for text, _ in cases["refused"]} == dict(cases["refused"])
    for text, verb, objects, words, *anaphoric in cases["content"]:
        found = read(text)
        assert (found.verb, found.objects, found.words) == (verb, set(objects.split()), set(words.split())), text
        assert [found.anaphoric] == (anaphoric or [False])


def test_pronoun_without_noun_is_anaphoric() -> None:
    for anaphoric, texts in GERUNDS["anaphoric"].items():
        assert {text: gerund(f"person {text}").anaphoric for text in texts} == dict.fromkeys(texts, anaphoric)


def test_orders_and_their_gerunds_stay_the_same() -> None:
    for text, wanted in PHRASES["orders"]:
        assert phrase(wanted) == "unclear" or phrase(wanted).phrase == wanted
        assert instruction(text) == phrase(text)
    assert [instruction(text).phrase for text, _ in PHRASES["instructions"]] == [
        row[1] for row in PHRASES["instructions"]
    ]


def test_long_glued_and_unchanged_texts() -> None:
    endless = "x" * (LONGEST_TEXT + 1)
    assert phrase("add salt" + " and stir the soup" * 8) == phrase(endless) == "long"
    assert verbs_and_nouns("let the bowl cool down", "imperative") == ({"let", "cool"}, {"dish"})
    assert verbs_and_nouns(endless) == (set(), set())
    assert {gerund(text) for text in ("BUG$he#", "bug+lady")} <= {*phrases.REASONS}  # with words for men and women
    assert phrase("  The dog  runs. ", as_is=True).phrase == "The dog runs"
    assert phrase(" . ", as_is=True) == "empty"


@of_both
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_words_are_answered(reader: str, data: st.DataObject) -> None:
    read, cases = READERS[reader]
    rows = cases["converted"] + cases["refused"]
    known = sorted({word for text, *_ in rows for word in text.split()} | {"her", "it", "them", "and", ",", "'s", "#"})
    assert_sound(reader, read(data.draw(st.text() | st.lists(st.sampled_from(known), max_size=14).map(" ".join))))


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
