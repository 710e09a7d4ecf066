"""What guessers get right, with intervals, and which of them gets most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...core.results import Estimate
from ..metrics.bootstrap import RESAMPLES, estimates, tally
from .asked import Arranged
from .folds import Fold

Choices = NDArray[np.int64]
Family = Literal["untrained", "trained"]


@dataclass(frozen=True)
class Guess:
    """What one guesser chooses.

    Attributes:
        name: The guesser.
        meaning: What it does.
        family: Whether it learns from questions with known answers.
        choices: The number of its option for each question, as given; of pairs the two numbers, shape (questions, 2).
        right: Whether that is right, shape (questions,); the chance of it where several options are equally good to it.
    """

    name: str
    meaning: str
    family: Family
    choices: Choices
    right: NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """What one guesser gets right.

    Attributes:
        guesser: The guesser.
        meaning: What it does.
        family: Whether it learns from questions with known answers.
        share: Share of all questions that it gets right, with its interval over source videos.
        balanced: The same on the balanced subset; None where there is none.
    """

    guesser: str
    meaning: str
    family: Family
    share: Estimate
    balanced: Estimate | None = None


@dataclass(frozen=True)
class Worth:
    """What a cue is worth to the guesser that weighs all.

    Attributes:
        cue: The cue, or the group of them.
        alone: Share right by this cue alone.
        lost: Share right by all cues minus that by all others.
    """

    cue: str
    alone: float
    lost: float


@dataclass(frozen=True, eq=False)
class Audited:
    """The audit of one set of options.

    Attributes:
        part: What is chosen: "answer", "explanation", "both", "choice" or "yes/no".
        ids: The questions.
        sources: How many source videos they are about.
        learnt: How many questions of train the trained guessers learnt from; 0 if they were cross-fitted.
        chance: Share right by chance.
        num_balanced: How many questions are in the balanced subset; None where there is none.
        figures: What each guesser gets right.
        elsewhere: Share right by the guesser that is best on other source videos: free of the luck of the highest.
        choices: What each guesser chooses, in the order of `ids`.
        worth: What each cue is worth.
        left_out: Guessers that could not guess, and why.
    """

    part: str
    ids: tuple[str, ...]
    sources: int
    learnt: int
    chance: float
    num_balanced: int | None
    figures: tuple[Figure, ...]
    elsewhere: Estimate
    choices: Mapping[str, Choices]
    worth: tuple[Worth, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> Figure:
        """The guesser that gets most right of all questions; of equal ones the first."""
        return max(self.figures, key=lambda figure: figure.share.value)

    @property
    def best_balanced(self) -> Figure | None:
        """The guesser that gets most right of the balanced subset; None where there is none."""
        there = [figure for figure in self.figures if figure.balanced is not None]
        return max(there, key=lambda figure: figure.balanced.value if figure.balanced else 0.0, default=None)


def audited(
    part: str,
    rows: Arranged,
    guesses: Sequence[Guess],
    divided: Sequence[Fold],
    *,
    learnt: int,
    chance: float,
    seed: int,
    resamples: int = RESAMPLES,
    worth: Sequence[Worth] = (),
    left_out: Mapping[str, str] | None = None,
) -> Audited:
    """Count what guessers get right; see `Audited`."""
    names = sorted({one.cluster for one in rows.asked})
    place = {name: number for number, name in enumerate(names)}
    where = np.array([place[one.cluster] for one in rows.asked], np.intp)
    inside = np.array([bool(one.balanced) for one in rows.asked])
    has_subset = any(one.balanced is not None for one in rows.asked) and bool(inside.any())
    cells = {guess.name: (where, guess.right) for guess in guesses}
    if has_subset:
        cells |= {f"{guess.name} balanced": (where[inside], guess.right[inside]) for guess in guesses}
    cells["elsewhere"] = (where, _best_elsewhere(guesses, divided))
    found = estimates(tally(names, cells), lambda means: dict(means), seed=seed, resamples=resamples)
    figures = tuple(
        Figure(guess.name, guess.meaning, guess.family, found[guess.name], found.get(f"{guess.name} balanced"))
        for guess in guesses
    )
    return Audited(
        part=part,
        ids=tuple(one.id for one in rows.asked),
        sources=len(names),
        learnt=learnt,
        chance=chance,
        num_balanced=int(inside.sum()) if has_subset else None,
        figures=figures,
        elsewhere=found["elsewhere"],
        choices={guess.name: guess.choices for guess in guesses},
        worth=tuple(worth),
        left_out=left_out or {},
    )


def _best_elsewhere(guesses: Sequence[Guess], divided: Sequence[Fold]) -> NDArray[np.float64]:
    """Return what is right if each part of the questions is left to the guesser that is best on the other parts."""
    right = np.stack([guess.right for guess in guesses])
    if not divided:
        return np.full(right.shape[1], np.nan)
    found = np.zeros(right.shape[1])
    for others, asked in divided:
        found[asked] = right[int(right[:, others].mean(axis=1).argmax()), asked]
    return found
