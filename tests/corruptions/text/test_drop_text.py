from typing import Any

import numpy as np
import pytest
from captions import Row, cases, check_case, perturb
from stressreel.corruptions.registry import select_text_corruptions
from stressreel.corruptions.text.drop_text import no_nouns, only_verbs, random_noun
from stressreel.corruptions.text.engine import corrupt_text
from stressreel.language.tagger import load_tagger
from stressreel.language.words import Caption, Token, tokenize

NAMES = [corruption.name for corruption in select_text_corruptions(["drop_text"])]
KEEPS = {  # what of a caption becomes [UNK], by the tag of the token
    "no_nouns": lambda tag: tag.startswith("NN"),
    "no_verbs": lambda tag: tag.startswith("VB"),
    "no_nouns_and_no_verbs": lambda tag: tag.startswith(("NN", "VB")),
    "only_nouns": lambda tag: not tag.startswith("NN"),
    "only_verbs": lambda tag: not tag.startswith("VB"),
    "only_nouns_and_only_verbs": lambda tag: not tag.startswith(("NN", "VB")),
}


@pytest.mark.parametrize(("name", "case"), cases("drop_text"))
def test_cases(name: str, case: dict[str, Any]) -> None:
    check_case(name, case)


def test_modals_are_no_verbs_and_a_placeholder_is_no_word() -> None:
    words = [("we", "PRP"), ("can", "MD"), ("help", "VB"), ("[UNK]", "NN")]
    caption = tagged("we can help [UNK]", words)
    assert only_verbs(caption) == "[UNK] [UNK] help [UNK]"
    assert not isinstance(no_nouns(caption), str)


def test_one_occurrence_goes_each_in_its_turn() -> None:
    caption = tagged("dog and dog", [("dog", "NN"), ("and", "CC"), ("dog", "NN")])
    found = {random_noun(caption, np.random.Generator(np.random.Philox(key=seed))) for seed in range(20)}
    assert found == {"[UNK] and dog", "dog and [UNK]"}


def tagged(text: str, words: list[tuple[str, str]]) -> Caption:
    tokens = tokenize(text)
    assert [token.text for token in tokens] == [word for word, _ in words]
    pairs = zip(tokens, words, strict=True)
    return Caption(text, tuple(Token(t.text, t.start, t.end, tag) for t, (_, tag) in pairs), "declarative")


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_counts_on_real_captions(name: str, real_captions: tuple[Row, ...]) -> None:
    tagger = load_tagger("pattern")
    for style, key, text in real_captions:
        found = perturb(name, text, style=style, key=key)
        caption = tagger.analyse(text, style)
        before, after = caption.tokens, tokenize(found.text)
        assert len(before) == len(after), text
        dropped = [old for old, new in zip(before, after, strict=True) if new.text == "[UNK]"]
        assert all(old.text == new.text for old, new in zip(before, after, strict=True) if new.text != "[UNK]"), text
        if name in KEEPS:
            assert dropped == [token for token in before if token.is_word and KEEPS[name](token.tag)], text
        else:
            tag = "NN" if name == "random_noun" else "VB"
            eligible = [token for token in before if token.is_word and token.tag.startswith(tag)]
            assert len(dropped) == min(1, len(eligible)), text
            assert all(token in eligible for token in dropped), text
        assert found.changed == bool(dropped), text


@pytest.mark.parametrize("name", ["only_nouns", "only_verbs", "only_nouns_and_only_verbs"])
def test_a_caption_of_marks_has_no_word(name: str) -> None:
    result = corrupt_text("\U0001f642 ...", name)
    assert (result.changed, result.reason) == (False, "no word")
