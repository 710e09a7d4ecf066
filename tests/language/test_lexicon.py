import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import read_cases
from stressreel.core.errors import InputError
from stressreel.language import lexicon
from stressreel.language.lexicon import (
    inflect,
    is_plural_noun,
    is_verb_form,
    noun_lemma,
    read_lexicon,
    verb_lemma,
    word_lists,
)


def test_missing_list_is_named() -> None:
    assert "person" in word_lists("people").people
    with pytest.raises(AttributeError, match=r"people.yaml has no list 'persons'"):
        _ = word_lists("people").persons


def test_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    for content in ("[1, 2", "words: a b", "- a"):
        (tmp_path / "lexicon.yaml").write_text(content)
        with pytest.raises(InputError, match=r"language/lexicon.yaml .* damaged"):
            read_lexicon.__wrapped__("lexicon")


def test_order_of_sets_changes_nothing() -> None:
    code = "from stressreel.language.lexicon import verb_lemma; print(verb_lemma('sauteed'), verb_lemma('lay'))"
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
        assert found.split() == ["saute", "lay"]


CASES = read_cases(__file__)


def test_forms_lemmas_and_particles() -> None:
    forms = [case.split() for case in CASES["inflection.forms"]]
    assert [(lemma, tag) for lemma, tag, form in forms if inflect(lemma, tag) != form] == []
    assert [case for case in CASES["inflection.lemmas"] if verb_lemma(case.split()[0]) != case.split()[1]] == []
    assert inflect("pick up", "VBD") == "picked up"
    assert (is_plural_noun("dogs"), is_plural_noun("dog"), noun_lemma("children")) == (True, False, "child")
    assert (is_verb_form("lit", "VBN"), is_verb_form("sing", "VBG")) == (True, False)
