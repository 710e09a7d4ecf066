"""Predict answers and options from their words, without optional packages, for dataset cards and audits.

The baselines are trained on one split and tested on another. They predict the most frequent answer if nothing else is
known about a question.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...core.numerics import rng_for
from ...core.results import Estimate
from ..metrics.bootstrap import by_source, estimates, tally
from .baselines import folds
from .blind_questions import BlindQuestion, Floats, arrange

WORD = re.compile(r"[a-z']+")
SMOOTHING = 1.0
STEPS, RATE, SHRINK = 60, 0.5, 1e-3
MOST_QUESTIONS = 10_000
"""Maximum number of questions to train on, and of questions to test on, for each part."""


@dataclass(frozen=True, slots=True)
class AnsweredText:
    """A question together with its answer.

    Attributes:
        answer: The answer, or the position of the correct option ("first", "second").
        kind: Kind of question, such as its template; each kind is trained separately.
    """

    text: str
    answer: str
    kind: str


def words_of(text: str) -> list[str]:
    """Return the words of a question, followed by its pairs of adjacent words."""
    words = WORD.findall(text.lower())
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]


def by_text(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    """Predict the most frequent answer to the same question in training."""
    return _by_key(train, test, str.lower)


def by_words(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    """Predict the most frequent answer to training questions with the same set of words."""
    return _by_key(train, test, lambda text: " ".join(sorted(set(WORD.findall(text.lower())))))


def _by_key(train: Sequence[AnsweredText], test: Sequence[AnsweredText], key_of: Callable[[str], str]) -> list[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for question in train:
        counts[key_of(question.text)][question.answer] += 1
    usual = most_frequent_answer(train)
    answers = {key: _most_frequent(of_key) for key, of_key in counts.items()}
    return [answers.get(key_of(question.text), usual) for question in test]


def most_frequent_answer(train: Sequence[AnsweredText]) -> str:
    """Return the most frequent answer. Ties are resolved alphabetically."""
    return _most_frequent(Counter(question.answer for question in train))


def _most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda answer: (-counts[answer], answer), default="")


def naive_bayes(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    """Predict answers with a naive Bayes classifier on words and bigrams."""
    answers = sorted({question.answer for question in train})
    if not answers:
        return ["" for _ in test]
    words = sorted({word for question in train for word in words_of(question.text)})
    known = {word: column for column, word in enumerate(words)}
    row_of = {answer: row for row, answer in enumerate(answers)}
    table = np.full((len(answers), len(known)), SMOOTHING)
    prior = np.zeros(len(answers))
    for question in train:
        prior[row_of[question.answer]] += 1
        table[row_of[question.answer], [known[word] for word in set(words_of(question.text))]] += 1
    weights = np.log(table) - np.log(prior[:, None] + 2 * SMOOTHING)

    def best_answer(text: str) -> str:
        columns = sorted({known[word] for word in words_of(text) if word in known})
        return answers[int(np.argmax(np.log(prior) + weights[:, columns].sum(axis=1)))]

    return [best_answer(question.text) for question in test]


def regression(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    """Predict answers with a logistic regression on words and bigrams."""
    if not train:
        return ["" for _ in test]
    truth = [question.answer for question in train]
    model = fit_logistic([_weighted_words(question.text) for question in train], truth, sorted(set(truth)))
    return [
        model.answers[int(np.argmax(model.scores(_weighted_words(question.text, model.known))))] for question in test
    ]


def _weighted_words(text: str, known: Container[str] | None = None) -> dict[str, float]:
    words = {word for word in words_of(text) if known is None or word in known}
    return dict.fromkeys(sorted(words), 1 / np.sqrt(max(len(words), 1)))


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression on named features.

    Attributes:
        known: Index of each feature.
        weights: float64 of shape (features, answers).
    """

    known: Mapping[str, int]
    answers: Sequence[str]
    weights: Floats
    bias: Floats

    def scores(self, bag: Mapping[str, float]) -> Floats:
        """Return the score of each answer, shape (answers,), for the values of some features."""
        values = [(self.known[name], value) for name, value in bag.items() if name in self.known]
        total: Floats = sum((self.weights[index] * value for index, value in values), self.bias)
        return total


def fit_logistic(bags: Sequence[Mapping[str, float]], truth: Sequence[str], answers: Sequence[str]) -> Logistic:
    """Fit a logistic regression with AdaGrad.

    scikit-learn's `LogisticRegression` predicts as well and is several times as fast, but cards need no optional
    packages, and show the same figures on every machine, because these sums have a fixed order.
    """
    if not bags:
        return Logistic({}, answers, np.zeros((0, len(answers))), np.zeros(len(answers)))
    known = {name: index for index, name in enumerate(sorted({name for bag in bags for name in bag}))}
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.array([known[name] for bag in bags for name in bag], np.int64)
    values = np.array([value for bag in bags for value in bag.values()], np.float64)[:, None]
    targets = np.array([answers.index(answer) for answer in truth], np.int64)
    weights = np.zeros((len(known), len(answers)))
    bias, gathered = np.zeros(len(answers)), np.full((len(known), len(answers)), 1e-8)
    for _ in range(STEPS):
        errors = _softmax(_sums(rows, weights[columns] * values, len(bags)) + bias)
        errors[np.arange(len(bags)), targets] -= 1
        slope = _sums(columns, errors[rows] * values, len(known)) / len(bags) + SHRINK / len(bags) * weights
        gathered += slope**2
        weights -= RATE * slope / np.sqrt(gathered)
        bias -= RATE * errors.mean(axis=0)
    return Logistic(known, answers, weights, bias)


def _sums(indices: NDArray[np.int64], values: Floats, count: int) -> Floats:
    return np.stack([np.bincount(indices, column, count) for column in values.T], axis=1)


def _softmax(scores: Floats) -> Floats:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares


QUESTION_ONLY: dict[str, Callable[[Sequence[AnsweredText], Sequence[AnsweredText]], list[str]]] = {
    "text": by_text,
    "words": by_words,
    "naive_bayes": naive_bayes,
    "regression": regression,
}


def question_only_accuracy(train: Iterable[AnsweredText], test: Iterable[AnsweredText]) -> dict[str, dict[str, float]]:
    """Return the accuracy (0 to 1) of every question-only baseline, by kind of question."""
    known: dict[str, list[AnsweredText]] = defaultdict(list)
    for question in train:
        known[question.kind].append(question)
    by_kind: dict[str, list[AnsweredText]] = defaultdict(list)
    for question in test:
        by_kind[question.kind].append(question)
    accuracies: dict[str, dict[str, float]] = {}
    for kind, questions in sorted(by_kind.items()):
        accuracies[kind] = {}
        for name, predict in QUESTION_ONLY.items():
            answers = predict(known[kind], questions)
            right = sum(answer == question.answer for answer, question in zip(answers, questions, strict=True))
            accuracies[kind][name] = right / len(questions)
    return accuracies


@dataclass(frozen=True)
class WordBaseline:
    """The accuracy of the baseline on cards.

    Attributes:
        questions, trained_on: Numbers of test and training questions.
        usual: Accuracy of the most frequent answer to yes/no questions; otherwise, chance.
        accuracy: Accuracy of the baseline, with its interval over source videos.
    """

    questions: int
    trained_on: int
    usual: float
    accuracy: Estimate


def word_baseline(questions: Sequence[BlindQuestion], train: Sequence[BlindQuestion] = ()) -> WordBaseline | None:
    """Train on the words and bigrams of questions and options, also combined with the kind of question.

    Each option is scored by the words that it contains, and by how many of them occur in the question. Answers to
    yes/no questions are predicted from the question. Options with equal scores share the choice.

    Args:
        questions: Questions of one part, in any order; see `BlindQuestion`.
        train: Training questions; if empty, the baseline learns from other source videos of `questions`, but only for
            yes/no questions: distractors are often correct options of other questions in the same split.

    Returns:
        The accuracy, or None if there is nothing to learn from.
    """
    rows = arrange(_sampled(questions))
    known = _sampled(train)
    test = list(rows.questions)
    parts = [(known, list(range(len(test))))] if known else []
    if not known and test[0].yes_no:
        parts = [([test[row] for row in learnt], fold.tolist()) for learnt, fold in folds(rows)]
    if not parts:
        return None
    right, usual = np.zeros(len(test)), np.zeros(len(test))
    for learnt, fold in parts:
        asked = [test[row] for row in fold]
        right[fold] = _right_answers(learnt, asked) if asked[0].yes_no else _right_options(learnt, asked)
        usual[fold] = _usually_right(learnt, asked)
    names, where = by_source([question.cluster for question in test])
    accuracy = estimates(tally(names, {"": (where, right)}), lambda means: dict(means))[""]
    return WordBaseline(len(test), len(known) or len(test), float(usual.mean()), accuracy)


def _sampled(questions: Sequence[BlindQuestion]) -> list[BlindQuestion]:
    ordered = sorted(questions, key=lambda question: question.id)
    if len(ordered) <= MOST_QUESTIONS:
        return ordered
    drawn = rng_for(0, "blind", "words", len(ordered)).permutation(len(ordered))[:MOST_QUESTIONS]
    return [ordered[index] for index in sorted(drawn.tolist())]


def _usually_right(train: Sequence[BlindQuestion], test: Sequence[BlindQuestion]) -> list[float]:
    if not test[0].yes_no:
        return [1 / len(question.options) for question in test]
    usual = _most_frequent(Counter(_answer(question) for question in train))
    return [float(_answer(question) == usual) for question in test]


def _answer(question: BlindQuestion) -> str:
    return question.options[question.right].casefold()


def _right_answers(train: Sequence[BlindQuestion], test: Sequence[BlindQuestion]) -> list[float]:
    """Return 1 for each yes/no question that is answered correctly, else 0."""
    truth = [_answer(question) for question in train]
    model = fit_logistic([_bag(question.question, question.kind) for question in train], truth, sorted(set(truth)))
    scores = [model.scores(_bag(question.question, question.kind)) for question in test]
    answers = [model.answers[int(np.argmax(of_question))] for of_question in scores]
    return [float(answer == _answer(question)) for answer, question in zip(answers, test, strict=True)]


def _right_options(train: Sequence[BlindQuestion], test: Sequence[BlindQuestion]) -> list[float]:
    """Return the probability that the best option of each question is correct."""
    bags = [_option_bag(question, option) for question in train for option in question.options]
    truth = [str(index == question.right) for question in train for index in range(len(question.options))]
    model = fit_logistic(bags, truth, ["False", "True"])
    right = []
    for question in test:
        odds = np.array([model.scores(_option_bag(question, option)) for option in question.options])
        scores = odds[:, 1] - odds[:, 0]
        best = scores >= scores.max() - 1e-9
        right.append(float(best[question.right] / best.sum()))
    return right


def _option_bag(question: BlindQuestion, option: str) -> dict[str, float]:
    words, asked = set(words_of(option)), set(words_of(question.question))
    return {**_bag(option, question.kind), "shared with the question": len(words & asked) / max(1, len(words))}


def _bag(text: str, kind: str) -> dict[str, float]:
    words = sorted(set(words_of(text)))
    weight = float(1 / np.sqrt(max(1, len(words))))
    return {"": 1.0, **{name: weight for word in words for name in (word, f"{kind}: {word}")}}
