"""The genders of people in captions."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from stressreel.corruptions.text import bias
from stressreel.corruptions.text.gender_words import gendered_nouns
from stressreel.corruptions.text.result import Unchanged
from stressreel.corruptions.text.tables import read_table
from stressreel.language.tagger import load_tagger

NAMES = ("all_female", "all_male", "gender_neutral", "gender_swap")
CASES = yaml.safe_load((Path(__file__).parent / "cases" / "bias.yaml").read_text(encoding="utf-8"))


def rewrite(name: str, text: str, mode: str = "stressreel", tagger: str = "auto") -> str | Unchanged:
    found: str | Unchanged = getattr(bias, name)(load_tagger(tagger).analyse(text), mode)
    return found


@pytest.mark.parametrize(
    "word", ["human", "manhole", "womanizer", "ladybug", "master", "heroic", "sunshine", "kingdom", "chess", "hershey"]
)
@pytest.mark.parametrize("name", NAMES)
def test_a_word_that_holds_a_gendered_one_stays(name: str, word: str) -> None:
    assert rewrite(name, f"the {word} is here") == Unchanged("nobody with a gender")


@pytest.mark.parametrize("phrase", read_table("bias")["protected"]["rows"])
def test_names_and_titles_stay(phrase: str) -> None:
    found = rewrite("gender_swap", f"this is {phrase}".replace(" 's", "'s"))
    assert found == Unchanged("nobody with a gender")


def pairs() -> list[tuple[str, str]]:
    """The nouns that are each other's first choice."""
    nouns = gendered_nouns()
    both = {(word, entry.become("swap")) for word, entry in nouns.items()}
    return sorted(pair for pair in both if pair[1] in nouns and nouns[pair[1]].become("swap") == pair[0])


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair[0])
def test_swapping_twice_gives_the_caption_back(pair: tuple[str, str]) -> None:
    text = f"the {pair[0]} is seen with his dog and her cat"
    once = rewrite("gender_swap", text)
    assert once == f"the {pair[1]} is seen with her dog and his cat"
    assert rewrite("gender_swap", str(once)) == text


def test_the_released_tables_are_repeated_faults_included() -> None:
    assert rewrite("all_male", "a male singer", "released") == "a female singer"
    assert rewrite("all_female", "a man, a boy", "released") == "a man, a girl"
    assert isinstance(rewrite("all_female", "a man.", "released"), Unchanged)
    assert isinstance(rewrite("gender_swap", "two actors and a policeman", "released"), Unchanged)
