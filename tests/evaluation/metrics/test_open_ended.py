from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.open_ended import (
    JAVA,
    NLTK,
    SCORES,
    capsmix,
    count,
    java_found,
    measure,
    nltk_meteor,
    normalised_mean,
    words,
)

pytest.importorskip("pycocoevalcap")
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.rouge.rouge import Rouge

RIGHT = ["Tom wants to catch Jerry.", "The dog was woken up by the noise.", "Jerry hides the cheese from Tom"]


def scores(texts: Sequence[str], references: Sequence[str], meteor: str | None = NLTK, **how: Any) -> dict[str, float]:
    counted = count([str(n) for n in range(len(texts))], {"A": texts}, {"A": references}, meteor=meteor, **how)
    found = measure(counted.means(np.ones((1, len(texts)))))
    return {name.removeprefix("A "): float(value[0]) for name, value in found.items()}


def test_best_and_worst_scores() -> None:
    text = "He was hungry. He ate (the “cake”)! It wasn’t Tom’s… or 'Mr. Mouse'"
    assert words(text) == "he was hungry he ate the cake it was n't tom 's or mr mouse"
    best = scores(RIGHT, RIGHT)
    assert [best[name] for name in ("BLEU-1", "BLEU-2", "BLEU-3", "ROUGE-L", "CIDEr")] == pytest.approx([1] * 4 + [10])
    assert best[NLTK] > 0.99
    assert max(scores(["quux"] * 3, RIGHT).values()) < 1e-3
    vectors = np.array([[1.0, 0], [0, 1], [0.6, 0.8], [0, 1]])
    assert scores(["a", "b"], ["c", "d"], encode=lambda texts: vectors)["SBERT"] == pytest.approx((0.6 + 1) / 2)


VOCABULARY = ["the", "cat", "sat", "on", "a", "mat", "while", "dogs", "ran", "past", "it", "and", "barked", "at", "Tom"]
texts_of = st.lists(st.sampled_from(VOCABULARY), max_size=9).map(" ".join)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(texts_of, texts_of), min_size=2, max_size=6), st.integers(0, 9))
def test_resampled_scores_equal_pycocoevalcap(pairs: list[tuple[str, str]], seed: int) -> None:
    texts, references = [list(side) for side in zip(*pairs, strict=True)]
    counted = count([str(n) for n in range(len(pairs))], {"A": texts}, {"A": references}, meteor=NLTK)
    weights = np.random.default_rng(seed).multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs)), size=3)
    found = measure(counted.means(weights.astype(float)))
    for at, drawn in enumerate(weights):
        rows = [n for n, times in enumerate(drawn) for _ in range(times)]
        right = {place: [words(references[n]) or "--"] for place, n in enumerate(rows)}
        said = {place: [words(texts[n]) or "-"] for place, n in enumerate(rows)}
        bleu, _ = Bleu(3).compute_score(right, said, verbose=0)
        assert [found[f"A BLEU-{n}"][at] for n in (1, 2, 3)] == pytest.approx(bleu, abs=2e-5)
        assert found["A ROUGE-L"][at] == pytest.approx(Rouge().compute_score(right, said)[0])


def test_capsmix_needs_all_scores_and_names_meteor() -> None:
    parts = (*SCORES, NLTK, "1-grams", "2-grams", "3-grams", "length")
    means = {f"{letter} {name}": np.array([0.5]) for letter in "AE" for name in parts}
    for gone, name in ((NLTK, "CapsMIX"), (JAVA, "CapsMIX (NLTK METEOR)"), (" SPICE", None)):
        found = measure({key: value for key, value in means.items() if gone not in key})
        assert [key for key in found if key.startswith("CapsMIX")] == [name] * bool(name)
        assert not name or found[name] == pytest.approx(sum(v for key, v in found.items() if key[:2] in ("A ", "E ")))


@pytest.mark.full
@pytest.mark.skipif(not java_found(), reason="no Java, which METEOR 1.5 is a program for")
def test_meteor_1_5_by_hand() -> None:
    """All matches exact, so by hand: content words weigh .75 and function words .25; alpha .85, beta .2, gamma .6."""
    right, said = ["tom chases the mouse jerry", "café mouse"], ["tom chases jerry", "café mouse"]
    recall = 3 * 0.75 / (4 * 0.75 + 1 * 0.25)  # tom, chases, jerry of tom, chases, mouse, jerry and the; precision is 1
    mean = recall / (0.85 + 0.15 * recall)
    chunks, matches = 2, 3
    by_hand = mean * (1 - 0.6 * (chunks / matches) ** 0.2)
    # Nothing is no match of nothing.
    assert scores([*said, ""], [*right, "..."], meteor=None)[JAVA] == pytest.approx((by_hand + 1 + 0) / 3, abs=1e-6)
    assert by_hand < nltk_meteor(said[0].split(), right[0].split())


def test_meteor_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found, (one, other) = scores(RIGHT[:1], RIGHT[1:2], meteor=None), (words(text).split() for text in RIGHT[:2])
    assert (JAVA in found, found[NLTK]) == (False, pytest.approx(nltk_meteor(one, other)))
    for how, says in (({"meteor": JAVA}, "--meteor nltk"), ({"spice": True}, "SPICE needs Java")):
        with pytest.raises(InputError, match=says):
            scores(RIGHT, RIGHT, **how)


# Table 3 (a), UD, VisionGPT-2: scores of A and E in turn.
TABLE_3 = """.3878 .3095 .2605 .1727 .1738 .1091 .2560 .1756 .3934 .2941 .4498 .3385 1.3725 .7539 .6760 .6350"""


def test_capsmix_equals_table_3() -> None:
    values = [float(text) for text in TABLE_3.split()]
    answers, explanations = (dict(zip(SCORES, values[side::2], strict=True)) for side in (0, 1))
    assert (sum(answers.values()), sum(explanations.values())) == pytest.approx((3.9698, 2.7884), abs=1e-9)
    assert capsmix(answers, explanations) == pytest.approx(6.7582, abs=1e-9)
    ciders = answers["CIDEr"] + explanations["CIDEr"]
    assert normalised_mean(answers, explanations) == pytest.approx((6.7582 - 0.9 * ciders) / 16)
