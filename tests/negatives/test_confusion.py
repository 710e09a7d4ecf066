import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.people import Cast
from stressreel.language.words import text_key
from stressreel.negatives.confusion import KINDS, Confuser, Confusion, Unconfused
from stressreel.negatives.entities import confusion_table, entities

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "confusion.yaml").read_text(encoding="utf-8"))
CAST = Cast(tuple(CASES["cast"]), CASES["genders"])
CONFUSER = Confuser(CAST)


def texts_of(found: Confusion | Unconfused) -> str | None:
    return found.text if isinstance(found, Confusion) else None


@pytest.mark.parametrize(
    ("kind", "right", "wanted"), [(kind, *case) for kind in KINDS for case in (*CASES[kind], *CASES[f"{kind}_one_way"])]
)
def test_wording(kind: str, right: str, wanted: str | None) -> None:
    found = CONFUSER.negation(right) if kind == "negation" else CONFUSER.swap(right)
    assert texts_of(found) == wanted
    assert found.kind == kind
    if isinstance(found, Unconfused):
        assert found.reason


@pytest.mark.parametrize("right", [right for right, wanted in CASES["swap"] if wanted])
def test_second_swap_undoes_first(right: str) -> None:
    found = CONFUSER.swap(right)
    assert text_key(CONFUSER.swap(found.text).text) == text_key(right)


def test_reasons_make_negations_ambiguous() -> None:
    assert "reason" in CONFUSER.negation("Tom jumped in pain because Jerry poked Tom.").ambiguous
    assert not CONFUSER.negation("Tom jumped in pain.").ambiguous


@given(st.text(max_size=60))
def test_any_text_is_confused_or_refused(text: str) -> None:
    for found in (CONFUSER.negation(text), CONFUSER.swap(text)):
        if isinstance(found, Confusion):
            assert text_key(found.text) != text_key(text)
        else:
            assert found.reason


def test_name_takes_who_instead_of_that() -> None:
    assert texts_of(CONFUSER.swap("Tom saw the fish that Jerry held.")) == "The fish saw Tom who Jerry held."
    told = CONFUSER.swap("Tom told the fish that Nibbles was there.")
    assert texts_of(told) == "The fish told Tom that Nibbles was there."


@pytest.mark.parametrize("right", ["Tom ran after Jerry and Jerry hid.", "Tom hit Jerry, and Jerry was angry."])
def test_clauses_do_not_join_characters(right: str) -> None:
    keys = [entity.key for entity in entities(CONFUSER.read(right), CAST)]
    assert all(len(key) == 1 for key in keys)
    made = texts_of(CONFUSER.swap(right))
    assert made is None or not re.search(r"(\w+) and \1 (?:was|were) ", made)


def test_refusals_have_reasons() -> None:
    reasons = {
        "Tom and Jerry saw Spike and hit each other.": "both sides do the same",
        "Jerry and Lilli were hiding from Tom.": 'it is not certain who is joined by "and" or "or"',
        "Tom and Jerry wanted Spike to think that Tom was ill.": "somebody is named alone and with others",
        "Tom wanted to eat the fish he had.": "a clause behind says who is meant",
        "Tom and Jerry sat between Spike.": "what is said holds of several only",
    }
    found = {right: CONFUSER.swap(right) for right in reasons}
    assert found == {right: Unconfused("swap", reason) for right, reason in reasons.items()}
    assert CONFUSER.negation("Tom did not find nothing.") == Unconfused("negation", "it is negated twice")
    assert CONFUSER.negation("Tom took a bite of nothing.") == Unconfused("negation", 'it says "nothing"')


def test_no_word_has_two_genders() -> None:
    table = confusion_table()
    assert not table["female"] & table["male"]
    assert table["female"] <= table["animate"]
    assert table["male"] <= table["animate"]
