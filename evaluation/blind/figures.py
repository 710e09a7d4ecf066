"""Compute the accuracies of blind baselines, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...core.results import Estimate
from ..metrics.bootstrap import RESAMPLES, estimates, tally
from .fitting import Fold
from .questions import Arranged

Choices = NDArray[np.int64]
Family = Literal["untrained", "trained"]


@dataclass(frozen=True)
class BaselineChoices:
    """The options that one baseline chooses.

    Attributes:
        family: Whether the baseline is trained on questions with known answers.
        choices: Original index of the chosen option of each question, shape (questions,), or (questions, 2) for pairs.
        right: Probability that each choice is correct, shape (questions,). It is 0 or 1 unless options are tied.
    """

    name: str
    meaning: str
    family: Family
    choices: Choices
    right: NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """The accuracy of one baseline.

    Attributes:
        family: Whether the baseline is trained on questions with known answers.
        share: Accuracy on all questions, with its interval over source videos.
        balanced: Accuracy on the balanced subset, or None.
    """

    guesser: str
    meaning: str
    family: Family
    share: Estimate
    balanced: Estimate | None = None


@dataclass(frozen=True)
class Worth:
    """How much a cue contributes to the baseline that combines all cues.

    Attributes:
        alone: Accuracy with this cue only.
        lost: Decrease in accuracy without this cue.
    """

    cue: str
    alone: float
    lost: float


@dataclass(frozen=True, eq=False)
class Audited:
    """The result of auditing one set of options.

    Attributes:
        part: "answer", "explanation", "both", "choice" or "yes/no".
        learnt: Number of training questions, or 0 if baselines were cross-fitted.
        num_balanced: Number of questions in the balanced subset, or None.
        elsewhere: Accuracy of the baseline that is best on other source videos, which is free of selection bias.
        choices: Choices of each baseline, in the order of `ids`.
        left_out: For each baseline that could not run, the reason.
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
        """The baseline with the highest accuracy (the first of several)."""
        return max(self.figures, key=lambda figure: figure.share.value)

    @property
    def best_balanced(self) -> Figure | None:
        """The baseline with the highest accuracy on the balanced subset, or None."""
        there = [figure for figure in self.figures if figure.balanced is not None]
        return max(there, key=lambda figure: figure.balanced.value if figure.balanced else 0.0, default=None)


def audited(
    part: str,
    rows: Arranged,
    guesses: Sequence[BaselineChoices],
    divided: Sequence[Fold],
    *,
    learnt: int,
    chance: float,
    seed: int,
    resamples: int = RESAMPLES,
    worth: Sequence[Worth] = (),
    left_out: Mapping[str, str] | None = None,
) -> Audited:
    """Compute the accuracies of baselines from their choices."""
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


def _best_elsewhere(guesses: Sequence[BaselineChoices], divided: Sequence[Fold]) -> NDArray[np.float64]:
    """Return the correctness of answers in each fold by the baseline that is best on the other folds."""
    right = np.stack([guess.right for guess in guesses])
    if not divided:
        return np.full(right.shape[1], np.nan)
    found = np.zeros(right.shape[1])
    for others, asked in divided:
        found[asked] = right[int(right[:, others].mean(axis=1).argmax()), asked]
    return found
