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
WAYS = {"negation": CONFUSER.negation, "swap": CONFUSER.swap}


def text_of(found: Confusion | Unconfused) -> str | None:
    return found.text if isinstance(found, Confusion) else None


@pytest.mark.parametrize(
    ("kind", "right", "wanted"), [(kind, *case) for kind in KINDS for case in (*CASES[kind], *CASES[f"{kind}_one_way"])]
)
def test_wording(kind: str, right: str, wanted: str | None) -> None:
    found = WAYS[kind](right)
    assert (found.kind, text_of(found)) == (kind, wanted)


@pytest.mark.parametrize("right", [right for right, wanted in CASES["swap"] if wanted])
def test_second_swap_undoes_first(right: str) -> None:
    assert text_key(CONFUSER.swap(CONFUSER.swap(right).text).text) == text_key(right)


@pytest.mark.parametrize(("kind", "right", "reason"), CASES["reasons"])
def test_refusals_have_reasons(kind: str, right: str, reason: str) -> None:
    assert WAYS[kind](right) == Unconfused(kind, reason)


def test_reasons_make_negations_ambiguous() -> None:
    assert "reason" in CONFUSER.negation("Tom jumped in pain because Jerry poked Tom.").ambiguous
    assert not CONFUSER.negation("Tom jumped in pain.").ambiguous


@given(st.text(max_size=60))
def test_any_text_is_confused_or_refused(text: str) -> None:
    for found in (CONFUSER.negation(text), CONFUSER.swap(text)):
        assert text_key(found.text) != text_key(text) if isinstance(found, Confusion) else found.reason


@pytest.mark.parametrize("right", ["Tom ran after Jerry and Jerry hid.", "Tom hit Jerry, and Jerry was angry."])
def test_clauses_do_not_join_characters(right: str) -> None:
    assert all(len(entity.key) == 1 for entity in entities(CONFUSER.read(right), CAST))
    assert not re.search(r"(\w+) and \1 (?:was|were) ", text_of(CONFUSER.swap(right)) or "")


def test_no_word_has_two_genders() -> None:
    table = confusion_table()
    assert not table["female"] & table["male"]
    assert table["female"] | table["male"] <= table["animate"]
