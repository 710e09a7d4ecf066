"""Measure cues of option sets in which some options are confusions of others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .content_words import NEGATIONS, content_lemmas, content_words
from .features import relative

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

DIGITS = 4
NEAR = 5.0  # factors that scale all cues to about the same size
PLACED = 8.0  # how similar a pair is to the question, relative to its set
LETTERS = 20
SHARED = 3
FLAG = 2.0  # a yes/no cue
PAIRED = 6.0  # whether an option has a counterpart, which is the strongest cue
ORDERED = 2  # whether an option shares its word order with a counterpart
IN_WORDS = 10.0  # weight of words relative to word order
DENIED = 0.3

Pair = tuple[int, int]  # positions of two counterparts


def word_weights(questions: Sequence[str]) -> dict[str, float]:
    """Return the inverse document frequency of each content word in the questions."""
    found = Counter(word for question in questions for word in content_words(question))
    return {word: math.log((1 + len(questions)) / count) for word, count in found.items()}


def measure_sets(
    question: str,
    texts: Sequence[str],
    sets: Indices,
    pairs: Sequence[Sequence[Pair]],
    negated: NDArray[np.bool_],
    vectors: Mapping[str, NDArray[np.float32]],
    weights: Mapping[str, float],
) -> Doubles:
    """Return the cues of options within their sets, float64 of shape (sets, options, cues).

    The cues are similarity to the question and to the other options, length, words shared with the question, overlap
    with the other options in words and in word order, negation, and whether an option has a counterpart (by the number
    of pairs in the set, and by which of the two is more similar to the question).

    `sets` contains text numbers, of shape (sets, options), and `pairs` the positions of counterparts in each set. The
    embeddings `vectors` of texts and question have length 1.
    """
    options = np.stack([vectors[text] for text in texts]).astype(np.float64)
    near = (options @ vectors[question].astype(np.float64)).round(DIGITS)[sets]
    like = _with_others((options @ options.T).round(DIGITS), sets)
    words = [[word for word in content_lemmas(text) if word not in NEGATIONS] for text in texts]
    alike = _with_others(_dice([Counter(some) for some in words]), sets).max(2)
    ordered = -np.sort(-_with_others(_dice([Counter(pairwise(some)) for some in words]), sets), axis=2)
    denied = negated[sets].astype(np.float64)
    asked = content_words(question)
    shared = np.array([sum(weights.get(word, 0.0) for word in sorted(asked & content_words(text))) for text in texts])
    paired, nearer, placed = (np.zeros(near.shape) for _ in range(3))
    for n, some in enumerate(pairs):
        for one, other in some:
            both = [one, other]
            paired[n, both] = 1
            nearer[n, one if near[n, one] > near[n, other] else other] = 1
            placed[n, both] = PLACED * (near[n, both].mean() - near[n].mean())
    farther = paired - nearer
    two = np.array([len(some) > 1 for some in pairs])[:, None]
    cues = [
        *relative(NEAR * near),
        *relative(NEAR * like.mean(2).round(DIGITS)),
        *relative(NEAR * like.max(2)),
        *relative(np.array([len(text) for text in texts])[sets] / LETTERS),
        *relative(IN_WORDS * alike + ordered[:, :, :ORDERED].sum(2) - DENIED * denied),
        *relative(shared[sets] / SHARED),
        FLAG * denied,
        *(PAIRED * cue for cue in (paired * ~two, paired * two)),
        *(FLAG * cue for cue in (nearer, farther, nearer * two, farther * two)),
        placed,
        nearer * placed,
    ]
    return np.stack(cues, axis=2)


def _with_others(table: Doubles, sets: Indices) -> Doubles:
    block = table[sets[:, :, None], sets[:, None, :]]
    others = ~np.eye(sets.shape[1], dtype=np.bool_)
    return block[:, others].reshape(len(sets), sets.shape[1], -1)


def _dice(bags: Sequence[Counter[object]]) -> Doubles:
    found = np.zeros((len(bags), len(bags)))
    for n, one in enumerate(bags):
        for m, other in enumerate(bags[:n]):
            total = one.total() + other.total()
            found[n, m] = found[m, n] = 2 * (one & other).total() / total if total else 0.0
    return found.round(2)
