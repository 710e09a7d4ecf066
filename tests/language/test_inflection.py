import pytest
from stressreel.language.inflection import Tag, inflect, is_plural_noun, is_verb_form, noun_lemma, verb_lemma


@pytest.mark.parametrize(
    ("lemma", "tag", "expected"),
    [
        ("hang", "VBN", "hung"), ("lie", "VBN", "lain"), ("saute", "VBG", "sauteing"), ("pick up", "VBD", "picked up"),
        ("be", "VBP", "are"), ("light", "VBD", "lit"), ("ride", "VBN", "ridden"), ("kid", "NNS", "kids"),
    ],
)  # fmt: skip
def test_forms(lemma: str, tag: Tag, expected: str) -> None:
    assert inflect(lemma, tag) == expected


@pytest.mark.parametrize(
    ("form", "lemma"),
    [("found", "find"), ("saw", "see"), ("left", "leave"), ("lit", "light"), ("was", "be"), ("sauteed", "saute")],
)
def test_lemmas(form: str, lemma: str) -> None:
    assert verb_lemma(form) == lemma


def test_nouns_and_verb_forms() -> None:
    assert is_plural_noun("dogs")
    assert not is_plural_noun("dog")
    assert noun_lemma("children") == "child"
    assert is_verb_form("lit", "VBN")
    assert not is_verb_form("sing", "VBG")
