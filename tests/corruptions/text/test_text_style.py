from typing import Any

import numpy as np
import pytest
from captions import Row, cases, check_case, perturb
from stressreel.corruptions.text.result import Unchanged
from stressreel.corruptions.text.tables import read_table
from stressreel.corruptions.text.text_style import casual, formal, reverse_neg, tense
from stressreel.language.inflection import inflect
from stressreel.language.tagger import load_tagger

NAMES = ("active_to_passive", "reverse_neg", "tense", "formal", "casual")
TAGGER = load_tagger("pattern")


@pytest.mark.parametrize(("name", "case"), cases("text_style"))
def test_cases(name: str, case: dict[str, Any]) -> None:
    check_case(name, case)


@pytest.mark.parametrize("register", ["formal", "casual"])
def test_no_word_of_a_register_is_exchanged_for_itself_or_back(register: str) -> None:
    table = read_table("text_style")[register]
    assert table["source"]
    for part in ("phrases", "nouns", "verbs", "adjectives", "adverbs"):
        for old, new in table[part].items():
            assert old.partition(" +")[0] != new
            assert isinstance(new, str)


def test_registers_do_not_share_what_they_give() -> None:
    """What one calls talk the other does not call a report."""
    table = read_table("text_style")
    for part in ("nouns", "verbs", "adjectives", "adverbs"):
        assert not set(table["formal"][part].values()) & set(table["casual"][part].values())


def test_every_verb_of_the_tables_can_be_inflected() -> None:
    table = read_table("text_style")
    for register in ("formal", "casual"):
        for new in table[register]["verbs"].values():
            assert inflect(new, "VBG").split()[0].endswith("ing")
            assert inflect(new, "VBZ").split()[0].endswith("s")


@pytest.mark.parametrize("text", ["a man rides a horse", "dogs are barking", "she has eaten", "man riding a horse"])
def test_a_negation_is_taken_back(text: str) -> None:
    negated = reverse_neg(TAGGER.analyse(text))
    assert isinstance(negated, str)
    assert " not " in negated
    assert reverse_neg(TAGGER.analyse(negated)) == text


def test_all_verbs_of_a_time_change_together() -> None:
    text = "a woman is cooking food while a man who is hungry is setting a table"
    assert tense(TAGGER.analyse(text)) == "a woman was cooking food while a man who was hungry was setting a table"


def test_no_words() -> None:
    empty = TAGGER.analyse("...")
    assert formal(empty) == Unchanged("no word")
    assert casual(empty, np.random.default_rng(0)) == Unchanged("no word")


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_real_captions(name: str, real_captions: tuple[Row, ...]) -> None:
    least = {"active_to_passive": 0.2, "reverse_neg": 0.9, "tense": 0.85, "formal": 0.99, "casual": 0.99}
    changed, total = 0, 0
    for style, key, text in real_captions:
        found = perturb(name, text, style=style, key=key)
        assert found.changed == (found.text != text)
        assert bool(found.reason) != found.changed
        assert found.reason != "it gives the same words", text
        assert found.text == found.text.strip() or text != text.strip()
        if found.changed:
            assert "  " not in found.text or "  " in text
        if style == "declarative":
            changed, total = changed + found.changed, total + 1
    assert changed / total >= least[name]
