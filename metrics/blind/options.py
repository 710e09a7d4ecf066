"""Guessers of one right option among several texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .asked import Arranged, Embed, Floats, arrange
from .asked import Asked as Asked
from .cues import ASKING, TRAINING, known, training_cues
from .figures import Choices, Family, Guess, Worth
from .folds import Fold, cross_fitted, folds
from .logit import features, fit
from .trained import COMPARING, EMBEDDING, ENCODER, GUESSERS, NO_QUESTION, Guesser, Seen, seen
from .untrained import RULES, pick, rule_guesses

PLACE = "the place that is right most often in what was learnt"
STACKED = "weighs all cues and trained guessers together (conditional logit, cross-fitted)"
MEANINGS = {"place": PLACE} | {name: rule.meaning for name, rule in RULES.items()}
"""What the guessers do that `guess_options` asks without training, in words."""
COMBINED = ("question_network", "full_network")


@dataclass(frozen=True, eq=False)
class Guessed:
    """What all guessers of options make of questions.

    Attributes:
        rows: The questions.
        guesses: What they choose.
        groups: The features that are weighed together, by cue or guesser: what `worth` and pairs are made from.
        divided: The parts for cross-fitting.
        learnt: How many questions of train were learnt from.
        left_out: Guessers that could not guess, and why.
    """

    rows: Arranged
    guesses: tuple[Guess, ...]
    groups: Mapping[str, Floats]
    divided: list[Fold]
    learnt: int
    left_out: Mapping[str, str]


def guess_options(
    asked: Sequence[Asked], train: Sequence[Asked], embed: Embed | None, seed: int, *, trained: bool = True
) -> Guessed:
    """Let every guesser choose an option of every question.

    Args:
        asked: The questions.
        train: Questions to learn from; without, guessers learn from the other source videos of `asked`.
        embed: Embeds texts; without, guessers that need embeddings are left out.
        seed: Seed of all draws.
        trained: Whether trained guessers guess.
    """
    view = seen(arrange(asked), embed)
    rows = view.rows
    known_rows = arrange(train) if train else None
    learnt = seen(known_rows, embed) if known_rows and trained else None
    divided = folds(rows, seed)
    left_out = {} if embed else dict.fromkeys([*_needing_an_encoder(), *EMBEDDING], ENCODER)
    if not any(one.question for one in rows.asked):
        of_questions = [name for name, rule in RULES.items() if rule.cue in ASKING]
        left_out |= dict.fromkeys([*of_questions, *COMPARING], NO_QUESTION)
    measured = dict(view.cues)
    if known_rows:
        measured |= training_cues(rows, known(known_rows))
    else:
        of_train = [name for name, rule in RULES.items() if rule.cue in TRAINING]
        left_out |= dict.fromkeys(of_train, "there is no train split")
    taken = rule_guesses(rows, measured)
    guesses = [_guess(rows, name, RULES[name].meaning, "untrained", at) for name, at in taken.items()]
    groups = {name: features(rows.there, values) for name, values in measured.items()}
    if train or divided:
        guesses.insert(0, _by_place(rows, known_rows, divided))
    if not trained:
        return Guessed(rows, tuple(guesses), groups, divided, len(train), left_out)
    for name, (guesser, meaning) in GUESSERS.items():
        if name in left_out:
            continue
        try:
            if learnt:
                scores = guesser(learnt, view, seed, "train")
            elif divided:
                scores = cross_fitted(
                    divided,
                    lambda one, other, key: guesser(view.take(one), view.take(other), seed, key),  # noqa: B023
                )
            else:
                left_out[name] = "there is a single source video, and no train split"
                continue
        except InputError as error:  # a package is missing
            left_out[name] = str(error)
            continue
        guesses.append(_guess(rows, name, meaning, "trained", pick(rows, scores)))
        if learnt:
            groups[name] = features(rows.there, scores)
            if name in COMBINED:
                guesses += _with_the_rule(rows, name, meaning, scores, measured["right_in_train"])
    if divided:
        at = pick(rows, weigh(rows, list(groups.values()), divided))
        guesses.append(_guess(rows, "stacked", STACKED, "trained", at))
    else:
        left_out["stacked"] = "there is a single source video"
    return Guessed(rows, tuple(guesses), groups, divided, len(train), left_out)


def _part(
    guesser: Guesser, view: Seen, seed: int, learnt: NDArray[np.int64], asked: NDArray[np.int64], key: str
) -> Floats:
    return guesser(view.take(learnt), view.take(asked), seed, key)


def weigh(rows: Arranged, groups: Sequence[Floats], divided: list[Fold]) -> Floats:
    """Score options by a conditional logit on groups of features, cross-fitted."""
    values = np.concatenate(groups, axis=2)
    return cross_fitted(
        divided,
        lambda learnt, asked, _: values[asked] @ fit(values[learnt], rows.there[learnt], rows.right[learnt]),
    )


def worth(guessed: Guessed) -> list[Worth]:
    """Measure what each cue, and each trained guesser, is worth: alone, and to those that weigh all."""
    rows, groups, divided = guessed.rows, guessed.groups, guessed.divided
    if not divided:
        return []

    def share(names: Sequence[str]) -> float:
        scores = weigh(rows, [groups[name] for name in names], divided)
        return float((pick(rows, scores) == rows.right).mean())

    everything = share(list(groups))
    found = [
        Worth(name, share([name]), everything - share([other for other in groups if other != name]))
        for name in groups
        if np.ptp(groups[name]) > 0 and len(groups) > 1
    ]
    return sorted(found, key=lambda one: -one.alone)


def _needing_an_encoder() -> list[str]:
    return [name for name, rule in RULES.items() if rule.cue in ("like_others", "near_question")]


def _guess(rows: Arranged, name: str, meaning: str, family: Family, places: NDArray[np.int64]) -> Guess:
    return Guess(name, meaning, family, rows.given(places), places == rows.right)


def _by_place(rows: Arranged, train: Arranged | None, divided: list[Fold]) -> Guess:
    """Choose the place that is right most often; of equal ones the first."""
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
    return Guess("place", PLACE, "trained", choices, choices == right)


def _with_the_rule(rows: Arranged, name: str, meaning: str, scores: Floats, counts: Floats) -> list[Guess]:
    """Choose the best option of those that are right in train, or of those that are not, where there are some."""
    found = []
    for rule, inside in (("right_in_train", counts > 0), ("not_right_in_train", counts == 0)):
        inside &= rows.there
        bonus = np.where(inside, float(np.abs(scores).max(initial=0)) * 2 + 1, 0.0)
        what = "of the options right in train" if rule == "right_in_train" else "of the options not right in train"
        places = pick(rows, scores + bonus)
        found.append(_guess(rows, f"{name}+{rule}", f"{meaning}; {what}, where there are any", "trained", places))
    return found
