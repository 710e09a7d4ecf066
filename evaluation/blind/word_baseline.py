"""A trained blind baseline for dataset cards: logistic regression on words, without optional packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.results import Estimate
from ...core.seeds import rng_for
from ..metrics.bootstrap import by_source, estimates, tally
from .fitting import folds
from .question_only import Floats, fit_logistic, words_of
from .questions import BlindQuestion, arrange

MOST_QUESTIONS = 10_000
"""Maximum number of questions to train on, and of questions to test on, for each part."""


@dataclass(frozen=True)
class WordBaseline:
    """The accuracy of the baseline.

    Attributes:
        questions, trained_on: Numbers of test and training questions.
        usual: Accuracy of the most frequent answer to yes/no questions; otherwise, chance.
        accuracy: Accuracy of the baseline, with its interval over source videos.
    """

    questions: int
    trained_on: int
    usual: float
    accuracy: Estimate


def word_baseline(asked: Sequence[BlindQuestion], train: Sequence[BlindQuestion] = ()) -> WordBaseline | None:
    """Train on the words and bigrams of questions and options, also combined with the kind of question.

    Each option is scored by the words that it contains, and by how many of them occur in the question. Answers to
    yes/no questions are predicted from the question. Options with equal scores share the choice.

    Args:
        asked: Questions of one part, in any order; see `BlindQuestion`.
        train: Training questions; if empty, the baseline learns from other source videos of `asked`, but only for
            yes/no questions: distractors are often correct options of other questions in the same split.

    Returns:
        The accuracy, or None if there is nothing to learn from.
    """
    rows = arrange(_sampled(asked))
    known = _sampled(train)
    questions = list(rows.asked)
    parts = [(known, list(range(len(questions))))] if known else []
    if not known and questions[0].yes_no:
        parts = [([questions[n] for n in learnt], places.tolist()) for learnt, places in folds(rows)]
    if not parts:
        return None
    right, usual = np.zeros(len(questions)), np.zeros(len(questions))
    for learnt, places in parts:
        some = [questions[place] for place in places]
        right[places] = _yes_no(learnt, some) if some[0].yes_no else _options(learnt, some)
        usual[places] = _usual(learnt, some)
    names, where = by_source([one.cluster for one in questions])
    accuracy = estimates(tally(names, {"": (where, right)}), lambda means: dict(means))[""]
    return WordBaseline(len(questions), len(known) or len(questions), float(usual.mean()), accuracy)


def _sampled(questions: Sequence[BlindQuestion]) -> list[BlindQuestion]:
    ordered = sorted(questions, key=lambda one: one.id)
    if len(ordered) <= MOST_QUESTIONS:
        return ordered
    drawn = rng_for(0, "blind", "words", len(ordered)).permutation(len(ordered))[:MOST_QUESTIONS]
    return [ordered[place] for place in sorted(drawn.tolist())]


def _usual(learnt: Sequence[BlindQuestion], asked: Sequence[BlindQuestion]) -> list[float]:
    if not asked[0].yes_no:
        return [1 / len(one.options) for one in asked]
    counts = Counter(_answer(one) for one in learnt)
    return [float(_answer(one) == max(sorted(counts), key=lambda name: counts[name])) for one in asked]


def _answer(one: BlindQuestion) -> str:
    return one.options[one.right].casefold()


def _yes_no(learnt: Sequence[BlindQuestion], asked: Sequence[BlindQuestion]) -> list[float]:
    truth = [_answer(one) for one in learnt]
    model = fit_logistic([_bag(one.question, one.kind) for one in learnt], truth, sorted(set(truth)))
    scores = (model.scores(_bag(one.question, one.kind)) for one in asked)
    return [float(model.answers[int(np.argmax(each))] == _answer(one)) for one, each in zip(asked, scores, strict=True)]


def _options(learnt: Sequence[BlindQuestion], asked: Sequence[BlindQuestion]) -> list[float]:
    bags = [_option_bag(one, option) for one in learnt for option in one.options]
    truth = [str(place == one.right) for one in learnt for place in range(len(one.options))]
    model = fit_logistic(bags, truth, ["False", "True"])
    found = []
    for one in asked:
        scores = np.array([_margin(model.scores(_option_bag(one, option))) for option in one.options])
        best = scores >= scores.max() - 1e-9
        found.append(float(best[one.right] / best.sum()))
    return found


def _margin(scores: Floats) -> float:
    return float(scores[1] - scores[0])


def _option_bag(one: BlindQuestion, option: str) -> dict[str, float]:
    words, asked = set(words_of(option)), set(words_of(one.question))
    return {**_bag(option, one.kind), "shared with the question": len(words & asked) / max(1, len(words))}


def _bag(text: str, kind: str) -> dict[str, float]:
    words = sorted(set(words_of(text)))
    weight = float(1 / np.sqrt(max(1, len(words))))
    return {"": 1.0, **{name: weight for word in words for name in (word, f"{kind}: {word}")}}
