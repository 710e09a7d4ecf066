from collections import Counter

import pytest
from captions import perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.corruptions.registry import check_text_name, text_corruptions
from stressreel.corruptions.text.positional import written_words
from stressreel.language.parse import parse
from stressreel.language.words import tokenize

WORDS = st.lists(
    st.sampled_from(["a", "dog", "Dog", "it's", "I", "runs", "fast", "TV", ",", ".", "!"]), min_size=1, max_size=8
)


def words(text: str) -> list[str]:
    caption = parse(text)
    return [text[caption.tokens[w.start].start : caption.tokens[w.stop - 1].end] for w in written_words(caption)]


def marks(text: str) -> list[str]:
    return [token.text for token in parse(text).tokens if not token.is_word]


@settings(max_examples=200, deadline=None)
@given(WORDS, st.integers(0, 1000))
def test_shuffled_words_are_the_same_in_another_order(parts: list[str], seed: int) -> None:
    text = " ".join(parts)
    before = [word.lower() for word in words(text)]
    found = perturb("shuffle_order", text, seed=seed)
    after = [word.lower() for word in words(found.text)]
    assert Counter(after) == Counter(before)
    assert marks(found.text) == marks(text)
    assert found.changed == (len(set(before)) > 1)
    assert (after != before) == found.changed


CONTRACTED = [f"{verb} t" for verb in ("wasn", "isn", "don", "doesn", "won", "can")] + ["wasn't", "was n't", "dont"]
DROPS = [name for name in text_corruptions() if check_text_name(name).family == "drop_text" or name.startswith("drop_")]


@pytest.mark.parametrize("contraction", CONTRACTED)
@pytest.mark.parametrize("name", DROPS)
def test_drops_keep_the_length_of_contractions(name: str, contraction: str) -> None:
    for text in (f"the man says it {contraction} work here", f"{contraction} move the cup", f"the man {contraction}"):
        found = perturb(name, text)
        if check_text_name(name).family == "drop_text":  # counts "n't" as a word
            assert len(tokenize(found.text)) == len(tokenize(text))
        if name.startswith("drop_") or " t" in contraction:  # what spaces separate, as in MSR-VTT's "wasn t"
            assert len(found.text.split()) == len(text.split())
        if name in ("drop_first", "drop_last", "random_noun", "random_verb"):
            assert found.text.count("[UNK]") == found.changed
