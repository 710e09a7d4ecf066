"""Open-ended answers against their references.

BLEU, ROUGE-L, CIDEr and SPICE are pycocoevalcap's, METEOR is nltk's, SBERT is the cosine of sentence embeddings.
Words are split by nltk's Penn-Treebank tokenizer, lower-cased, and punctuation is dropped: what pycocoevalcap's own
PTBTokenizer does by way of Java, so scores can differ from its in the third decimal. SPICE alone needs Java, and
downloads Stanford CoreNLP at first use.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Encode = Callable[[Sequence[str]], NDArray[np.floating]]
"""Turns texts into unit vectors, one a row."""

PUNCTUATION = frozenset(["''", "'", "``", "`", *'()[]{}.?!,:;-"', "--", "..."])
EMPTY = "-"
"""What stands for a text without words: the packages cannot take an empty one, and it matches nothing."""


def words(text: str) -> str:
    """Split a text into words between spaces, in lower case and without punctuation."""
    from nltk.tokenize import TreebankWordTokenizer

    kept = [word for word in TreebankWordTokenizer().tokenize(text.lower()) if word not in PUNCTUATION]
    return " ".join(kept) or EMPTY


def caption_scores(
    answers: Sequence[str], references: Sequence[str], *, encode: Encode | None = None, spice: bool = False
) -> dict[str, float]:
    """Score texts against one reference each.

    Args:
        answers: What was generated.
        references: What is right, in the same order.
        encode: Sentence embeddings for SBERT; without it SBERT is left out.
        spice: Whether to compute SPICE.

    Returns:
        The scores of `causal.CAPTION_SCORES` that could be computed; each 0 to 1, CIDEr 0 to 10.

    Raises:
        InputError: A package is not installed, or Java or its models for SPICE cannot be had.
    """
    try:
        from nltk.translate.meteor_score import single_meteor_score
        from pycocoevalcap.bleu.bleu import Bleu
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.rouge.rouge import Rouge
    except ImportError as error:
        raise InputError(f"open-ended scores need {error.name}: pip install 'stressreel[captions]'.") from error
    found = {number: [words(text)] for number, text in enumerate(answers)}
    right = {number: [words(text)] for number, text in enumerate(references)}
    if not found:
        raise InputError("there are no texts to score.")
    with redirect_stdout(StringIO()):  # the package prints what it computes
        bleu, _ = Bleu(3).compute_score(right, found, verbose=0)
        rouge, _ = Rouge().compute_score(right, found)
        cider, _ = Cider().compute_score(right, found)
    scores = {f"BLEU-{number}": float(value) for number, value in enumerate(bleu, 1)}
    pairs = [(right[number][0].split(), found[number][0].split()) for number in found]
    try:
        scores["METEOR"] = fsum(float(single_meteor_score(*pair)) for pair in pairs) / len(pairs)
    except LookupError as error:
        raise InputError("METEOR needs WordNet: `stressreel data download` fetches it.") from error
    scores["ROUGE-L"] = float(rouge)
    if spice:
        scores["SPICE"] = _spice(right, found)
    scores["CIDEr"] = float(cider)
    if encode is not None:
        vectors = encode([*answers, *references])
        scores["SBERT"] = float(np.mean(np.sum(vectors[: len(answers)] * vectors[len(answers) :], axis=1)))
    return scores


def _spice(right: dict[int, list[str]], found: dict[int, list[str]]) -> float:
    if shutil.which("java") is None:
        raise InputError("SPICE needs Java, which is not here. Leave --spice out, or install a Java runtime.")
    try:
        from pycocoevalcap.spice.spice import Spice

        scorer: Any = Spice()
        mean, _ = scorer.compute_score(right, found)
    except Exception as error:  # a download, a Java process and its JSON: each fails in its own way
        raise InputError(
            f"SPICE failed ({type(error).__name__}: {error}). It needs Java 8 or later and, once, the network for "
            "Stanford CoreNLP. Leave --spice out to score without it."
        ) from error
    return float(mean)
