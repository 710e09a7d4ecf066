"""Words that are dropped, on captions with given tags."""

import numpy as np
from stressreel.corruptions.text.drop_text import no_nouns, only_verbs, random_noun
from stressreel.language.words import Caption, Token, tokenize


def tagged(text: str, tags: str) -> Caption:
    pairs = zip(tokenize(text), tags.split(), strict=True)
    return Caption(text, tuple(Token(t.text, t.start, t.end, tag) for t, tag in pairs), "declarative")


def test_modals_are_not_verbs_and_a_placeholder_is_not_a_word() -> None:
    caption = tagged("we can help [UNK]", "PRP MD VB NN")
    assert only_verbs(caption) == "[UNK] [UNK] help [UNK]"
    assert not isinstance(no_nouns(caption), str)


def test_every_occurrence_may_be_dropped() -> None:
    caption = tagged("dog and dog", "NN CC NN")
    found = {random_noun(caption, np.random.Generator(np.random.Philox(key=seed))) for seed in range(20)}
    assert found == {"[UNK] and dog", "dog and [UNK]"}
