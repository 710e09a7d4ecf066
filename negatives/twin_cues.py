"""What can be seen of options some of which are twins of others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .content_words import NEGATIONS, content_lemmas, content_words
from .facets import relative

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

DIGITS = 4  # noise in the last places of a cosine decides nothing
NEAR = 5.0  # this and the next three bring what is measured to about the same size
PLACED = 8.0  # how near a pair is, against its set
LETTERS = 20
SHARED = 3
FLAG = 2.0  # what yes or no weighs
PAIRED = 6.0  # that there are twins is what a reader sees first
ORDERED = 2  # twins that an option shares its order of words with
IN_WORDS = 10.0  # what words weigh against their order
DENIED = 0.3

Pair = tuple[int, int]  # places of two twins


def word_weights(questions: Sequence[str]) -> dict[str, float]:
    """Weigh the content words of questions by how few have them (idf)."""
    found = Counter(word for question in questions for word in content_words(question))
    return {word: math.log((1 + len(questions)) / count) for word, count in found.items()}


def show_twins(
    question: str,
    texts: Sequence[str],
    sets: Rows,
    pairs: Sequence[Sequence[Pair]],
    denied: NDArray[np.bool_],
    vectors: Mapping[str, NDArray[np.float32]],
    weights: Mapping[str, float],
) -> Doubles:
    """Measure options within their sets.

    Seen are: how near options are to the question and to one another, how long they are, which words of the question
    they share, how like they are to one another in words and in their order, whether they deny something, and whether
    they are twins, by how many pairs there are and by which twin is nearer to the question.

    Args:
        question: The question.
        texts: All options of all sets.
        sets: Numbers of texts, of shape (sets, options).
        pairs: For each set the places of twins in it.
        denied: Which texts are negated.
        vectors: Embeddings of texts and question, each of length 1.
        weights: Of the words of questions.

    Returns:
        float64 of shape (sets, options, numbers).
    """
    options = np.stack([vectors[text] for text in texts]).astype(np.float64)
    near = (options @ vectors[question].astype(np.float64)).round(DIGITS)[sets]
    like = _among((options @ options.T).round(DIGITS), sets)
    words = [[word for word in content_lemmas(text) if word not in NEGATIONS] for text in texts]
    alike = _among(_likeness([Counter(some) for some in words]), sets).max(2)
    ordered = -np.sort(-_among(_likeness([Counter(pairwise(some)) for some in words]), sets), axis=2)
    negated = denied[sets].astype(np.float64)
    asked = content_words(question)
    shared = np.array([sum(weights.get(word, 0.0) for word in sorted(asked & content_words(text))) for text in texts])
    numbers = [
        *relative(NEAR * near),
        *relative(NEAR * like.mean(2).round(DIGITS)),
        *relative(NEAR * like.max(2)),
        *relative(np.array([len(text) for text in texts])[sets] / LETTERS),
        *relative(IN_WORDS * alike + ordered[:, :, :ORDERED].sum(2) - DENIED * negated),
        *relative(shared[sets] / SHARED),
        FLAG * negated,
        *_pairs_seen(near, pairs),
    ]
    return np.stack(numbers, axis=2)


def _among(table: Doubles, sets: Rows) -> Doubles:
    """Return what a table says of each option with each other one, of shape (sets, options, options - 1)."""
    block = table[sets[:, :, None], sets[:, None, :]]
    others = ~np.eye(sets.shape[1], dtype=np.bool_)
    return block[:, others].reshape(len(sets), sets.shape[1], -1)


def _likeness(bags: Sequence[Counter[object]]) -> Doubles:
    """Return how much bags share, twice what they share over what they have (Dice)."""
    found = np.zeros((len(bags), len(bags)))
    for n, one in enumerate(bags):
        for m, other in enumerate(bags[:n]):
            total = one.total() + other.total()
            found[n, m] = found[m, n] = 2 * (one & other).total() / total if total else 0.0
    return found.round(2)


def _pairs_seen(near: Doubles, pairs: Sequence[Sequence[Pair]]) -> list[Doubles]:
    paired, nearer, placed = (np.zeros(near.shape) for _ in range(3))
    for n, some in enumerate(pairs):
        for one, other in some:
            both = [one, other]
            paired[n, both] = 1
            nearer[n, one if near[n, one] > near[n, other] else other] = 1
            placed[n, both] = PLACED * (near[n, both].mean() - near[n].mean())
    farther = paired - nearer
    two = np.array([len(some) > 1 for some in pairs])[:, None]
    return [
        *(PAIRED * seen for seen in (paired * ~two, paired * two)),
        *(FLAG * seen for seen in (nearer, farther, nearer * two, farther * two)),
        placed,
        nearer * placed,
    ]
