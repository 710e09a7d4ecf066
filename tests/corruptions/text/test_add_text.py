"""Adverbs, openings and proverbs put into captions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from captions import STRIDES
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.seeds import rng_for
from stressreel.corruptions.text.add_text import append_irr, insert_adv
from stressreel.corruptions.text.result import Unchanged
from stressreel.corruptions.text.tables import read_table
from stressreel.language.tagger import load_tagger
from stressreel.language.words import StyleOption, tokenize

FUNCTIONS = {"insert_adv": insert_adv, "append_irr": append_irr}
CASES = yaml.safe_load((Path(__file__).parent / "cases" / "add_text.yaml").read_text(encoding="utf-8"))
TABLE = read_table("add_text")
ADVERBS = [*TABLE["general"]["rows"], *TABLE["action"]["rows"]]
OPENINGS, PROVERBS = TABLE["openings"]["rows"], TABLE["proverbs"]["rows"]


def change(name: str, text: str, seed: int = 0, style: StyleOption = "declarative", tagger: Any = "auto") -> Any:
    caption = load_tagger(tagger).analyse(text, style)
    return FUNCTIONS[name](caption, rng_for(seed, name, "case"))


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(name, row, id=f"{name}: {row['given'][:50]}") for name, rows in CASES.items() for row in rows],
)
@pytest.mark.parametrize("tagger", ["auto", "pattern"])
def test_case(name: str, case: dict[str, Any], tagger: str) -> None:
    wanted = case["expected"] if "expected" in case else Unchanged(case["unchanged"])
    assert change(name, case["given"], case["seed"], case.get("style", "declarative"), tagger) == wanted


def test_the_lists_are_long_and_hold_nothing_twice() -> None:
    for rows, least in ((ADVERBS, 60), (OPENINGS, 40), (PROVERBS, 40)):
        assert len(rows) >= least
        assert len(rows) == len(set(rows))
    assert all(adverb.endswith("ly") and adverb.islower() for adverb in ADVERBS)
    assert not any(text.endswith((".", ",")) for text in [*OPENINGS, *PROVERBS])
    assert all(text[0].isupper() for text in [*OPENINGS, *PROVERBS])
    assert all(part["source"] for name, part in TABLE.items() if name != "version")


def without_adverbs(text: str) -> str:
    return re.sub(rf"\b({'|'.join(ADVERBS)}) ", "", text, flags=re.IGNORECASE)


@pytest.mark.parametrize("seed", range(40))
def test_what_insert_adv_adds_is_one_adverb_for_each_verb(seed: int) -> None:
    text = "a man walks into a room and she sings while the dog is eating"
    found = change("insert_adv", text, seed)
    assert without_adverbs(found) == text
    added = re.findall(rf"\b({'|'.join(ADVERBS)})\b", found)
    assert len(added) == len(set(added)) == 3


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("a man is riding a horse", "riding"),
        ("a man has been riding a horse", "riding"),
        ("a man will ride a horse", "ride"),
        ("a man does not ride a horse", "ride"),
        ("a man didn't ride a horse", "ride"),
        ("a man wants a horse", "wants"),
        ("a horse is being ridden by a man", "ridden"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_the_adverb_stands_before_the_main_verb(text: str, before: str, seed: int) -> None:
    words = change("insert_adv", text, seed).split()
    assert len(words) == len(text.split()) + 1
    assert words[words.index(before) - 1] in ADVERBS


@pytest.mark.parametrize("seed", range(20))
def test_orders_and_states_have_their_own_adverbs(seed: int) -> None:
    order = change("insert_adv", "add the oil to the pan", seed, "imperative").split()[0]
    state = change("insert_adv", "a man has a beard", seed).split()[2]
    assert order in TABLE["action"]["rows"]
    assert state in TABLE["general"]["rows"]


@pytest.mark.parametrize("seed", range(30))
def test_a_proverb_follows_from_ten_tokens_on(seed: int) -> None:
    short, long = "one two three four five six seven eight nine", "one two three four five six seven eight nine ten"
    opening = change("append_irr", short, seed).removesuffix(f", {short}")
    assert opening in OPENINGS
    before, _, proverb = change("append_irr", long, seed).partition(f", {long}. ")
    assert before in OPENINGS
    assert proverb.removesuffix(".") in PROVERBS


@pytest.mark.parametrize("end", [".", "!", "?", "...", ".”"])
def test_a_final_mark_is_not_doubled(end: str) -> None:
    text = "one two three four five six seven eight nine ten" + end
    assert f"ten{end} " in change("append_irr", text)


def test_marks_alone_get_nothing() -> None:
    assert change("append_irr", "...") == Unchanged("no word")
    assert change("insert_adv", "...") == Unchanged("no verb")


def test_both_draw_from_all_they_have() -> None:
    generator = np.random.default_rng(1)
    caption = load_tagger("pattern").analyse("a girl does gymnastics with her friends in the big room today")
    texts = [append_irr(caption, generator) for _ in range(1500)]
    assert {str(text).split(", a girl")[0] for text in texts} == set(OPENINGS)
    assert {str(text).split("today. ")[1].removesuffix(".") for text in texts} == set(PROVERBS)
    adverbs = {str(insert_adv(caption, generator)).split()[2] for _ in range(1500)}
    assert adverbs == set(ADVERBS)


@given(st.text(max_size=60), st.sampled_from(["declarative", "imperative", "auto"]))
def test_any_text_keeps_its_words(text: str, style: StyleOption) -> None:
    caption = load_tagger("pattern").analyse(text, style)
    found = insert_adv(caption, np.random.default_rng(0))
    if isinstance(found, str):
        kept = [token.lower for token in tokenize(found) if token.lower not in ADVERBS]
        assert len(kept) >= len([token for token in caption.tokens if token.lower not in ADVERBS])
    other = append_irr(caption, np.random.default_rng(0))
    assert isinstance(other, Unchanged) == (not caption.words)


@pytest.mark.shared
@pytest.mark.parametrize("tagger", ["auto", "pattern"])
@pytest.mark.parametrize("source", ["msrvtt", "youcook2"])
@pytest.mark.parametrize("stride", STRIDES)
def test_real_captions(shared: Path, source: str, tagger: str, stride: int) -> None:
    style: StyleOption = "imperative" if source == "youcook2" else "declarative"
    if source == "msrvtt":
        rows = (shared / "data/msrvtt/MSRVTT_JSFUSION_test.csv").read_text(encoding="utf-8").splitlines()[1:]
        texts = [row.split(",")[3] for row in rows]
    else:
        content = json.loads((shared / "data/youcook2/youcookii_annotations_trainval.json").read_text("utf-8"))
        texts = [part["sentence"] for video in content["database"].values() for part in video["annotations"]]
    assert len(texts) == (1000 if source == "msrvtt" else 13829)
    changed, texts = 0, texts[::stride]
    for text in texts:
        found = change("insert_adv", text, tagger=tagger, style=style)
        if isinstance(found, str):
            changed += 1
            had = [word for word in tokenize(text) if word.lower in ADVERBS]
            added = [word for word in tokenize(found) if word.lower in ADVERBS]
            assert len(added) > len(had)
            assert not re.search(rf"\b(?:{'|'.join(ADVERBS)}) (?:{'|'.join(ADVERBS)})\b", found) or had
            assert found == change("insert_adv", text, tagger=tagger, style=style)
        longer = change("append_irr", text, tagger=tagger, style=style)
        assert longer.endswith(".") or len(tokenize(text)) < 10
    assert changed / len(texts) > 0.85
