import numpy as np
from stressreel.corruptions.registry import select_text_corruptions
from stressreel.corruptions.text.drop_text import no_nouns, only_verbs, random_noun
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
