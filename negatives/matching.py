"""Choose one of several option sets for each question so that correct options and distractors have the same cues.

If the cues of correct options have the same means over all questions as those of distractors, no weighted sum of them
separates the two. To cover models that combine cues, such as trees, random conjunctions ("among the longest, and
without a counterpart") count as cues too. Questions change their sets one by one, each to the set that brings the means
closest together. No model is trained, so none can be overfitted: the procedure minimizes the maximum mean discrepancy
of correct options and distractors (Gretton et al. 2012, "A Kernel Two-Sample Test", section 2) over hand-made features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from .features import relative

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

CONJUNCTIONS = 1500
WEIGHT = 2.0  # weights of conjunctions, and of how often a text is an option
SWEEPS = 6  # number of passes over all questions
SAMPLE = 1000  # number of questions from whose sets thresholds are sampled
LOSS_DIGITS = 6
NUDGE = 1e-6  # how far a threshold is below the sampled value


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
    place = {n: place for place, n in enumerate(order)}
    return [state.chosen[place[n]] for n in range(len(order))]


class _State:
    """The sets that are currently chosen, and how often each text is an option in them."""

    def __init__(self, questions: Sequence[CandidateSets], rng: np.random.Generator):
        self.questions = questions
        self.chosen = [one.start for one in questions]
        self._counts = np.zeros(1 + max(int(one.keys.max()) for one in questions))
        for n in range(len(questions)):
            self._count(n, 1)
        some = range(0, len(questions), len(questions) // SAMPLE + 1)
        seen = np.concatenate([self._cues(n, [self.chosen[n]])[0] for n in some])
        # A conjunction consists of two cues, each with a threshold sampled from its values.
        self._columns = rng.integers(0, seen.shape[1], (2, CONJUNCTIONS))
        self._least = seen[rng.integers(0, len(seen), (2, CONJUNCTIONS)), self._columns] - NUDGE

    @property
    def wanted(self) -> int:
        return sum(int(one.wanted[chosen]) for one, chosen in zip(self.questions, self.chosen, strict=True))

    def sweep(self, order: Sequence[int], fewest: int) -> None:
        """For each question in turn, choose the set that brings correct options and distractors closest together."""
        differ = np.stack([self._differences(n, [self.chosen[n]])[0] for n in range(len(self.questions))])
        total, wanted = differ.sum(0), self.wanted
        for n in order:
            one, old = self.questions[n], self.chosen[n]
            offered = self._differences(n, range(len(one.keys)))
            loss = (((total - differ[n] + offered) ** 2).sum(1) / len(self.questions)).round(LOSS_DIGITS)
            loss[wanted - one.wanted[old] + one.wanted < fewest] = np.inf
            new = int(np.argmin(loss))
            self._count(n, -1)
            self.chosen[n] = new
            self._count(n, 1)
            wanted += int(one.wanted[new]) - int(one.wanted[old])
            total = total - differ[n] + offered[new]
            differ[n] = offered[new]

    def _count(self, n: int, change: int) -> None:
        self._counts[self.questions[n].keys[self.chosen[n]]] += change

    def _cues(self, n: int, sets: Sequence[int]) -> Doubles:
        one = self.questions[n]
        self._count(n, -1)
        often = self._counts[one.keys[sets]] + 1
        self._count(n, 1)
        return np.concatenate([one.cues[sets], np.stack(relative(WEIGHT * np.log(often)), axis=2)], axis=2)

    def _differences(self, n: int, sets: Sequence[int]) -> Doubles:
        """Return how far each set's correct option is from its distractors, float64 of shape (sets, features)."""
        cues = self._cues(n, sets)
        number, options, width = cues.shape
        by_cue = np.ascontiguousarray(cues.transpose(2, 1, 0)).reshape(width, -1)  # rows are gathered faster
        both = by_cue[self._columns[0]] > self._least[0][:, None]
        both &= by_cue[self._columns[1]] > self._least[1][:, None]
        both = both.reshape(-1, options, number)
        conjunctions = both[:, 0] - both[:, 1:].sum(1, dtype=np.uint8) / (options - 1)
        return np.concatenate([cues[:, 0] - cues[:, 1:].mean(1), WEIGHT * conjunctions.T], axis=1)
