from collections import Counter

import pytest
from captions import perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.corruptions.registry import check_text_name, text_corruptions
from stressreel.corruptions.text.positional import written_words
from stressreel.language.parse import parse
from stressreel.language.words import tokenize

PARTS = st.sampled_from(["a", "dog", "Dog", "it's", "I", "runs", "fast", "TV", ",", ".", "!"])
CONTRACTED = [f"{verb} t" for verb in ("wasn", "isn", "don", "doesn", "won", "can")] + ["wasn't", "was n't", "dont"]
DROPS = [name for name in text_corruptions() if check_text_name(name).family == "drop_text" or name.startswith("drop_")]


@settings(max_examples=200, deadline=None)
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


@pytest.mark.parametrize("contraction", CONTRACTED)
@pytest.mark.parametrize("name", DROPS)
def test_drops_keep_the_length_of_contractions(name: str, contraction: str) -> None:
    for text in (f"the man says it {contraction} work here", f"{contraction} move the cup", f"the man {contraction}"):
        result = perturb(name, text)
        if check_text_name(name).family == "drop_text":  # counts "n't" as a word
            assert len(tokenize(result.text)) == len(tokenize(text))
        if name.startswith("drop_") or " t" in contraction:  # what spaces separate, as in MSR-VTT's "wasn t"
            assert len(result.text.split()) == len(text.split())
        if name in ("drop_first", "drop_last", "random_noun", "random_verb"):
            assert result.text.count("[UNK]") == result.changed
