import string
from itertools import takewhile

import pytest
from captions import perturb
from cases import read_cases
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stressreel.corruptions.text.change_char import misspellings, other_prefixes, stop_words
from stressreel.corruptions.text.lexical import read_table
from stressreel.language.inflection import readings
from stressreel.language.words import tokenize

CASES = read_cases(__file__)

TABLE = read_table("change_char")
WORD = st.text(string.ascii_letters, min_size=3, max_size=9)


def difference(before: str, after: str) -> tuple[str, str]:
    """What differs between two words, without their common beginning and end."""

    def common(one: str, other: str) -> int:
        return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))

    start = common(before, after)
    before, after = before[start:], after[start:]
    stop = common(before[::-1], after[::-1])
    return before[: len(before) - stop], after[: len(after) - stop]


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_a_slip_of_a_key_changes_one_letter_to_its_neighbour(word: str, seed: int) -> None:
    assume(len(tokenize(word)) == 1)  # "hes" is "he" and "is"
    found = perturb("keyboard", word, seed=seed)
    if word.lower() in stop_words() or len(word) < 4:
        assert not found.changed
        return
    ((old, new),) = [(a, b) for a, b in zip(word, found.text, strict=True) if a != b]
    assert new.lower() in TABLE["keyboard"]["neighbours"][old.lower()]
    assert old.isupper() == new.isupper()


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_a_typo_is_one_edit_inside_the_word(word: str, seed: int) -> None:
    found = perturb("typos", word, seed=seed)
    stops = {word.lower(), *(token.lower for token in tokenize(word))}  # "hes" is "he" and "is"
    assert found.changed == (not stops & stop_words())
    assert (found.text[0], found.text[-1]) == (word[0], word[-1])
    old, new = difference(word, found.text)
    kinds = {(0, 1): "insert", (1, 0): "delete", (1, 1): "replace"}
    if found.changed and (len(old), len(new)) not in kinds:
        assert (old, len(old)) == (new[::-1], 2), f"{word} {found.text}"


@settings(max_examples=300, deadline=None)
@given(st.text(string.ascii_lowercase, min_size=3, max_size=9) | st.sampled_from(sorted(TABLE["spelling"]["words"])))
def test_misspellings_are_never_words(word: str) -> None:
    found = misspellings(word)
    assert word not in found
    assert [other for other in found if readings(other) or other in stop_words()] == []
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(("word", "wrong"), CASES["change_char.rules_misspell_as_people_do"])
def test_rules_misspell_as_people_do(word: str, wrong: str) -> None:
    assert word not in TABLE["spelling"]["words"]
    assert wrong in misspellings(word)


@pytest.mark.parametrize(("word", "reading", "others"), CASES["change_char.other_prefixes"])
def test_other_prefixes(word: str, reading: str, others: tuple[str, ...]) -> None:
    assert set(others) <= set(other_prefixes(word, reading))


@pytest.mark.parametrize("text", ["A dog barks.", "a dog barks", "Look out!?", "wait...", "..."])
def test_punctuation_keeps_the_words(text: str) -> None:
    for seed in range(40):
        found = perturb("punctuation", text, seed=seed)
        assert found.changed
        assert [t.text for t in tokenize(found.text) if t.is_word] == [t.text for t in tokenize(text) if t.is_word]
