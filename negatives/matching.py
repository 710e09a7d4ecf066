"""Choose one of several option sets for each question so that right options, taken together, look like wrong ones.

What can be seen of an option is a row of numbers. Where the right options of all questions have the same mean of each
as the wrong ones, whoever weighs them learns nothing; so that the same holds for whoever asks for several at once, as
trees do, random conjunctions of them ("among the longest, and no twin") count as numbers too. Questions change their
sets one by one, each to the set with which the means are nearest to one another. No guesser is trained, and so none is
fitted to: what is made small is the maximum mean discrepancy of right and wrong options (Gretton et al. 2012, "A Kernel
Two-Sample Test", section 2), over features of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from .facets import relative

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

CONJUNCTIONS = 1500
HELD = 2.0  # what a conjunction weighs against a number of its own
SWEEPS = 6  # so often each question is asked for a better set
SAMPLE = 1000  # questions whose sets thresholds are drawn from
LOSS_DIGITS = 6
NUDGE = 1e-6  # a threshold lies below the value that it was drawn from


@dataclass(frozen=True, eq=False)
class Sets:
    """The option sets that a question may have.

    Attributes:
        id: Of the question.
        shown: What is seen of options, float64 of shape (sets, options, numbers); the right option comes first.
        keys: Numbers of the texts, int64 of shape (sets, options): how often a text is an option is seen too.
        wanted: Which sets are of the kind that there must be as many of at the end as at the start, or more.
        start: The set to start from.
    """

    id: str
    shown: Doubles
    keys: Rows
    wanted: Flags
    start: int


def match_sets(questions: Sequence[Sets], *, seed: int, kind: str) -> list[int]:
    """Return the number of the set of each question.

    Args:
        questions: Of one split; their order does not matter.
        seed: The dataset's seed.
        kind: Keeps the draws of several calls apart.
    """
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
    """The sets that were chosen so far, and how often each text is an option in them."""

    def __init__(self, questions: Sequence[Sets], rng: np.random.Generator):
        """Start, and draw the conjunctions: two numbers, and a value of each that was seen."""
        self.questions = questions
        self.chosen = [one.start for one in questions]
        self._counts = np.zeros(1 + max(int(one.keys.max()) for one in questions))
        for n in range(len(questions)):
            self._count(n, 1)
        some = range(0, len(questions), len(questions) // SAMPLE + 1)
        seen = np.concatenate([self._numbers(n, [self.chosen[n]])[0] for n in some])
        self._columns = rng.integers(0, seen.shape[1], (2, CONJUNCTIONS))
        self._least = seen[rng.integers(0, len(seen), (2, CONJUNCTIONS)), self._columns] - NUDGE

    @property
    def wanted(self) -> int:
        """How many sets are of the kind that is wanted."""
        return sum(int(one.wanted[chosen]) for one, chosen in zip(self.questions, self.chosen, strict=True))

    def sweep(self, order: Sequence[int], fewest: int) -> None:
        """Let each question, in an order, take the set with which right and wrong options differ least."""
        differ = np.stack([self._differ(n, [self.chosen[n]])[0] for n in range(len(self.questions))])
        total, wanted = differ.sum(0), self.wanted
        for n in order:
            one, old = self.questions[n], self.chosen[n]
            offered = self._differ(n, range(len(one.keys)))
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

    def _numbers(self, n: int, sets: Sequence[int]) -> Doubles:
        """Return what is seen of options, and how often each would be one if a set were chosen."""
        one = self.questions[n]
        self._count(n, -1)
        often = self._counts[one.keys[sets]] + 1
        self._count(n, 1)
        shown = one.shown[sets]
        return np.concatenate([shown, np.stack(relative(HELD * np.log(often)), axis=2)], axis=2)

    def _differ(self, n: int, sets: Sequence[int]) -> Doubles:
        """Return how the right option of each set differs from the wrong ones, float64 of shape (sets, features)."""
        numbers = self._numbers(n, sets)
        one, other = (numbers[:, :, columns] > least for columns, least in zip(self._columns, self._least, strict=True))
        features = np.concatenate([numbers, HELD * (one & other)], axis=2)
        found: Doubles = features[:, 0] - features[:, 1:].mean(1)
        return found
