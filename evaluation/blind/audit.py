"""Run all blind baselines on a set of questions, and report the highest accuracy.

Several baselines are needed, because a dataset that was tuned against one model appears harder to that model than it
is (Zellers et al. 2019, "HellaSwag"; Le Bras et al. 2020, "Adversarial Filters of Dataset Biases").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.results import Estimate
from ..metrics.bootstrap import RESAMPLES, by_source, estimates, tally
from .baselines import BaselineChoices, Choices, Family, Fold, Worth, folds
from .blind_questions import Arranged, BlindQuestion, Embed, remembering
from .option_baselines import guess_options, guess_pairs, worth_of_cues
from .yes_no import guess_complements, guess_yes_no

BOTH = "both"
MOST_OPTIONS = 200  # per question
LONGEST = 20_000  # characters of a question with its options


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


def audit(
    questions: Sequence[BlindQuestion],
    train: Sequence[BlindQuestion] = (),
    *,
    embed: Embed | None = None,
    complements: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Audited]:
    """Run all blind baselines on questions, and compute their accuracies.

    Args:
        questions: Questions of one split, in any order. The order of their options only affects the baseline of
            positions.
        train: Training questions. If empty, baselines learn from other source videos of `questions`.
        embed: Function that embeds texts (`language.embeddings.embed`), or None to omit baselines that require
            embeddings.
        complements: Pairs of yes/no questions by kind, such as a question and its opposite. A pair counts as correct if
            both answers are.
        seed: Seed of all random numbers.
        resamples: Number of bootstrap resamples over source videos.

    Returns:
        An audit for each part, one of "both" if each question has two parts (such as answer and explanation), and one
            for each kind of complement pairs.

    Raises:
        InputError: Questions of a part share an id, or have no correct option, too many options or too much text.
    """
    _refuse_unusable(questions)
    _refuse_unusable(train)
    embed = embed and remembering(embed)
    summary = partial(_summary, seed=seed, resamples=resamples)
    audits, runs = [], []
    for part, yes_no in dict.fromkeys((part_of(question), question.yes_no) for question in questions):
        test, known = (
            [question for question in split if (part_of(question), question.yes_no) == (part, yes_no)]
            for split in (questions, train)
        )
        chance = float(np.mean([1 / len(question.options) for question in test]))
        if not yes_no:
            run = guess_options(test, known, embed, seed)
            runs.append((run, chance))
            if run.guesses:
                of_cues = worth_of_cues(run)
                audits.append(
                    summary(
                        part,
                        run.rows,
                        run.guesses,
                        run.divided,
                        learnt=run.learnt,
                        chance=chance,
                        worth=of_cues,
                        left_out=run.left_out,
                    )
                )
            continue
        rows, guesses, left_out = guess_yes_no(test, known, embed, seed)
        if not guesses:
            continue
        divided = folds(rows, seed)
        audits.append(summary(part, rows, guesses, divided, learnt=len(known), chance=chance, left_out=left_out))
        for kind, ids in (complements or {}).items():
            pairs, of_pairs = guess_complements(rows, guesses, ids)
            if pairs.questions:
                name = f"{part}, {kind} complement pairs"
                audits.append(summary(name, pairs, of_pairs, folds(pairs, seed), learnt=len(known), chance=chance**2))
    if len(runs) == 2:
        (first, first_chance), (second, second_chance) = runs
        if [question.id for question in first.rows.questions] == [question.id for question in second.rows.questions]:
            joint = guess_pairs(first, second, embed)
            chance = first_chance * second_chance
            audits.append(summary(BOTH, first.rows, joint, first.divided, learnt=first.learnt, chance=chance))
    return audits


def part_of(question: BlindQuestion) -> str:
    """Return the part to which a question belongs: the one it names, or else "yes/no" or "choice"."""
    return question.part or ("yes/no" if question.yes_no else "choice")


def _refuse_unusable(questions: Sequence[BlindQuestion]) -> None:
    keys = set()
    for question in questions:
        name, count = question.id, len(question.options)
        if (question.part, name) in keys:
            raise InputError(f"{name!r} occurs twice. Question ids must be unique.")
        keys.add((question.part, name))
        if not (0 <= question.right < count and count > 1):
            raise InputError(
                f"{name!r} has {count} options, and option {question.right} is correct; expected at least two options "
                "and the index of the correct one, counted from 0."
            )
        if count > MOST_OPTIONS:
            raise InputError(
                f"{name!r} has {count:,} options; the limit is {MOST_OPTIONS}, because they are compared in pairs."
            )
        length = len(question.question) + sum(map(len, question.options))
        if length > LONGEST:
            raise InputError(
                f"{name!r} has {length:,} characters including its options; the limit is {LONGEST:,}. Shorten or omit "
                "the question."
            )


def _summary(
    part: str,
    rows: Arranged,
    guesses: Sequence[BaselineChoices],
    divided: Sequence[Fold],
    *,
    learnt: int,
    chance: float,
    seed: int,
    resamples: int,
    worth: Sequence[Worth] = (),
    left_out: Mapping[str, str] | None = None,
) -> Audited:
    """Compute the accuracies of baselines from their choices."""
    sources, where = by_source([question.cluster for question in rows.questions])
    inside = np.array([bool(question.balanced) for question in rows.questions])
    has_subset = any(question.balanced is not None for question in rows.questions) and bool(inside.any())
    cells = {guess.name: (where, guess.right) for guess in guesses}
    if has_subset:
        cells |= {f"{guess.name} balanced": (where[inside], guess.right[inside]) for guess in guesses}
    cells["elsewhere"] = (where, _best_elsewhere(guesses, divided))
    shares = estimates(tally(sources, cells), lambda means: dict(means), seed=seed, resamples=resamples)
    figures = tuple(
        Figure(guess.name, guess.meaning, guess.family, shares[guess.name], shares.get(f"{guess.name} balanced"))
        for guess in guesses
    )
    return Audited(
        part=part,
        ids=tuple(question.id for question in rows.questions),
        sources=len(sources),
        learnt=learnt,
        chance=chance,
        num_balanced=int(inside.sum()) if has_subset else None,
        figures=figures,
        elsewhere=shares["elsewhere"],
        choices={guess.name: guess.choices for guess in guesses},
        worth=tuple(worth),
        left_out=left_out or {},
    )


def _best_elsewhere(guesses: Sequence[BaselineChoices], divided: Sequence[Fold]) -> NDArray[np.float64]:
    """Return the correctness of answers in each fold by the baseline that is best on the other folds."""
    right = np.stack([guess.right for guess in guesses])
    if not divided:
        return np.full(right.shape[1], np.nan)
    elsewhere = np.zeros(right.shape[1])
    for others, fold in divided:
        elsewhere[fold] = right[int(right[:, others].mean(axis=1).argmax()), fold]
    return elsewhere
