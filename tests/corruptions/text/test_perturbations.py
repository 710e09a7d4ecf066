"""Properties of single perturbations, beside the cases in `cases/`."""

import string
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from captions import perturb
from cases import read_cases
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stressreel.corruptions.registry import TextResult, Unchanged, check_text_name, text_corruptions
from stressreel.corruptions.text import bias
from stressreel.corruptions.text.add_text import append_irr, insert_adv
from stressreel.corruptions.text.change_char import misspellings, other_prefixes, stop_words
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.gender_words import gendered_nouns
from stressreel.corruptions.text.lexical import names, read_table
from stressreel.corruptions.text.positional import written_words
from stressreel.corruptions.text.swap_text import multi_pos_words
from stressreel.corruptions.text.tools import Tools
from stressreel.language.lexicon import readings
from stressreel.language.parse import parse
from stressreel.language.wordnet import load_wordnet
from stressreel.language.words import tokenize

CASES = read_cases(__file__)
WORDS = st.text(string.ascii_letters, min_size=3, max_size=9)
PARTS = st.sampled_from(["a", "dog", "Dog", "it's", "I", "runs", "fast", "TV", ",", ".", "!"])
MISSPELT = read_table("change_char")["spelling"]["words"]
DROPS = [name for name in text_corruptions() if check_text_name(name).family == "drop_text" or name.startswith("drop_")]
CONTRACTED = [f"{verb} t" for verb in ("wasn", "isn", "don", "doesn", "won", "can")] + ["wasn't", "was n't", "dont"]

# Additions


def test_ten_tokens_get_a_proverb() -> None:
    table = read_table("add_text")
    long = "one two three four five six seven eight nine ten"
    short = long.removesuffix(" ten")
    caption = parse("a girl does gymnastics with her friends in the big room today")
    rng, drawn = np.random.default_rng(0), set()
    for _ in range(1500):
        assert str(append_irr(parse(short), rng)).removesuffix(f", {short}") in table["openings"]["rows"]
        opening, _, proverb = str(append_irr(parse(long), rng)).partition(f", {long}. ")
        drawn |= {opening, proverb.removesuffix("."), str(insert_adv(caption, rng)).split()[2]}
    parts = ("openings", "proverbs", "general", "action")
    assert drawn == {row for part in parts for row in table[part]["rows"]}


# Genders


@pytest.mark.parametrize("name", ["all_female", "all_male", "gender_neutral", "gender_swap"])
def test_words_without_gender_and_names_stay(name: str) -> None:
    words = "human manhole womanizer ladybug master heroic sunshine kingdom chess hershey"
    phrases = [phrase.replace(" 's", "'s") for phrase in read_table("bias")["protected"]["rows"]]
    for text in [f"the {word} is here" for word in words.split()] + [f"this is {phrase}" for phrase in phrases]:
        assert getattr(bias, name)(parse(text)) == Unchanged("nobody with a gender"), text


def test_swapping_twice_restores_the_caption() -> None:
    """For the nouns that are each other's first choice."""
    swapped = {word: entry.become("swap") for word, entry in gendered_nouns().items()}
    pairs = [(word, other) for word, other in swapped.items() if swapped.get(other) == word < other]
    assert len(pairs) > 20
    for word, other in pairs:
        text, once = f"the {word} is seen with his dog and her cat", f"the {other} is seen with her dog and his cat"
        assert [bias.gender_swap(parse(each)) for each in (text, once)] == [once, text]


# Characters


@settings(max_examples=100)
@given(WORDS, st.integers(0, 1000))
def test_keyboard_changes_one_letter_to_its_neighbour(word: str, seed: int) -> None:
    assume(len(tokenize(word)) == 1)  # "hes" is "he" and "is"
    result = perturb("keyboard", word, seed=seed)
    if word.lower() in stop_words() or len(word) < 4:
        assert not result.changed
        return
    ((old, new),) = [(a, b) for a, b in zip(word, result.text, strict=True) if a != b]
    assert new.lower() in read_table("change_char")["keyboard"]["neighbours"][old.lower()]
    assert old.isupper() == new.isupper()


def edits(word: str) -> set[str]:
    """Return all results of inserting, deleting, replacing or swapping inner letters."""
    results = set()
    for n in range(1, len(word) - 1):
        start, letter, end = word[:n], word[n], word[n + 1 :]
        results |= {start + end, start + end[0] + letter + end[1:]}
        results |= {f"{start}{new}{rest}" for new in string.ascii_letters for rest in (end, letter + end)}
    return {result for result in results if (result[0], result[-1]) == (word[0], word[-1])} - {word}


@settings(max_examples=100)
@given(WORDS, st.integers(0, 1000))
def test_typo_is_one_edit_inside_the_word(word: str, seed: int) -> None:
    result = perturb("typos", word, seed=seed)
    parts = {word.lower(), *(token.lower for token in tokenize(word))}
    assert result.changed == (not parts & stop_words())
    assert result.text in edits(word) or not result.changed


@settings(max_examples=300)
@given(st.text(string.ascii_lowercase, min_size=3, max_size=9) | st.sampled_from(sorted(MISSPELT)))
def test_misspellings_are_never_words(word: str) -> None:
    wrong = misspellings(word)
    assert word not in wrong
    assert [other for other in wrong if readings(other) or other in stop_words()] == []
    assert len(set(wrong)) == len(wrong)


@pytest.mark.parametrize(("word", "wrong"), CASES["misspellings"])
def test_rules_give_common_misspellings(word: str, wrong: str) -> None:
    assert word not in MISSPELT
    assert wrong in misspellings(word)


@pytest.mark.parametrize(("word", "reading", "others"), CASES["other_prefixes"])
def test_other_prefixes(word: str, reading: str, others: list[str]) -> None:
    assert set(others) <= set(other_prefixes(word, reading))


@pytest.mark.parametrize("text", ["A dog barks.", "Look out!?", "wait...", "..."])
def test_punctuation_keeps_the_words(text: str) -> None:
    for seed in range(40):
        result = perturb("punctuation", text, seed=seed)
        assert result.changed
        words, expected = ([token.text for token in tokenize(t) if token.is_word] for t in (result.text, text))
        assert words == expected


# Order and omissions


@settings(max_examples=80)
@given(st.lists(PARTS, min_size=1, max_size=8).map(" ".join), st.integers(0, 1000))
def test_shuffle_changes_only_the_order(text: str, seed: int) -> None:
    result = perturb("shuffle_order", text, seed=seed)
    (before, marks), (after, marks_after) = map(words_and_marks, (text, result.text))
    assert (Counter(after), marks_after) == (Counter(before), marks)
    assert result.changed == (len(set(before)) > 1) == (after != before)


def words_and_marks(text: str) -> tuple[list[str], list[str]]:
    tokens = parse(text).tokens
    words = [text[tokens[w.start].start : tokens[w.stop - 1].end].lower() for w in written_words(parse(text))]
    return words, [token.text for token in tokens if not token.is_word]


@pytest.mark.parametrize("name", DROPS)
def test_drops_keep_the_length_of_contractions(name: str) -> None:
    for contraction in CONTRACTED:
        for text in (f"the man says it {contraction} work here", f"{contraction} move the cup", f"a man {contraction}"):
            result = perturb(name, text)
            if check_text_name(name).family == "drop_text":  # counts "n't" as a word
                assert len(tokenize(result.text)) == len(tokenize(text))
            if name.startswith("drop_") or " t" in contraction:  # what spaces separate, as in MSR-VTT's "wasn t"
                assert len(result.text.split()) == len(text.split())
            if name in ("drop_first", "drop_last", "random_noun", "random_verb"):
                assert result.text.count("[UNK]") == result.changed


# Other words


@settings(max_examples=40)
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
    (tmp_path / "glove.txt").write_text("sofa 1 0 0\nchair 1 0 0.01\ncouch 1 0.1 0\ncar 0 1 0\nsofas 1 0 0\n")
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
