"""Run blind baselines on multiple-choice questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.requirements import MissingExtraError
from .cues import ASKING, EMBEDDED, RULES, pick
from .figures import BaselineChoices, Choices, Family, Worth
from .fitting import Fold, cross_fitted, features, fit, folds
from .measured import Measured, measured, names_in
from .questions import Arranged, BlindQuestion, Embed, Floats, arrange
from .train_cues import ANSWERED, SIMILAR, TRAINING, compared, train_cues
from .trained import ENCODER, GUESSERS, NO_QUESTION

PLACE = "the position that is most often correct in training"
STACKED = "combines all cues and trained baselines (conditional logit, cross-fitted)"
MEANINGS = {"place": PLACE} | {name: rule.meaning for name, rule in RULES.items()}
"""Descriptions of the baselines that `guess_options` runs without training."""
ALONE = "there is only one source video and no train split"


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
    asked: Sequence[BlindQuestion],
    train: Sequence[BlindQuestion],
    embed: Embed | None,
    seed: int,
    *,
    trained: bool = True,
) -> BaselineRun:
    """Run every baseline on every multiple-choice question.

    Without `train`, baselines learn from the other source videos of `asked`. Without `embed`, those that require
    embeddings are omitted.
    """
    rows, known_rows = arrange(asked), arrange(train) if train else None
    names = names_in(rows, *([known_rows] if known_rows else []))
    view, divided = measured(rows, embed, names), folds(rows, seed)
    learnt = measured(known_rows, embed, names, with_cues=trained) if known_rows else None
    left_out = _left_out(view, learnt is not None)
    values_of = {**view.cues, **(train_cues(view, compared(learnt)) if learnt else {})}
    guesses = [
        _guess(rows, name, rule.meaning, "untrained", values_of[rule.cue] * (1 if rule.most else -1))
        for name, rule in RULES.items()
        if rule.cue in values_of
    ]
    if train or divided:
        guesses.insert(0, _by_place(rows, known_rows, divided))
    groups = {name: features(rows.there, values) for name, values in values_of.items()}
    if trained:
        for name, scores in _scores(view, learnt, divided, seed, left_out):
            guesses.append(_guess(rows, name, GUESSERS[name].meaning, "trained", scores))
            if learnt:  # scores learnt from these rows would reveal their correct options
                groups[name] = features(rows.there, scores)
        if divided:
            scores = weigh(rows, list(groups.values()), divided)
            guesses.append(_guess(rows, "stacked", STACKED, "trained", scores))
        else:
            left_out["stacked"] = ALONE
    return BaselineRun(rows, tuple(guesses), groups, divided, len(train), left_out)


def _left_out(view: Measured, trains: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    if view.vectors is None:
        needing = [name for name, one in GUESSERS.items() if one.embeds]
        found |= dict.fromkeys([*_rules_on(*EMBEDDED, *SIMILAR), *needing], ENCODER)
    if not any(one.question for one in view.rows.asked):
        comparing = [name for name, one in GUESSERS.items() if one.compares]
        found |= dict.fromkeys([*_rules_on(*ASKING, *ANSWERED), *comparing], NO_QUESTION)
    if not trains:
        found |= dict.fromkeys(_rules_on(*TRAINING), "there is no train split")
    return found


def _rules_on(*names: str) -> list[str]:
    return [name for name, rule in RULES.items() if rule.cue in names]


def _scores(
    view: Measured, learnt: Measured | None, divided: list[Fold], seed: int, left_out: dict[str, str]
) -> Iterator[tuple[str, Floats]]:
    for name, baseline in GUESSERS.items():
        if name in left_out:
            continue
        try:
            if learnt:
                yield name, baseline.scores(learnt, view, seed, "train")
            elif divided:
                guess = baseline.scores
                yield (
                    name,
                    cross_fitted(
                        divided,
                        lambda known, asked, key, guess=guess: guess(view.take(known), view.take(asked), seed, key),  # type: ignore[misc]
                    ),
                )
            else:
                left_out[name] = ALONE
        except MissingExtraError as error:
            left_out[name] = str(error)


def weigh(rows: Arranged, groups: Sequence[Floats], divided: list[Fold]) -> Floats:
    """Score options with a cross-fitted conditional logit on several groups of features."""
    values = np.concatenate(groups, axis=2)
    return cross_fitted(
        divided,
        lambda learnt, asked, _: values[asked] @ fit(values[learnt], rows.there[learnt], rows.right[learnt]),
    )


def worth(guessed: BaselineRun) -> list[Worth]:
    """Measure, for each cue or baseline, the accuracy with it alone and the decrease in accuracy without it."""
    rows, groups, divided = guessed.rows, guessed.groups, guessed.divided
    if not divided:
        return []

    def share(names: Sequence[str]) -> float:
        scores = weigh(rows, [groups[name] for name in names], divided)
        return float(pick(rows, scores)[1].mean())

    everything = share(list(groups))
    found = [
        Worth(name, share([name]), everything - share([other for other in groups if other != name]))
        for name in groups
        if np.ptp(groups[name]) > 0 and len(groups) > 1
    ]
    return sorted(found, key=lambda one: -one.alone)


def _guess(rows: Arranged, name: str, meaning: str, family: Family, scores: Floats) -> BaselineChoices:
    places, right = pick(rows, scores)
    return BaselineChoices(name, meaning, family, rows.given(places), right)


def _by_place(rows: Arranged, train: Arranged | None, divided: list[Fold]) -> BaselineChoices:
    right = np.array([one.right for one in rows.asked])
    choices: Choices = np.zeros(len(right), np.int64)
    parts = (
        [([one.right for one in train.asked], np.arange(len(right)))]
        if train
        else [(right[learnt].tolist(), asked) for learnt, asked in divided]
    )
    for places, asked in parts:
        counts = Counter(places)
        by_count = sorted(counts, key=lambda place: (-counts[place], place))
        for row in asked.tolist():
            choices[row] = next((place for place in by_count if place < len(rows.asked[row].options)), 0)
    return BaselineChoices("place", PLACE, "trained", choices, (choices == right).astype(np.float64))
