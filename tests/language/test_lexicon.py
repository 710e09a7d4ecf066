from pathlib import Path

import pytest
from cases import read_cases
from stressreel.core.errors import InputError
from stressreel.language import lexicon
from stressreel.language.lexicon import inflect, is_plural_noun, is_verb_form, noun_lemma, verb_lemma, word_lists

CASES = read_cases(__file__)


def test_missing_list_and_damaged_file_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "person" in word_lists("people").people
    with pytest.raises(AttributeError, match=r"people.yaml has no list 'persons'"):
        _ = word_lists("people").persons
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    for content in ("[1, 2", "words: a b", "- a"):
        (tmp_path / "lexicon.yaml").write_text(content)
        with pytest.raises(InputError, match=r"language/lexicon.yaml .* damaged"):
            lexicon.read_lexicon.__wrapped__("lexicon")


def test_forms_lemmas_and_particles() -> None:
    """That of several lemmas does not depend on the order of sets, which is another in every run."""
    forms = [case.split() for case in CASES["inflection.forms"]]
    assert [(lemma, tag) for lemma, tag, form in forms if inflect(lemma, tag) != form] == []
    assert [case for case in CASES["inflection.lemmas"] if verb_lemma(case.split()[0]) != case.split()[1]] == []
    assert inflect("pick up", "VBD") == "picked up"
    assert (is_plural_noun("dogs"), is_plural_noun("dog"), noun_lemma("children")) == (True, False, "child")
    assert (is_verb_form("lit", "VBN"), is_verb_form("sing", "VBG")) == (True, False)
