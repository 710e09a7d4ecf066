"""Adverbs, openings and proverbs put into captions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from stressreel.core.seeds import rng_for
from stressreel.corruptions.text.add_text import append_irr, insert_adv
from stressreel.corruptions.text.tables import read_table
from stressreel.language.tagger import load_tagger
from stressreel.language.words import StyleOption

FUNCTIONS = {"insert_adv": insert_adv, "append_irr": append_irr}
CASES = yaml.safe_load((Path(__file__).parent / "cases" / "add_text.yaml").read_text(encoding="utf-8"))
TABLE = read_table("add_text")
ADVERBS = [*TABLE["general"]["rows"], *TABLE["action"]["rows"]]
OPENINGS, PROVERBS = TABLE["openings"]["rows"], TABLE["proverbs"]["rows"]


def change(name: str, text: str, seed: int = 0, style: StyleOption = "declarative", tagger: Any = "auto") -> Any:
    caption = load_tagger(tagger).analyse(text, style)
    return FUNCTIONS[name](caption, rng_for(seed, name, "case"))


@pytest.mark.parametrize("seed", range(30))
def test_a_proverb_follows_from_ten_tokens_on(seed: int) -> None:
    short, long = "one two three four five six seven eight nine", "one two three four five six seven eight nine ten"
    opening = change("append_irr", short, seed).removesuffix(f", {short}")
    assert opening in OPENINGS
    before, _, proverb = change("append_irr", long, seed).partition(f", {long}. ")
    assert before in OPENINGS
    assert proverb.removesuffix(".") in PROVERBS


def test_both_draw_from_all_they_have() -> None:
    generator = np.random.default_rng(1)
    caption = load_tagger("pattern").analyse("a girl does gymnastics with her friends in the big room today")
    texts = [append_irr(caption, generator) for _ in range(1500)]
    assert {str(text).split(", a girl")[0] for text in texts} == set(OPENINGS)
    assert {str(text).split("today. ")[1].removesuffix(".") for text in texts} == set(PROVERBS)
    adverbs = {str(insert_adv(caption, generator)).split()[2] for _ in range(1500)}
    assert adverbs == set(ADVERBS)
