from itertools import pairwise
from pathlib import Path

import pytest
from captions import perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.lexical import names
from stressreel.corruptions.text.multi_pos import multi_pos_words
from stressreel.corruptions.text.result import TextResult
from stressreel.corruptions.text.synonyms import embedding_neighbours, wordnet_synonyms
from stressreel.corruptions.text.tables import read_table
from stressreel.corruptions.text.tools import Tools
from stressreel.language.wordnet import POSES, WordNet, load_wordnet
from stressreel.language.words import tokenize

TABLE = read_table("swap_text")


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
    found = recipe.apply("two sofas stand", Tools("pattern", glove=str(tmp_path / "glove.txt")))
    assert found == TextResult("two couches stand", True)


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


def ready(name: str) -> None:
    """Skip the test if what a perturbation needs beside WordNet is not here."""
    try:
        Tools(tagger_kind="pattern").check([text_corruptions()[name]])
    except InputError as missing:
        pytest.skip(str(missing))


@pytest.mark.full
@pytest.mark.usefixtures("real_wordnet")
class TestRealWordNet:
    def test_chosen_synonyms_are_wordnets(self, real_wordnet: WordNet) -> None:
        others = set()
        for pos in POSES:
            for lemma, chosen in TABLE["synonyms"]["chosen"][pos].items():
                every: set[str] = set()
                for sense in range(80):
                    every |= {synonym.name for synonym in real_wordnet.synonyms(lemma, pos, sense)}
                assert real_wordnet.has(lemma, pos), lemma
                others |= {(lemma, name) for name in (chosen or "").split() if name.replace("_", " ") not in every}
        # In WordNet these are kinds of men and women; its synonym "adult male" reads like a police report.
        assert others == {("man", "guy"), ("woman", "lady")}

    def test_the_words_of_several_parts_of_speech_are_common_and_harmless(self, real_wordnet: WordNet) -> None:
        nouns, adjectives = multi_pos_words(real_wordnet, "n"), multi_pos_words(real_wordnet, "a")
        assert "output" in nouns, "the paper's example"
        assert len(nouns) > 500
        assert len(adjectives) > 200
        for pos, pool in (("n", nouns), ("a", adjectives)):
            assert all(real_wordnet.count(word, pos) and real_wordnet.parts(word) - {pos} for word in pool)
            assert not set(pool) & names("sensitive")
        assert names("multi_pos", "mass_nouns") <= set(nouns)
        assert not names("multi_pos", "no_nouns") & set(nouns)

    def test_synonyms_are_of_the_most_frequent_sense_and_no_forms_of_the_word(self, real_wordnet: WordNet) -> None:
        for word, pos in (("sofa", "n"), ("snake", "n"), ("wander", "v"), ("completely", "r"), ("huge", "a")):
            found = wordnet_synonyms(real_wordnet, word, pos)
            first = {synonym.name for synonym in real_wordnet.synonyms(word, pos)}
            assert found
            assert set(found) <= first
        assert wordnet_synonyms(real_wordnet, "talk", "n") == (), "talking"

    def test_neighbours_are_no_forms_opposites_or_words_of_the_other_sex(self) -> None:
        ready("swap_syn_word_embedding")
        tools = Tools()
        assert "large" not in embedding_neighbours(tools, "small", "a")
        assert not {"woman", "lady", "girl"} & set(embedding_neighbours(tools, "man", "n"))
        assert not {"men", "dogs", "doggy"} & {w for x in ("man", "dog") for w in embedding_neighbours(tools, x, "n")}
        assert embedding_neighbours(tools, "bicycle", "n")[0] == "bike"
        assert embedding_neighbours(tools, "blorf", "n") == ()
