"""Run blind baselines on multiple-choice questions, and on pairs of questions such as answer and explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.extras import MissingExtraError
from .baselines import BaselineChoices, Choices, Family, Fold, Worth, cross_fitted, features, fit_logit, folds
from .blind_questions import Arranged, BlindQuestion, Embed, Embedded, Floats, arrange, embedded
from .cues import ASKING, DIGITS, EMBEDDED, RULES, Measured, measure, names_in, pick, rarity, stems
from .train_cues import ANSWERED, SIMILAR, TRAINING, compared, train_cues
from .trained import ENCODER, NO_QUESTION, TRAINED, OptionScorer

PLACE = "the position that is most often correct in training"
STACKED = "combines all cues and trained baselines (conditional logit, cross-fitted)"
MEANINGS = {"place": PLACE} | {name: rule.meaning for name, rule in RULES.items()}
"""Descriptions of the baselines that `guess_options` runs without training."""
ALONE = "there is only one source video and no train split"
ALIKE = {
    "alike_words": "the two options that share the most words, weighted by rarity",
    "alike": "the two most similar options (SBERT)",
}
PAIRED = "combines all cues of both options and their similarity (conditional logit, cross-fitted)"
TWICE = "the same baseline twice: "


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """The choices of all baselines on a set of questions.

    Attributes:
        groups: Features of each cue or baseline, for models that combine them.
        learnt: Number of training questions.
        left_out: For each baseline that could not run, the reason.
    """

    rows: Arranged
    guesses: tuple[BaselineChoices, ...]
    groups: Mapping[str, Floats]
    divided: list[Fold]
    learnt: int
    left_out: Mapping[str, str]


def guess_options(
    questions: Sequence[BlindQuestion],
    train: Sequence[BlindQuestion],
    embed: Embed | None,
    seed: int,
    *,
    trained: bool = True,
) -> BaselineRun:
    """Run every baseline on every multiple-choice question.

    Without `train`, baselines learn from the other source videos of `questions`. Without `embed`, those that require
    embeddings are omitted.
    """
    rows, known_rows = arrange(questions), arrange(train) if train else None
    names = names_in(rows, *([known_rows] if known_rows else []))
    view, divided = measure(rows, embed, names), folds(rows, seed)
    learnt = measure(known_rows, embed, names, with_cues=trained) if known_rows else None
    left_out = _left_out(view, learnt is not None)
    values_of = {**view.cues, **(train_cues(view, compared(learnt)) if learnt else {})}
    guesses = [
        _guess(rows, name, rule.meaning, "untrained", values_of[rule.cue] * (1 if rule.most else -1))
        for name, rule in RULES.items()
        if rule.cue in values_of
    ]
    if train or divided:
        guesses.insert(0, _by_place(rows, known_rows, divided))
    groups = {name: features(rows.exists, values) for name, values in values_of.items()}
    if trained:
        for name, scores in _trained_scores(view, learnt, divided, seed, left_out):
            guesses.append(_guess(rows, name, TRAINED[name].meaning, "trained", scores))
            if learnt:  # scores learnt from these rows would reveal their correct options
                groups[name] = features(rows.exists, scores)
        if divided:
            scores = _stacked(rows, list(groups.values()), divided)
            guesses.append(_guess(rows, "stacked", STACKED, "trained", scores))
        else:
            left_out["stacked"] = ALONE
    return BaselineRun(rows, tuple(guesses), groups, divided, len(train), left_out)


def _left_out(view: Measured, trains: bool) -> dict[str, str]:
    """Return the reason for each baseline that cannot run without an encoder, questions or train."""
    reasons: dict[str, str] = {}
    if view.vectors is None:
        needing = [name for name, baseline in TRAINED.items() if baseline.embeds]
        reasons |= dict.fromkeys([*_rules_on(*EMBEDDED, *SIMILAR), *needing], ENCODER)
    if not any(question.question for question in view.rows.questions):
        comparing = [name for name, baseline in TRAINED.items() if baseline.compares]
        reasons |= dict.fromkeys([*_rules_on(*ASKING, *ANSWERED), *comparing], NO_QUESTION)
    if not trains:
        reasons |= dict.fromkeys(_rules_on(*TRAINING), "there is no train split")
    return reasons


def _rules_on(*cues: str) -> list[str]:
    return [name for name, rule in RULES.items() if rule.cue in cues]


def _trained_scores(
    view: Measured, learnt: Measured | None, divided: list[Fold], seed: int, left_out: dict[str, str]
) -> Iterator[tuple[str, Floats]]:
    """Yield the scores of each trained baseline, and add those that cannot run to `left_out`."""
    for name, baseline in TRAINED.items():
        if name in left_out:
            continue
        if not learnt and not divided:
            left_out[name] = ALONE
            continue

        def of_fold(
            train: NDArray[np.int64], test: NDArray[np.int64], key: str, score: OptionScorer = baseline.scores
        ) -> Floats:
            return score(view.take(train), view.take(test), seed, key)

        try:
            yield name, baseline.scores(learnt, view, seed, "train") if learnt else cross_fitted(divided, of_fold)
        except MissingExtraError as error:
            left_out[name] = str(error)


def _stacked(rows: Arranged, groups: Sequence[Floats], divided: list[Fold]) -> Floats:
    """Score options with a cross-fitted conditional logit on several groups of features."""
    values = np.concatenate(groups, axis=2)

    def of_fold(train: NDArray[np.int64], test: NDArray[np.int64], _: str) -> Floats:
        scores: Floats = values[test] @ fit_logit(values[train], rows.exists[train], rows.right[train])
        return scores

    return cross_fitted(divided, of_fold)


def worth_of_cues(run: BaselineRun) -> list[Worth]:
    """Measure, for each cue or baseline, the accuracy with it alone and the decrease in accuracy without it."""
    rows, groups, divided = run.rows, run.groups, run.divided
    if not divided:
        return []

    def accuracy(names: Sequence[str]) -> float:
        scores = _stacked(rows, [groups[name] for name in names], divided)
        return float(pick(rows, scores)[1].mean())

    everything = accuracy(list(groups))
    worth = [
        Worth(name, accuracy([name]), everything - accuracy([other for other in groups if other != name]))
        for name in groups
        if np.ptp(groups[name]) > 0 and len(groups) > 1
    ]
    return sorted(worth, key=lambda of_cue: -of_cue.alone)


def _guess(rows: Arranged, name: str, meaning: str, family: Family, scores: Floats) -> BaselineChoices:
    positions, right = pick(rows, scores)
    return BaselineChoices(name, meaning, family, rows.original(positions), right)


def _by_place(rows: Arranged, train: Arranged | None, divided: list[Fold]) -> BaselineChoices:
    right = np.array([question.right for question in rows.questions])
    choices: Choices = np.zeros(len(right), np.int64)
    parts = (
        [([question.right for question in train.questions], np.arange(len(right)))]
        if train
        else [(right[learnt].tolist(), test) for learnt, test in divided]
    )
    for known, test in parts:
        counts = Counter(known)
        by_count = sorted(counts, key=lambda position: (-counts[position], position))
        for row in test.tolist():
            options = len(rows.questions[row].options)
            choices[row] = next((position for position in by_count if position < options), 0)
    return BaselineChoices("place", PLACE, "trained", choices, (choices == right).astype(np.float64))


def guess_pairs(first: BaselineRun, second: BaselineRun, embed: Embed | None) -> tuple[BaselineChoices, ...]:
    """Choose one option from each of two sets, with the baselines for single sets and with joint baselines.

    Both sets must belong to the same questions in the same order. Without `embed`, baselines that require embeddings
    are omitted.
    """
    seconds = {guess.name: guess for guess in second.guesses}
    guesses = [
        BaselineChoices(
            guess.name,
            TWICE + guess.meaning,
            guess.family,
            np.stack([guess.choices, seconds[guess.name].choices], axis=1),
            guess.right * seconds[guess.name].right,
        )
        for guess in first.guesses
        if guess.name in seconds
    ]
    pairs = _Pairs(first, second)
    likeness = {"alike_words": pairs.flat(_shared_words(first, second))}
    if embed is not None:
        likeness["alike"] = pairs.flat(_cosines(embedded(first.rows, embed), embedded(second.rows, embed)))
    guesses += [pairs.guess(name, ALIKE[name], "untrained", values) for name, values in likeness.items()]
    if first.divided:
        guesses.append(pairs.guess("paired", PAIRED, "trained", pairs.scores(likeness)))
    return tuple(guesses)


class _Pairs:
    """All pairs of one option from each set, treated as the options of one question."""

    def __init__(self, first: BaselineRun, second: BaselineRun):
        self.first, self.second = first, second
        self.shape = (*first.rows.exists.shape, second.rows.exists.shape[1])
        self.exists: NDArray[np.bool_] = self.flat(first.rows.exists[:, :, None] & second.rows.exists[:, None])
        self.right = first.rows.right * self.shape[2] + second.rows.right

    def flat(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reshape an array of pairs, (questions, firsts, seconds, …), to one of options, (questions, pairs, …)."""
        return values.reshape(len(values), -1, *values.shape[3:])

    def guess(self, name: str, meaning: str, family: Family, scores: Floats) -> BaselineChoices:
        """Choose the pair with the highest score for each question."""
        masked = np.where(self.exists, np.round(scores, DIGITS), -np.inf)
        best = masked == masked.max(axis=1, keepdims=True)
        first, second = np.divmod(best.argmax(axis=1), self.shape[2])
        choices = np.stack([self.first.rows.original(first), self.second.rows.original(second)], axis=1)
        right = best[np.arange(len(best)), self.right] / best.sum(axis=1)
        return BaselineChoices(name, meaning, family, choices, right)

    def scores(self, likeness: Mapping[str, Floats]) -> Floats:
        """Score pairs with a cross-fitted conditional logit on the cues of both options and their similarity."""
        firsts, seconds = (np.concatenate(list(run.groups.values()), axis=2) for run in (self.first, self.second))
        alike = np.concatenate([features(self.exists, values) for values in likeness.values()], axis=2)

        def values(rows: NDArray[np.int64]) -> Floats:
            size = (len(rows), *self.shape[1:])
            first = np.broadcast_to(firsts[rows][:, :, None], (*size, firsts.shape[2]))
            second = np.broadcast_to(seconds[rows][:, None], (*size, seconds.shape[2]))
            joined: Floats = np.concatenate([self.flat(first), self.flat(second), alike[rows]], axis=2)
            return joined * self.exists[rows][:, :, None]

        def of_fold(train: NDArray[np.int64], test: NDArray[np.int64], _: str) -> Floats:
            scores: Floats = values(test) @ fit_logit(values(train), self.exists[train], self.right[train])
            return scores

        return cross_fitted(self.first.divided, of_fold)


def _cosines(firsts: Embedded, seconds: Embedded) -> Floats:
    cosines: Floats = np.round(np.einsum("nad,nbd->nab", firsts.options, seconds.options).astype(np.float64), DIGITS)
    return cosines


def _shared_words(first: BaselineRun, second: BaselineRun) -> Floats:
    """Return the weight of the words that each pair of options shares, shape (questions, firsts, seconds)."""
    firsts, seconds = first.rows.texts(), second.rows.texts()
    weights = rarity(text for texts in (*firsts, *seconds) for text in texts)
    shared = np.zeros((*first.rows.exists.shape, second.rows.exists.shape[1]))
    for row, (texts, others) in enumerate(zip(firsts, seconds, strict=True)):
        bags = [set(stems(text)) for text in others]
        for index, text in enumerate(texts):
            words = set(stems(text))
            shared[row, index, : len(bags)] = [sum(weights[stem] for stem in sorted(words & bag)) for bag in bags]
    return shared
