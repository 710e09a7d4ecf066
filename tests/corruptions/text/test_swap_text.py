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
def test_uncounted_nouns_do_not_follow_articles(seed: int) -> None:
    result = perturb("multi_pos_swap_nn", "a man rides a horse on stage and a group of people are singing", seed=seed)
    words = [token.lower for token in tokenize(result.text)]
    uncounted = names("multi_pos", "uncounted") | (names("multi_pos", "mass_nouns") - names("multi_pos", "counted_too"))
    assert not any(article in ("a", "an") and word in uncounted for article, word in pairwise(words)), result.text
    assert "group of people are" in result.text


def test_replacements_are_mostly_nouns() -> None:
    words = multi_pos_words(load_wordnet(), "n")
    assert "output" in words
    assert not {"walk", "man"} & set(words)  # "walk" is more often a verb, "man" only a noun


def test_glove_replaces_the_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = ("sofa 1 0 0", "chair 1 0 0.01", "couch 1 0.1 0", "car 0 1 0", "sofas 1 0 0")
    (tmp_path / "glove.txt").write_text("\n".join(rows) + "\n")
    recipe = TextRecipe(text_corruptions()["swap_syn_word_embedding"], 0, "k")
    result = recipe.apply("two sofas are here", Tools(glove=str(tmp_path / "glove.txt")))
    assert result == TextResult("two couches are here", True)


def test_later_masks_see_earlier_suggestions(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = []
    monkeypatch.setattr(Tools, "suggest", lambda self, *context: contexts.append(context) or ("chair",))
    text = "the man and the dog and the cat and the house and the car"
    result = TextRecipe(text_corruptions()["mlm_suggestion"], 0, "k").apply(text, Tools())
    assert result.text.count("chair") == int(0.2 * len(text.split()))
    before, after, _ = contexts[-1]
    assert (before + after).count("chair") == 1
    assert before + "chair" + after == result.text
