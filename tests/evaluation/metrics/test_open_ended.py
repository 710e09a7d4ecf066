"""Open-ended scores."""

import csv
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.evaluation.metrics.meteor import JAVA, NLTK, java_found, java_meteor, nltk_meteor
from stressreel.evaluation.metrics.open_ended import (
    SCORES,
    WITH_NLTK,
    capsmix,
    count,
    measure,
    normalised_mean,
    notes,
    words,
)

pytest.importorskip("pycocoevalcap")
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.rouge.rouge import Rouge

RIGHT = ["Tom wants to catch Jerry.", "The dog was woken up by the noise.", "Jerry hides the cheese from Tom"]


def test_words_have_no_case_and_no_punctuation() -> None:
    assert words("Tom, the cat, (hungry) wasn't there!") == "tom the cat hungry was n't there"
    assert words("...") == ""
    assert words("He was hungry. He ate (the “cake”)! It wasn’t Tom’s… or 'Mr. Mouse'") == (
        "he was hungry he ate the cake it was n't tom 's or mr mouse"
    )


@pytest.mark.shared
@pytest.mark.full
def test_words_are_those_of_the_java_tokenizer(shared: Path) -> None:
    """All but "St. Bernard", whose point the Java program keeps."""
    if shutil.which("java") is None:
        pytest.skip("no Java")
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with open(shared / "data" / "causalchaos" / "Annotations.csv", encoding="utf-8-sig", newline="") as handle:
        rows = [[value.strip() for value in row.values() if isinstance(value, str)] for row in csv.DictReader(handle)]
    texts = [" ".join(row[-2:]) for row in rows] + [row[-1].replace("'", "’") for row in rows]
    found = PTBTokenizer().tokenize({number: [{"caption": text}] for number, text in enumerate(texts)})
    other = [text for number, text in enumerate(texts) if found[number] != [words(text)]]
    assert [text for text in other if "St. Bernard" not in text] == []
    assert len(other) < 0.005 * len(texts)


def scores(texts: Sequence[str], references: Sequence[str], meteor: str = NLTK, **how: Any) -> dict[str, float]:
    counted = count([str(n) for n in range(len(texts))], {"A": texts}, {"A": references}, meteor=meteor, **how)
    found = measure(counted.means(np.ones((1, len(texts)))))
    return {name.removeprefix("A "): float(value[0]) for name, value in found.items()}


def test_the_right_answers_score_best_and_others_nothing() -> None:
    best = scores(RIGHT, RIGHT)
    assert [best[f"BLEU-{n}"] for n in (1, 2, 3)] == pytest.approx([1, 1, 1])
    assert best["ROUGE-L"] == pytest.approx(1)
    assert best["CIDEr"] == pytest.approx(10)
    assert best[NLTK] > 0.99
    none = scores(["quux"] * 3, RIGHT)
    assert max(none.values()) < 1e-3
    assert "SPICE" not in none
    assert "SBERT" not in none


VOCABULARY = ["the", "cat", "sat", "on", "a", "mat", "while", "dogs", "ran", "past", "it", "and", "barked", "at", "Tom"]
texts_of = st.lists(st.sampled_from(VOCABULARY), max_size=9).map(" ".join)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(texts_of, texts_of), min_size=2, max_size=6), st.integers(0, 9))
def test_scores_are_the_packages_own_on_every_resample(pairs: list[tuple[str, str]], seed: int) -> None:
    texts, references = [list(side) for side in zip(*pairs, strict=True)]
    counted = count([str(n) for n in range(len(pairs))], {"A": texts}, {"A": references}, meteor=NLTK)
    weights = np.random.default_rng(seed).multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs)), size=3)
    found = measure(counted.means(weights.astype(float)))
    assert found["A ROUGE-L"].shape == (3,)
    for at, drawn in enumerate(weights):
        rows = [n for n, times in enumerate(drawn) for _ in range(times)]
        right = {place: [words(references[n]) or "--"] for place, n in enumerate(rows)}
        said = {place: [words(texts[n]) or "-"] for place, n in enumerate(rows)}
        bleu, _ = Bleu(3).compute_score(right, said, verbose=0)
        assert [found[f"A BLEU-{n}"][at] for n in (1, 2, 3)] == pytest.approx(bleu, abs=2e-5)
        assert found["A ROUGE-L"][at] == pytest.approx(Rouge().compute_score(right, said)[0])


def test_intervals_are_over_source_videos_and_capsmix_has_one() -> None:
    right = [*RIGHT, "The mouse eats.", "A door falls on Spike.", "Nibbles sings a song"]
    said = ["Tom sleeps.", *right[1:]]
    generated, references = {"A": said * 2, "E": right * 2}, {"A": right * 2, "E": said * 2}
    counted = count([*"abcdef"] * 2, generated, references, encode=lambda texts: np.ones((len(texts), 1)), meteor=NLTK)
    counted = replace(  # SPICE, which needs Java, as if it had been computed
        counted,
        cells=(*counted.cells, "A SPICE", "E SPICE"),
        sums=np.hstack([counted.sums, np.full((6, 2), 0.5)]),
        counts=np.hstack([counted.counts, np.ones((6, 2))]),
    )
    found = estimates(counted, measure)
    assert counted.sources == tuple("abcdef")
    mixed = sum(found[f"{letter} {name}"].value for letter in "AE" for name in WITH_NLTK)
    name = "CapsMIX (NLTK METEOR)"
    assert "CapsMIX" not in found  # the paper's name is for the paper's METEOR
    assert found[name].value == pytest.approx(mixed)
    assert found[name].low < mixed < found[name].high
    assert found["A BLEU-1"].low < found["A BLEU-1"].value < found["A BLEU-1"].high == pytest.approx(1)
    (said_of_meteor,) = notes(found)
    assert said_of_meteor.startswith("METEOR (NLTK) is not METEOR 1.5")
    del found[name], found["A SPICE"]
    assert notes(found)[1].endswith("missing: SPICE.")
    cells = tuple(each.replace(NLTK, JAVA) for each in counted.cells)  # the same sums as those of the other program
    renamed = estimates(replace(counted, cells=cells), measure)
    assert renamed["CapsMIX"].value == pytest.approx(mixed)
    assert notes(renamed) == ()


@pytest.mark.full
@pytest.mark.skipif(not java_found(), reason="no Java, which METEOR 1.5 is a program for")
def test_meteor_1_5_is_that_of_its_definition() -> None:
    """All matches exact, so by hand: content words weigh .75 and function words .25; alpha .85, beta .2, gamma .6."""
    right, said = ["tom chases the mouse jerry", "café mouse"], ["tom chases jerry", "café mouse"]
    recall = 3 * 0.75 / (4 * 0.75 + 1 * 0.25)  # tom, chases, jerry of tom, chases, mouse, jerry and the; precision is 1
    mean = recall / (0.85 + 0.15 * recall)
    chunks, matches = 2, 3
    by_hand = mean * (1 - 0.6 * (chunks / matches) ** 0.2)
    assert java_meteor(said, right) == pytest.approx([by_hand, 1], abs=1e-6)
    assert by_hand < nltk_meteor(said[0].split(), right[0].split())


def test_which_meteor_is_found_by_java_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: name)
        patch.setattr(
            "stressreel.evaluation.metrics.open_ended.java_meteor", lambda texts, references: [0.9] * len(texts)
        )
        found = scores([*RIGHT[:2], ""], [*RIGHT[:2], "..."], meteor=None)
        assert NLTK not in found
        assert found[JAVA] == pytest.approx(0.6)  # nothing is no match of nothing
        patch.setattr(shutil, "which", lambda name: None)
        found = scores(RIGHT, RIGHT[::-1], meteor=None)
        assert JAVA not in found
        each = [nltk_meteor(words(a).split(), words(b).split()) for a, b in zip(RIGHT, RIGHT[::-1], strict=True)]
        assert found[NLTK] == pytest.approx(sum(each) / 3)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for how, says in (({"meteor": JAVA}, "--meteor nltk"), ({"spice": True}, "SPICE needs Java")):
        with pytest.raises(InputError, match=says):
            scores(RIGHT, RIGHT, **how)
    monkeypatch.undo()
    broken = tmp_path / "java"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"METEOR 1\.5 failed"):
        java_meteor(["tom"] * 3, ["tom"] * 3)


def test_sbert_is_the_mean_cosine() -> None:
    vectors = np.array([[1.0, 0], [0, 1], [0.6, 0.8], [0, 1]])
    assert scores(["a", "b"], ["c", "d"], encode=lambda texts: vectors)["SBERT"] == pytest.approx((0.6 + 1) / 2)


# Table 3 (a), UD: scores of A and E in turn; the sums of A, of E, and CapsMIX as printed.
TABLE_3 = {
    "BlindQA": (
        ".2412 .1912 .1039 .0618 .0415 .0221 .1243 .0891 .2732 .1885 .2956 .0703 .1034 .0403 .4987 .4195",
        (1.6818, 1.0828, 2.7646),
    ),
    "VisionGPT-2": (
        ".3878 .3095 .2605 .1727 .1738 .1091 .2560 .1756 .3934 .2941 .4498 .3385 1.3725 .7539 .6760 .6350",
        (3.9698, 2.7884, 6.7582),
    ),
}


def table_3(model: str) -> tuple[dict[str, float], dict[str, float]]:
    values = [float(text) for text in TABLE_3[model][0].split()]
    return dict(zip(SCORES, values[0::2], strict=True)), dict(zip(SCORES, values[1::2], strict=True))


@pytest.mark.parametrize("model", TABLE_3)
def test_capsmix_is_the_plain_sum_of_table_3(model: str) -> None:
    answers, explanations = table_3(model)
    of_a, of_e, both = TABLE_3[model][1]
    assert (sum(answers.values()), sum(explanations.values())) == pytest.approx((of_a, of_e), abs=1e-9)
    assert capsmix(answers, explanations) == pytest.approx(both, abs=1e-9)
    ciders = answers["CIDEr"] + explanations["CIDEr"]
    assert normalised_mean(answers, explanations) == pytest.approx((both - 0.9 * ciders) / 16)
    del answers["SPICE"]
    with pytest.raises(KeyError):
        capsmix(answers, explanations)
