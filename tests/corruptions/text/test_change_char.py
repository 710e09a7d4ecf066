import string
from collections import Counter
from typing import Any

import pytest
from captions import Row, cases, check_case, perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.corruptions.text.change_char import RULES, misspellings, other_prefixes, stop_words
from stressreel.corruptions.text.tables import read_table
from stressreel.language.inflection import readings
from stressreel.language.words import tokenize

TABLE = read_table("change_char")
RESPELL = {"keyboard": 0.2, "spelling_error": 0.3, "typos": 0.3, "ocr": 0.2}
WORD = st.text(string.ascii_letters, min_size=3, max_size=9)


@pytest.mark.parametrize(("name", "case"), cases("change_char"))
def test_cases(name: str, case: dict[str, Any]) -> None:
    check_case(name, case)


def difference(before: str, after: str) -> tuple[str, str]:
    """What differs between two words, without their common beginning and end."""
    start = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    stop = 0
    while stop < min(len(before), len(after)) - start and before[-1 - stop] == after[-1 - stop]:
        stop += 1
    return before[start : len(before) - stop], after[start : len(after) - stop]


# Tables


def test_the_table_of_misspellings() -> None:
    table = TABLE["spelling"]["words"]
    assert len(table) >= 400
    for word, wrong in table.items():
        assert word not in wrong
        assert len(set(wrong)) == len(wrong)
        for other in wrong:
            assert other.isalpha(), other
            assert other.isascii(), other
            assert other.islower(), other
            assert not readings(other), f"{other} is a word"
            assert other not in table, f"{other} is a word"


@pytest.mark.parametrize(
    "part", ["stop_words", "keyboard", "ocr", "prefixes", "not_prefixed", "punctuation", "spelling"]
)
def test_every_table_has_a_source(part: str) -> None:
    assert TABLE[part]["source"]


def test_keys_are_neighbours_of_each_other() -> None:
    table = TABLE["keyboard"]["neighbours"]
    assert sorted(table) == list(string.ascii_lowercase)
    assert all(key in table[other] for key, others in table.items() for other in others)


# Words


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_a_slip_of_a_key_changes_one_letter_to_its_neighbour(word: str, seed: int) -> None:
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


def test_typos_are_of_all_four_kinds() -> None:
    found = Counter()
    for seed in range(400):
        old, new = difference("plane", perturb("typos", "plane", seed=seed).text)
        found[len(old), len(new)] += 1
    assert set(found) == {(0, 1), (1, 0), (1, 1), (2, 2)}
    assert min(found.values()) > 60


@settings(max_examples=300, deadline=None)
@given(WORD, st.integers(0, 1000))
def test_a_misread_character_looks_alike(word: str, seed: int) -> None:
    found = perturb("ocr", word, seed=seed)
    if not found.changed:
        return
    alike = TABLE["ocr"]["alike"]
    assert any(
        word[:n] + other + word[n + len(shape) :] == found.text
        for n in range(len(word))
        for shape, others in alike.items()
        if word.startswith(shape, n)
        for other in others
    )


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(string.ascii_lowercase, min_size=3, max_size=9), st.sampled_from(sorted(TABLE["spelling"]["words"]))
    )
)
def test_misspellings_are_never_words(word: str) -> None:
    found = misspellings(word)
    assert word not in found
    assert [other for other in found if readings(other) or other in stop_words()] == []
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("putting", "puting"),
        ("batches", "baches"),
        ("edge", "ege"),
        ("making", "makeing"),
        ("ladies", "ladys"),
        ("clarified", "clarifyed"),
        ("phones", "fones"),
        ("wheat", "weat"),
        ("either", "iether"),
        ("siege", "seige"),
        ("battle", "battel"),
        ("handful", "handfull"),
        ("position", "posision"),
        ("restaurants", "restaraunts"),
        ("believing", "beleiving"),
        ("salami", "sallami"),
        ("margarine", "margerine"),
    ],
)
def test_rules_misspell_as_people_do(word: str, wrong: str) -> None:
    assert word not in TABLE["spelling"]["words"]
    assert wrong in misspellings(word)


WORDS_OF_RULES = """
butter field ladies weigh knot wreck whale comb light night chicken kitchen fridge phone little metal better motor sugar
present important science balance portable visible nation vision careful potatoes lovely cream speed voice scent should
"""


def test_every_rule_is_of_use() -> None:
    words = WORDS_OF_RULES.split()
    assert [rule.pattern for rule, _ in RULES if not any(rule.search(word) for word in words)] == []


@pytest.mark.parametrize(
    ("word", "reading", "others"),
    [
        ("preheated", "VERB", ("reheated", "overheated")),
        ("inside", "NOUN", ("outside",)),
        ("replacing", "VERB", ("displacing", "misplacing")),
        ("discover", "VERB", ("recover", "uncover")),
        ("indoor", "ADJ", ("outdoor",)),
    ],
)
def test_other_prefixes(word: str, reading: str, others: tuple[str, ...]) -> None:
    assert set(others) <= set(other_prefixes(word, reading))


@pytest.mark.parametrize(
    "word", ["under", "reach", "detail", "disease", "image", "pretty", "cooking", "interview", "this"]
)
def test_what_is_no_prefix_of_that_part_of_speech(word: str) -> None:
    assert other_prefixes(word, "ADV") == ()
    if word != "interview":
        assert other_prefixes(word, "NOUN") == ()


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("text", ["A dog barks.", "a dog barks", "Look out!?", "wait...", "..."])
def test_punctuation_keeps_the_words(text: str, seed: int) -> None:
    found = perturb("punctuation", text, seed=seed)
    assert found.changed
    assert [t.text for t in tokenize(found.text) if t.is_word] == [t.text for t in tokenize(text) if t.is_word]


# Captions


@pytest.mark.shared
@pytest.mark.parametrize("name", RESPELL)
def test_counts_on_real_captions(name: str, real_captions: tuple[Row, ...]) -> None:
    changed = 0
    for style, key, text in real_captions:
        found = perturb(name, text, style=style, key=key)
        tokens = tokenize(text)
        before, after = text.split(), found.text.split()
        assert len(before) == len(after), text
        edited = [a for a, b in zip(before, after, strict=True) if a != b]
        limit = min(max(int(RESPELL[name] * len(tokens)), 1), 10)
        assert len(edited) <= limit, text
        assert found.changed == bool(edited), text
        assert not [word for word in edited if word.lower() in stop_words()], text
        changed += found.changed
        if name == "typos" and limit <= sum(
            len(t.text) >= 3 and t.text.isalpha() and t.lower not in stop_words() for t in tokens
        ):
            assert len(edited) == limit, text
    assert changed > 0.97 * len(real_captions)


@pytest.mark.shared
def test_prefixes_on_real_captions(real_captions: tuple[Row, ...]) -> None:
    made = [(text, perturb("prefix_swap", text, style=style, key=key)) for style, key, text in real_captions]
    found = [(text, result) for text, result in made if result.changed]
    assert 0.01 < len(found) / len(real_captions) < 0.027
    for text, result in found:
        pairs = [(a, b) for a, b in zip(text.split(), result.text.split(), strict=True) if a != b]
        assert len([pair for pair in pairs if pair[0] not in ("a", "an")]) == 1, text


@pytest.mark.shared
def test_punctuation_on_real_captions(real_captions: tuple[Row, ...]) -> None:
    assert all(perturb("punctuation", text, style=style, key=key).changed for style, key, text in real_captions)
