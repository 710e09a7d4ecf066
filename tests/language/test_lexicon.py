import os
import subprocess
import sys

import pytest
from stressreel.language.lexicon import phrasal_verbs, verb_forms, words


def test_lists() -> None:
    assert ("pick", "up") in phrasal_verbs()
    assert "people" in words("plural_words")
    assert verb_forms()["hang"]["VBN"] == "hung"
    assert not words("order_verbs") & words("order_nouns")
    assert not words("verb_s") & words("noun_s")


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
