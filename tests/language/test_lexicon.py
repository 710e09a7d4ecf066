import os
import subprocess
import sys
from pathlib import Path

import pytest
from stressreel.core.errors import InputError
from stressreel.language import lexicon
from stressreel.language.lexicon import lexicon_hashes, phrasal_verbs, read_lexicon, verb_forms, word_lists, words


def test_lists() -> None:
    assert ("pick", "up") in phrasal_verbs()
    assert "people" in words("plural_words")
    assert verb_forms()["hang"]["VBN"] == "hung"
    assert not words("order_verbs") & words("order_nouns")
    assert not words("verb_s") & words("noun_s")


def test_a_list_that_is_missing_is_named() -> None:
    assert "person" in word_lists("clipped").people
    with pytest.raises(AttributeError, match=r"clipped.yaml has no list 'persons'"):
        _ = word_lists("clipped").persons


@pytest.mark.parametrize("content", ["[1, 2", "words: a b", "- a"])
def test_a_damaged_file_is_named(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lexicon.yaml").write_text(content)
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    with pytest.raises(InputError, match=r"language/lexicon.yaml .* damaged"):
        read_lexicon.__wrapped__("lexicon")


def test_every_file_has_a_hash() -> None:
    assert set(lexicon_hashes()) == {"clipped.yaml", "lexicon.yaml", "orders.yaml", "stories.yaml"}


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_the_order_of_sets_decides_nothing(seed: str) -> None:
    code = "from stressreel.language.inflection import verb_lemma; print(verb_lemma('sauteed'), verb_lemma('lay'))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["saute", "lay"]
