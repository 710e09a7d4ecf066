"""Open-ended scores."""

import shutil

import numpy as np
import pytest
from stressreel.errors import InputError
from stressreel.metrics.captions import caption_scores, words

pytest.importorskip("pycocoevalcap")

RIGHT = ["Tom wants to catch Jerry.", "The dog was woken up by the noise.", "Jerry hides the cheese from Tom"]


def needs_wordnet() -> None:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        pytest.skip("no WordNet: set NLTK_DATA")


def test_words_have_no_case_and_no_punctuation() -> None:
    assert words("Tom, the cat, (hungry) wasn't there!") == "tom the cat hungry was n't there"
    assert words("...") == "-"


def test_the_right_answers_score_best_and_others_nothing() -> None:
    needs_wordnet()
    best = caption_scores(RIGHT, RIGHT)
    assert [best[f"BLEU-{n}"] for n in (1, 2, 3)] == pytest.approx([1, 1, 1])
    assert best["ROUGE-L"] == pytest.approx(1)
    assert best["CIDEr"] == pytest.approx(10)
    assert best["METEOR"] > 0.99
    none = caption_scores(["quux"] * 3, RIGHT)
    assert max(none.values()) < 1e-3
    assert "SPICE" not in none
    assert "SBERT" not in none


def test_sbert_is_the_mean_cosine() -> None:
    needs_wordnet()
    vectors = np.array([[1.0, 0], [0, 1], [0.6, 0.8], [0, 1]])
    scores = caption_scores(["a", "b"], ["c", "d"], encode=lambda texts: vectors)
    assert scores["SBERT"] == pytest.approx((0.6 + 1) / 2)


def test_spice_without_java_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_wordnet()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="SPICE needs Java"):
        caption_scores(RIGHT, RIGHT, spice=True)
