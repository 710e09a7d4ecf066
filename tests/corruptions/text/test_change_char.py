import string

import pytest
from captions import perturb
from cases import read_cases
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stressreel.corruptions.text.change_char import misspellings, other_prefixes, stop_words
from stressreel.corruptions.text.lexical import read_table
from stressreel.language.lexicon import readings
from stressreel.language.words import tokenize

CASES = read_cases(__file__)
TABLE = read_table("change_char")
WORD = st.text(string.ascii_letters, min_size=3, max_size=9)


def edits(word: str) -> set[str]:
    """Return all results of inserting, deleting, replacing or swapping inner letters."""
    results = set()
    for n in range(1, len(word) - 1):
        start, letter, end = word[:n], word[n], word[n + 1 :]
        results |= {start + end, start + end[0] + letter + end[1:]}
        results |= {f"{start}{new}{rest}" for new in string.ascii_letters for rest in (end, letter + end)}
    return {result for result in results if (result[0], result[-1]) == (word[0], word[-1])} - {word}


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_keyboard_changes_one_letter_to_its_neighbour(word: str, seed: int) -> None:
    assume(len(tokenize(word)) == 1)  # "hes" is "he" and "is"
    result = perturb("keyboard", word, seed=seed)
    if word.lower() in stop_words() or len(word) < 4:
        assert not result.changed
        return
    ((old, new),) = [(a, b) for a, b in zip(word, result.text, strict=True) if a != b]
    assert new.lower() in TABLE["keyboard"]["neighbours"][old.lower()]
    assert old.isupper() == new.isupper()


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_typo_is_one_edit_inside_the_word(word: str, seed: int) -> None:
    result = perturb("typos", word, seed=seed)
    parts = {word.lower(), *(token.lower for token in tokenize(word))}  # "hes" is "he" and "is"
    assert result.changed == (not parts & stop_words())
    assert result.text in edits(word) or not result.changed


@settings(max_examples=300, deadline=None)
@given(st.text(string.ascii_lowercase, min_size=3, max_size=9) | st.sampled_from(sorted(TABLE["spelling"]["words"])))
def test_misspellings_are_never_words(word: str) -> None:
    wrong = misspellings(word)
    assert word not in wrong
    assert [other for other in wrong if readings(other) or other in stop_words()] == []
    assert len(set(wrong)) == len(wrong)


@pytest.mark.parametrize(("word", "wrong"), CASES["change_char.misspellings"])
def test_rules_give_common_misspellings(word: str, wrong: str) -> None:
    assert word not in TABLE["spelling"]["words"]
    assert wrong in misspellings(word)


@pytest.mark.parametrize(("word", "reading", "others"), CASES["change_char.other_prefixes"])
def test_other_prefixes(word: str, reading: str, others: tuple[str, ...]) -> None:
    assert set(others) <= set(other_prefixes(word, reading))


@pytest.mark.parametrize("text", ["A dog barks.", "a dog barks", "Look out!?", "wait...", "..."])
def test_punctuation_keeps_the_words(text: str) -> None:
    for seed in range(40):
        result = perturb("punctuation", text, seed=seed)
        assert result.changed
        words, expected = ([token.text for token in tokenize(t) if token.is_word] for t in (result.text, text))
        assert words == expected
