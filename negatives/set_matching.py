"""Choose one of several option sets for each question so that correct options and distractors have the same cues.

If the cues of correct options have the same means over all questions as those of distractors, no weighted sum of them
separates the two. To cover models that combine cues, such as trees, random conjunctions ("among the longest, and
without a counterpart") count as cues too. Questions change their sets one by one, each to the set that brings the means
closest together. No model is trained, so none can be overfitted: the procedure minimizes the maximum mean discrepancy
of correct options and distractors (Gretton et al. 2012, "A Kernel Two-Sample Test", section 2) over hand-made features.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core.numerics import rng_for
from .content_words import NEGATIONS, content_lemmas, content_words
from .options import Doubles, Floats, Indices

DIGITS = 4
RANKED = 24  # number of leading cues that are also ranked within a set

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

CONJUNCTIONS = 1500
WEIGHT = 2.0  # weights of conjunctions, and of how often a text is an option
SWEEPS = 6  # number of passes over all questions
SAMPLE = 1000  # number of questions from whose sets thresholds are sampled
LOSS_DIGITS = 6
NUDGE = 1e-6  # how far a threshold is below the sampled value


def relative(values: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Return values minus the mean of their set, their rank, and their margins as the largest and the smallest.

    A set is the last axis of `values`.
    """
    rank = ranks(values)
    last = values.shape[-1] - 1
    return [
        values - values.mean(-1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]


def ranks(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return how many others of its set, the last axis, each value exceeds. Equal values share their ranks."""
    low = np.zeros_like(values)
    for index in range(values.shape[-1]):  # one comparison per option is faster than all of them in one array
        other = values[..., index : index + 1]
        low += (values > other) + values.dtype.type(0.5) * (values == other)
    shared: NDArray[np.floating] = low - values.dtype.type(0.5)
    return shared


def set_cues(vectors: Floats, cues: Floats) -> Floats:
    """Return cues of options in their sets: their own, their difference from the others' mean, and ranks.

    Args:
        vectors: Embeddings of the options, float32 of shape (…, options, dimensions), each of length 1.
        cues: Their cues, float32 of shape (…, options, cues).

    Returns:
        float32 of shape (…, options, …). The first three are the mean, largest and smallest cosine with the others.
    """
    others = vectors.shape[-2] - 1
    cosines = (vectors @ vectors.swapaxes(-1, -2)).round(DIGITS)
    own = np.arange(others + 1)
    cosines[..., own, own] = 0
    near = [cosines.sum(-1) / others]
    cosines[..., own, own] = -2
    near.append(cosines.max(-1))
    cosines[..., own, own] = 2
    near.append(cosines.min(-1))
    values = np.concatenate([np.stack(near, -1), cues], axis=-1)
    difference = values - (values.sum(-2, keepdims=True) - values) / others
    leading = values[..., :RANKED].swapaxes(-1, -2)
    return np.concatenate([values, difference, ranks(leading).swapaxes(-1, -2)], axis=-1, dtype=np.float32)


def word_weights(questions: Sequence[str]) -> dict[str, float]:
    """Return the inverse document frequency of each content word in the questions."""
    counts = Counter(word for question in questions for word in content_words(question))
    return {word: math.log((1 + len(questions)) / count) for word, count in counts.items()}


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
    alike = _with_others(_dice([Counter(of_set) for of_set in words]), sets).max(2)
    ordered = -np.sort(-_with_others(_dice([Counter(pairwise(of_set)) for of_set in words]), sets), axis=2)
    denied = negated[sets].astype(np.float64)
    question_words = content_words(question)
    shared = np.array(
        [sum(weights.get(word, 0.0) for word in sorted(question_words & content_words(text))) for text in texts]
    )
    paired, nearer, placed = (np.zeros(near.shape) for _ in range(3))
    for n, of_set in enumerate(pairs):
        for first, second in of_set:
            both = [first, second]
            paired[n, both] = 1
            nearer[n, first if near[n, first] > near[n, second] else second] = 1
            placed[n, both] = PLACED * (near[n, both].mean() - near[n].mean())
    farther = paired - nearer
    two = np.array([len(of_set) > 1 for of_set in pairs])[:, None]
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
    table = np.zeros((len(bags), len(bags)))
    for n, first in enumerate(bags):
        for m, second in enumerate(bags[:n]):
            total = first.total() + second.total()
            table[n, m] = table[m, n] = 2 * (first & second).total() / total if total else 0.0
    return table.round(2)


@dataclass(frozen=True, eq=False)
class CandidateSets:
    """The option sets that are possible for a question.

    Attributes:
        id: Id of the question.
        cues: float64 of shape (sets, options, cues); the correct option is first.
        keys: Text numbers, int64 of shape (sets, options), for counting the uses of a text as an option.
        wanted: Whether each set is of the kind that must not become rarer.
        start: Index of the initial set.
    """

    id: str
    cues: Doubles
    keys: Indices
    wanted: NDArray[np.bool_]
    start: int


def match_sets(questions: Sequence[CandidateSets], *, seed: int, kind: str) -> list[int]:
    """Choose a set for each question, and return the index of the chosen set."""
    if not questions:
        return []
    order = sorted(range(len(questions)), key=lambda n: questions[n].id)
    rng = rng_for(seed, "matching", kind)
    state = _State([questions[n] for n in order], rng)
    fewest = state.wanted
    for _ in range(SWEEPS):
        state.sweep(rng.permutation(len(order)).tolist(), fewest)
    index = {n: index for index, n in enumerate(order)}
    return [state.chosen[index[n]] for n in range(len(order))]


class _State:
    """The sets that are currently chosen, and how often each text is an option in them."""

    def __init__(self, questions: Sequence[CandidateSets], rng: np.random.Generator):
        self.questions = questions
        self.chosen = [question.start for question in questions]
        self._counts = np.zeros(1 + max(int(question.keys.max()) for question in questions))
        for n in range(len(questions)):
            self._count(n, 1)
        sampled = range(0, len(questions), len(questions) // SAMPLE + 1)
        seen = np.concatenate([self._cues(n, [self.chosen[n]])[0] for n in sampled])
        # A conjunction consists of two cues, each with a threshold sampled from its values.
        self._columns = rng.integers(0, seen.shape[1], (2, CONJUNCTIONS))
        self._least = seen[rng.integers(0, len(seen), (2, CONJUNCTIONS)), self._columns] - NUDGE

    @property
    def wanted(self) -> int:
        return sum(int(question.wanted[chosen]) for question, chosen in zip(self.questions, self.chosen, strict=True))

    def sweep(self, order: Sequence[int], fewest: int) -> None:
        """For each question in turn, choose the set that brings correct options and distractors closest together."""
        differ = np.stack([self._differences(n, [self.chosen[n]])[0] for n in range(len(self.questions))])
        total, wanted = differ.sum(0), self.wanted
        for n in order:
            question, old = self.questions[n], self.chosen[n]
            offered = self._differences(n, range(len(question.keys)))
            loss = (((total - differ[n] + offered) ** 2).sum(1) / len(self.questions)).round(LOSS_DIGITS)
            loss[wanted - question.wanted[old] + question.wanted < fewest] = np.inf
            new = int(np.argmin(loss))
            self._count(n, -1)
            self.chosen[n] = new
            self._count(n, 1)
            wanted += int(question.wanted[new]) - int(question.wanted[old])
            total = total - differ[n] + offered[new]
            differ[n] = offered[new]

    def _count(self, n: int, change: int) -> None:
        self._counts[self.questions[n].keys[self.chosen[n]]] += change

    def _cues(self, n: int, sets: Sequence[int]) -> Doubles:
        question = self.questions[n]
        self._count(n, -1)
        often = self._counts[question.keys[sets]] + 1
        self._count(n, 1)
        return np.concatenate([question.cues[sets], np.stack(relative(WEIGHT * np.log(often)), axis=2)], axis=2)

    def _differences(self, n: int, sets: Sequence[int]) -> Doubles:
        """Return how far each set's correct option is from its distractors, float64 of shape (sets, features)."""
        cues = self._cues(n, sets)
        count, options, width = cues.shape
        by_cue = np.ascontiguousarray(cues.transpose(2, 1, 0)).reshape(width, -1)  # rows are gathered faster
        both = by_cue[self._columns[0]] > self._least[0][:, None]
        both &= by_cue[self._columns[1]] > self._least[1][:, None]
        both = both.reshape(-1, options, count)
        conjunctions = both[:, 0] - both[:, 1:].sum(1, dtype=np.uint8) / (options - 1)
        return np.concatenate([cues[:, 0] - cues[:, 1:].mean(1), WEIGHT * conjunctions.T], axis=1)
