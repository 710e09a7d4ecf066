"""Score generated texts against references, as in CausalChaos (Parmar et al. 2024), section 4 and Table 3.

BLEU, METEOR 1.5, ROUGE-L, CIDEr and SPICE are pycocoevalcap's, and SBERT is the cosine of sentence embeddings. NLTK's
Penn Treebank tokenizer, with lower-casing and without punctuation, replaces pycocoevalcap's PTBTokenizer, which
requires Java. Scores can differ in the third decimal. METEOR 1.5 and SPICE require Java, and SPICE downloads Stanford
CoreNLP on first use. Without Java, METEOR is NLTK's, which is a different score with a different name.

All scores are functions of sums over questions and therefore have bootstrap intervals. METEOR, ROUGE-L, SPICE, CIDEr
and SBERT are means over questions, and BLEU uses the n-gram counts and lengths of the entire corpus. In every resample,
CIDEr's document frequencies are those of all references.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from functools import reduce
from io import StringIO
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.extras import import_extra, named
from ...core.results import Estimate
from .bootstrap import Floats, Means, Tally, by_source
from .meteor import JAVA, NLTK, java_found, java_meteor, nltk_meteor

Encode = Callable[[Sequence[str]], NDArray[np.floating]]
"""Function that embeds texts as unit vectors, shape (texts, dimensions)."""

NAME = "open-ended"
SCORES = ("BLEU-1", "BLEU-2", "BLEU-3", JAVA, "ROUGE-L", "SPICE", "CIDEr", "SBERT")
WITH_NLTK = tuple(NLTK if name == JAVA else name for name in SCORES)
CAPSMIX, NORMALISED, OTHER_METEOR = "CapsMIX", "normalised mean", " (NLTK METEOR)"
BEST = {name: 10.0 if name == "CIDEr" else 1.0 for name in (*SCORES, NLTK)}
"""Theoretical maximum of each score. CIDEr-D is 10 times a similarity from 0 to 1."""
ASKED = ("A", "E")
GRAMS = (1, 2, 3)
NO_GRAMS = 1e-6
"""Precision that pycocoevalcap reports if there are no n-grams: 1e-15 / 1e-9."""
PUNCTUATION = frozenset(["''", "'", "``", "`", *'()[]{}.?!,:;-"', "--", "..."])
TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": " -- ", "—": " -- ", "…": " ... "})
LOOSE_MARKS = re.compile(r"[.!?]+(?=[\s\"')\]]|$)|(?<!\S)'(?=\w)")  # split only from the last sentence
NO_WORDS = ("-", "--")
"""Placeholders for a text and a reference without words, which the packages do not accept. They must differ."""

Number = TypeVar("Number", float, Floats)


def words(text: str) -> str:
    """Return the words of a text in lower case, separated by spaces and without punctuation."""
    tokenizer = import_extra("nltk.tokenize", what="splitting texts into words").TreebankWordTokenizer()
    plain = LOOSE_MARKS.sub(" ", text.translate(TYPOGRAPHIC)).lower()
    return " ".join(word for word in tokenizer.tokenize(plain) if word not in PUNCTUATION)


def per_text(
    texts: Sequence[str],
    references: Sequence[str],
    *,
    encode: Encode | None = None,
    spice: bool = False,
    meteor: str | None = None,
) -> dict[str, tuple[Floats, Floats]]:
    """Score each text against its reference.

    SBERT is omitted if `encode`, the sentence encoder, is None. `meteor` is `meteor.JAVA` or `meteor.NLTK`; by default,
    version 1.5 is used if Java is installed.

    Returns:
        A sum and a count per text for each part of a score: "1-grams" to "3-grams" (matches and n-grams), "length"
            (words of the text and of the reference), and the scores that are means, each with count 1.

    Raises:
        InputError: A package is not installed, or Java or the models of SPICE are not available.
    """
    try:
        from pycocoevalcap.bleu.bleu_scorer import BleuScorer
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.rouge.rouge import Rouge
    except ModuleNotFoundError as error:
        raise named(error, "score open-ended") from error
    if not texts:
        raise InputError("there are no texts to score. Provide at least one prediction.")
    found = {number: [words(text) or NO_WORDS[0]] for number, text in enumerate(texts)}
    right = {number: [words(text) or NO_WORDS[1]] for number, text in enumerate(references)}
    bleu = BleuScorer(n=len(GRAMS))
    for number in found:
        bleu += (found[number][0], right[number])
    with redirect_stdout(StringIO()):  # the packages print their progress
        _, rouge = Rouge().compute_score(right, found)
        _, cider = Cider().compute_score(right, found)
    pairs = [(right[number][0].split(), found[number][0].split()) for number in found]
    parts: dict[str, tuple[Any, Any]] = {}
    for size in GRAMS:
        correct, guessed = ([text[name][size - 1] for text in bleu.ctest] for name in ("correct", "guess"))
        parts[f"{size}-grams"] = correct, guessed
    parts["length"] = ([len(text) for _, text in pairs], [len(reference) for reference, _ in pairs])
    ones = np.ones(len(pairs))
    meteor = meteor or (JAVA if java_found() else NLTK)
    if meteor == JAVA:
        scored = java_meteor(*([each[0] for each in side.values()] for side in (found, right)))
        aligned = [0.0 if found[number] == [NO_WORDS[0]] else score for number, score in enumerate(scored)]
    else:
        aligned = [nltk_meteor(said, reference) for reference, said in pairs]
    parts |= {meteor: (aligned, ones), "ROUGE-L": (rouge, ones), "CIDEr": (cider, ones)}
    if spice:
        parts["SPICE"] = (_spice(right, found), ones)
    if encode is not None:
        vectors = encode([*texts, *references])
        parts["SBERT"] = (np.sum(vectors[: len(texts)] * vectors[len(texts) :], axis=1), ones)
    return {name: (np.asarray(sums, np.float64), np.asarray(of, np.float64)) for name, (sums, of) in parts.items()}


def _spice(right: dict[int, list[str]], found: dict[int, list[str]]) -> list[float]:
    if shutil.which("java") is None:
        raise InputError("SPICE needs Java, which is not installed. Install a Java runtime, or omit --spice.")
    try:
        from pycocoevalcap.spice.spice import Spice

        scorer: Any = Spice()
        _, each = scorer.compute_score(right, found)
    except Exception as error:  # download, Java process and JSON fail in different ways
        raise InputError(
            f"SPICE failed ({type(error).__name__}: {error}). It needs Java 8 or later and, once, the network for "
            "Stanford CoreNLP. Omit --spice to score without it."
        ) from error
    return [float(scores["All"]["f"]) for scores in each]


def count(
    sources: Sequence[str],
    generated: Mapping[str, Sequence[str]],
    references: Mapping[str, Sequence[str]],
    *,
    encode: Encode | None = None,
    spice: bool = False,
    meteor: str | None = None,
) -> Tally:
    """Sum the parts of all scores by source video, in cells such as "A METEOR 1.5" and "E 2-grams" (see `per_text`).

    Texts and references are keyed by "A" for answers and, if there are any, "E" for explanations.
    """
    names, where = by_source(sources)
    cells = {
        f"{letter} {part}": values
        for letter, texts in generated.items()
        for part, values in per_text(texts, references[letter], encode=encode, spice=spice, meteor=meteor).items()
    }
    sums, counts = (
        np.array([np.bincount(where, weights=values[kind], minlength=len(names)) for values in cells.values()]).T
        for kind in (0, 1)
    )
    return Tally(tuple(names), tuple(cells), sums, counts).answered()


def measure(means: Means) -> dict[str, Floats]:
    """Compute the scores of answers ("A BLEU-1") and explanations ("E BLEU-1"), CapsMIX and the normalized mean.

    CapsMIX and the normalized mean require all eight scores of both. Their names state whether METEOR is NLTK's.
    """
    scores: dict[str, Floats] = {}
    names = wanted(means)
    for letter in ASKED:
        if f"{letter} length" not in means:
            continue
        found = {f"BLEU-{size}": value for size, value in zip(GRAMS, _bleu(letter, means), strict=True)}
        found |= {name: means[f"{letter} {name}"] for name in names if f"{letter} {name}" in means}
        scores |= {f"{letter} {name}": found[name] for name in names if name in found}
    both = [{name: scores[f"{letter} {name}"] for name in names if f"{letter} {name}" in scores} for letter in ASKED]
    if all(len(found) == len(names) for found in both):
        suffix = OTHER_METEOR if NLTK in names else ""
        scores |= {CAPSMIX + suffix: capsmix(*both), NORMALISED + suffix: normalised_mean(*both)}
    return scores


def wanted(found: Collection[str]) -> tuple[str, ...]:
    """Return the names of the eight scores, with the version of METEOR that is available."""
    return WITH_NLTK if f"{ASKED[0]} {NLTK}" in found else SCORES


def _bleu(letter: str, means: Means) -> list[Floats]:
    """Compute corpus BLEU from the means of each resample. It differs from pycocoevalcap's by at most 1e-5."""
    precisions = [np.nan_to_num(means[f"{letter} {size}-grams"], nan=NO_GRAMS) for size in GRAMS]
    brevity = np.exp(np.minimum(0.0, 1 - 1 / means[f"{letter} length"]))
    return [np.prod(precisions[:size], axis=0) ** (1 / size) * brevity for size in GRAMS]


def notes(headline: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return notes on NLTK's METEOR, and on scores that CapsMIX lacks."""
    names = wanted(headline)
    found = []
    if NLTK in names:
        found.append(
            f"{NLTK} is not {JAVA}: it is higher on most texts, and so is a CapsMIX with it. Compare neither "
            "with the paper's Table 3. Version 1.5 needs Java."
        )
    missing = [name for name in names if f"A {name}" not in headline]
    if "E BLEU-1" not in headline:
        missing.append("those of explanations")
    if missing:
        found.append(f"{CAPSMIX} needs all eight scores of answers and of explanations; missing: {', '.join(missing)}.")
    return tuple(found)


def capsmix(answers: Mapping[str, Number], explanations: Mapping[str, Number]) -> Number:
    """Return CapsMIX, the sum of the 16 scores, as in the paper's Table 3. Raise KeyError if a score is missing.

    The paper's text says "after normalizing them to their theoretical best values", but the sums in the table contain
    CIDEr unscaled. `normalised_mean` follows the text.
    """
    names = WITH_NLTK if NLTK in answers else SCORES
    return reduce(add, [scores[name] for scores in (answers, explanations) for name in names])


def normalised_mean(answers: Mapping[str, Number], explanations: Mapping[str, Number]) -> Number:
    """Return the mean (0 to 1) of the 16 scores, each divided by its maximum (10 for CIDEr); see `capsmix`."""
    names = WITH_NLTK if NLTK in answers else SCORES
    parts = [scores[name] / BEST[name] for scores in (answers, explanations) for name in names]
    return reduce(add, parts) / len(parts)
