from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from captions import CASES, Row, cases, check_case, perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import select_text_corruptions, text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.lexical import names
from stressreel.corruptions.text.multi_pos import multi_pos_words
from stressreel.corruptions.text.result import TextResult
from stressreel.corruptions.text.synonyms import embedding_neighbours, wordnet_synonyms
from stressreel.corruptions.text.tables import read_table
from stressreel.corruptions.text.tools import Tools
from stressreel.language.inflection import readings
from stressreel.language.wordnet import POSES, WordNet
from stressreel.language.words import tokenize

TABLE = read_table("swap_text")
WITH_WORDNET = [c.name for c in select_text_corruptions(["swap_text"]) if "wordnet" in c.needs]
SHARES = {"swap_syn_wordnet": 0.1, "swap_syn_word_embedding": 0.1}


@dataclass(frozen=True)
class Said(Tools):
    """Tools whose models say what a case says."""

    suggested: str = ""
    translation: str = ""

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        return tuple(self.suggested.split())[:count]

    def translate_back(self, text: str) -> str:
        return self.translation


@pytest.mark.parametrize(("name", "case"), [each for each in cases("swap_text") if each[0] not in WITH_WORDNET])
def test_cases_of_models(name: str, case: dict[str, Any]) -> None:
    tools = Said("pattern", suggested=case.get("suggested", ""), translation=case.get("translation", ""))
    recipe = TextRecipe(text_corruptions()[name], case.get("seed", 0), "case", case.get("style", "declarative"))
    changed = "expected" in case
    expected = TextResult(case.get("expected", case["given"]), changed, case.get("unchanged", ""))
    assert recipe.apply(case["given"], tools) == expected


def test_there_are_enough_cases() -> None:
    found = [name for name, _ in cases("swap_text")]
    assert CASES.joinpath("swap_text.yaml").is_file()
    assert all(found.count(corruption.name) >= 8 for corruption in select_text_corruptions(["swap_text"]))


# Tables


def test_every_table_has_a_source() -> None:
    def parts(value: Any) -> list[dict[str, Any]]:
        inner = [part for child in value.values() if isinstance(child, dict) for part in parts(child)]
        return [value] if "words" in value or "n" in value else inner

    found = parts(TABLE)
    assert len(found) >= 12
    assert all(part["source"].strip() for part in found)


# Words


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


class Masked(Said):
    """Notes what the model is asked."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        self.asked.append((before, after))
        return super().suggest(before, after, count)


def test_later_masks_see_earlier_suggestions() -> None:
    Masked.asked.clear()
    text = "the man and the dog and the cat and the house and the car"
    recipe = TextRecipe(text_corruptions()["mlm_suggestion"], 0, "k")
    found = recipe.apply(text, Masked("pattern", suggested="chair"))
    assert found.text.count("chair") == int(0.2 * len(text.split()))
    before, after = Masked.asked[-1]
    assert (before + after).count("chair") == 1
    assert before + "chair" + after == found.text


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["a man drives a red car", "Two small dogs chase a ball."]))
def test_draws_are_keyed_and_a_an_fits(seed: int, text: str) -> None:
    for name in ("multi_pos_swap_nn", "multi_pos_swap_jj", "swap_syn_wordnet"):
        found = perturb(name, text, seed=seed)
        assert found == perturb(name, text, seed=seed)
        words = [token.lower for token in tokenize(found.text)]
        for article, word in pairwise(words):
            if article in ("a", "an") and word not in ("one", "once") and not word.startswith(("u", "h", "eu")):
                assert (article == "an") == (word[0] in "aeiou"), found.text


# What WordNet says


def ready(name: str) -> None:
    """Skip the test if what a perturbation needs beside WordNet is not here."""
    try:
        Tools(tagger_kind="pattern").check([text_corruptions()[name]])
    except InputError as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("real_wordnet")
class TestRealWordNet:
    @pytest.mark.parametrize(("name", "case"), [each for each in cases("swap_text") if each[0] in WITH_WORDNET])
    def test_cases(self, name: str, case: dict[str, Any]) -> None:
        ready(name)
        check_case(name, case)

    def test_chosen_synonyms_are_wordnets(self, real_wordnet: WordNet) -> None:
        for pos in POSES:
            for lemma, chosen in TABLE["synonyms"]["chosen"][pos].items():
                every: set[str] = set()
                for sense in range(80):
                    every |= {synonym.name for synonym in real_wordnet.synonyms(lemma, pos, sense)}
                assert real_wordnet.has(lemma, pos), lemma
                assert {name.replace("_", " ") for name in (chosen or "").split()} <= every, lemma

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

    def test_what_is_only_of_one_kind_is_no_synonym(self) -> None:
        ready("swap_syn_word_embedding")
        tools = Tools()
        assert "adult" not in embedding_neighbours(tools, "adolescent", "n")
        assert "red" not in embedding_neighbours(tools, "green", "a")
        assert "participant" not in embedding_neighbours(tools, "player", "n")
        for word, pos in (("man", "n"), ("smile", "v"), ("large", "a"), ("quickly", "r")):
            assert embedding_neighbours(tools, word, pos), word

    def test_synonyms_of_a_sense_that_is_not_the_usual_one_are_left_out(self, real_wordnet: WordNet) -> None:
        for word, pos in (("answer", "v"), ("group", "n"), ("prepare", "v"), ("grub", "n"), ("hurt", "v")):
            assert wordnet_synonyms(real_wordnet, word, pos) == (), word
        assert real_wordnet.first_share("sofa", "n") == 1
        assert 0 < real_wordnet.first_share("answer", "v") < 1
        assert real_wordnet.share_sense("film", "movie", "n")
        assert not real_wordnet.share_sense("cat", "dog", "n")

    @pytest.mark.shared
    @pytest.mark.parametrize("name", WITH_WORDNET)
    def test_counts_on_real_captions(self, name: str, real_captions: tuple[Row, ...]) -> None:
        ready(name)
        changed = 0
        for style, key, text in real_captions:
            found = perturb(name, text, style=style, key=key)
            changed += found.changed
            assert found.changed or found.reason
            assert found.changed == (found.text != text)
            if not found.changed:
                continue
            before, after = tokenize(text), tokenize(found.text)
            if name.startswith("multi_pos"):
                assert len(before) == len(after), text
                old = Tools("pattern").tagger.analyse(text, style).tokens
                new = [
                    (a, b) for a, b in zip(old, after, strict=True) if a.lower != b.lower and b.lower not in ("a", "an")
                ]
                tag = "NN" if name.endswith("nn") else "JJ"
                assert 1 <= len(new) <= 2, text
                assert all(a.tag == tag and readings(b.lower) for a, b in new), text
            else:
                most = min(max(int(SHARES[name] * len(before)), 1), 10)
                kept = {token.lower for token in after} | {"a", "an"}
                assert sum(token.lower not in kept for token in before) <= most, text
        least = {
            "multi_pos_swap_nn": 0.87,
            "multi_pos_swap_jj": 0.1,
            "swap_syn_wordnet": 0.37,
            "swap_syn_word_embedding": 0.17,
        }
        assert changed / len(real_captions) > least[name]
