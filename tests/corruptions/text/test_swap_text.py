from itertools import pairwise
from pathlib import Path

import pytest
from captions import perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.corruptions.registry import TextResult, text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.lexical import names
from stressreel.corruptions.text.swap_text import multi_pos_words
from stressreel.corruptions.text.tools import Tools
from stressreel.language.wordnet import load_wordnet
from stressreel.language.words import tokenize


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_nouns_that_cannot_be_counted_do_not_stand_behind_a(seed: int) -> None:
    found = perturb("multi_pos_swap_nn", "a man rides a horse on stage and a group of people are singing", seed=seed)
    words = [token.lower for token in tokenize(found.text)]
    uncounted = names("multi_pos", "uncounted") | (names("multi_pos", "mass_nouns") - names("multi_pos", "counted_too"))
    assert not any(article in ("a", "an") and word in uncounted for article, word in pairwise(words)), found.text
    assert "group of people are" in found.text


def test_a_glove_file_takes_the_place_of_the_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = ("sofa 1 0 0", "chair 1 0 0.01", "couch 1 0.1 0", "car 0 1 0", "sofas 1 0 0")
    (tmp_path / "glove.txt").write_text("\n".join(rows) + "\n")
    recipe = TextRecipe(text_corruptions()["swap_syn_word_embedding"], 0, "k")
    found = recipe.apply("two sofas are here", Tools(glove=str(tmp_path / "glove.txt")))
    assert found == TextResult("two couches are here", True)


class Masked(Tools):
    """Suggests one word, and notes what it is asked."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        self.asked.append((before, after))
        return ("chair",)


def test_later_masks_see_earlier_suggestions() -> None:
    Masked.asked.clear()
    text = "the man and the dog and the cat and the house and the car"
    recipe = TextRecipe(text_corruptions()["mlm_suggestion"], 0, "k")
    found = recipe.apply(text, Masked("pattern"))
    assert found.text.count("chair") == int(0.2 * len(text.split()))
    before, after = Masked.asked[-1]
    assert (before + after).count("chair") == 1
    assert before + "chair" + after == found.text


# What WordNet says


def test_words_of_several_parts_of_speech_are_most_often_of_the_wanted_one() -> None:
    found = multi_pos_words(load_wordnet(), "n")
    assert "output" in found
    assert not {"walk", "man"} & set(found)  # "walk" is more often a verb, "man" only a noun
