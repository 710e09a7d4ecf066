"""Captions as gerund phrases: golden wording, properties over any text, and all of Charades-STA."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from captions import STRIDES
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.gerund_wording import Gerund
from stressreel.language.gerunds import REASONS, gerund

CASES = yaml.safe_load(Path(__file__).with_name("gerund_cases.yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).parents[2]
GENDERED = re.compile(
    r"\b(he|she|him|his|her|hers|himself|herself|m[ae]n|wom[ae]n|boys?|girls?|guys?|lad(y|ies)|fe?males?)\b"
)
PEOPLE = ["he", "she", "her", "his", "him", "man", "woman's", "men", "girl-like", "he's", ",", ".", "and", "they", "#1"]
WORDS = st.sampled_from(
    sorted({word for sentence, _ in CASES["converted"] + CASES["refused"] for word in sentence.split()} | set(PEOPLE))
)


def assert_sound(found: Gerund | str) -> None:
    """What must hold of every answer, whatever was asked."""
    if isinstance(found, str):
        assert found in REASONS
        return
    assert re.match(r"[a-z]+ing\b", found.phrase), found
    assert not GENDERED.search(found.phrase), found
    assert found.phrase == " ".join(found.phrase.lower().split()).rstrip(".,!?;:"), found
    assert found.objects <= found.words, found
    assert found.verb, found


@pytest.mark.parametrize(("sentence", "phrase"), CASES["converted"])
def test_phrase(sentence: str, phrase: str) -> None:
    found = gerund(sentence)
    assert isinstance(found, Gerund), found
    assert found.phrase == phrase
    assert_sound(found)


@pytest.mark.parametrize(("sentence", "reason"), CASES["refused"])
def test_refusal(sentence: str, reason: str) -> None:
    assert gerund(sentence) == reason
    assert reason in REASONS


def test_every_reason_has_a_case() -> None:
    assert {reason for _, reason in CASES["refused"]} == set(REASONS)


@pytest.mark.parametrize(("sentence", "verb", "objects", "words", "anaphoric"), CASES["content"])
def test_content(sentence: str, verb: str, objects: str, words: str, anaphoric: bool) -> None:
    found = gerund(sentence)
    assert isinstance(found, Gerund), found
    assert (found.verb, found.anaphoric) == (verb, anaphoric)
    assert (set(found.objects), set(found.words)) == (set(objects.split()), set(words.split()))


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("person puts a blanket on it.", True),
        ("person takes a picture of it with a camera.", True),
        ("person sit down at a table with it.", True),
        ("person decides on eating in there instead.", True),
        ("sneezing as the person does so.", True),
        ("person opens a box with clothes in it.", False),
        ("person opens a laptop to work on it.", False),
        ("person takes a cup and drinks from it.", False),
        ("person throws a blanket off of them.", False),
    ],
)
def test_a_phrase_that_leans_on_a_sentence_before_it_is_marked(sentence: str, leans: bool) -> None:
    found = gerund(sentence)
    assert isinstance(found, Gerund), found
    assert found.anaphoric == leans


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert_sound(gerund(text))


@settings(max_examples=400)
@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_any_words_are_answered(text: str) -> None:
    assert_sound(gerund(text))


@given(st.sampled_from([sentence for sentence, _ in CASES["converted"]]))
def test_case_spacing_and_stop_do_not_matter(sentence: str) -> None:
    assert gerund(f"  {sentence.rstrip('.').upper().replace(' ', '  ')} !") == gerund(sentence)


@given(st.sampled_from([phrase for _, phrase in CASES["converted"]]))
def test_a_phrase_stays_itself_with_a_subject(phrase: str) -> None:
    found = gerund(f"The person is {phrase}.")
    assert isinstance(found, Gerund)
    assert found.phrase == phrase


def test_the_dictionary_is_loaded_at_the_first_sentence_only() -> None:
    check = "import sys, stressreel.language.gerunds; sys.exit('lemminflect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False, cwd=ROOT.parent).returncode == 0


@pytest.mark.shared
@pytest.mark.parametrize("stride", STRIDES)
def test_charades_sta(shared: Path, stride: int) -> None:
    folder = shared / "data" / "charades_sta"
    files = [folder / f"charades_sta_{part}.txt" for part in ("train", "test")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) == 16_128
    found = [gerund(line.split("##", 1)[1]) for line in lines[::stride]]
    for answer in found:
        assert_sound(answer)
    assert sum(isinstance(answer, Gerund) for answer in found) >= 0.98 * len(found)
