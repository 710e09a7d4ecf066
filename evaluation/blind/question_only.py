"""Predict answers from the words of questions, with baselines that see neither options nor video.

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

Floats = NDArray[np.float64]

WORD = re.compile(r"[a-z']+")
SMOOTHING = 1.0
STEPS, RATE, SHRINK = 60, 0.5, 1e-3


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
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


def by_text(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
    """Predict the most frequent answer to the same question in training."""
    return _majority(learnt, asked, lambda read: [read.text.lower(), ""])


def by_words(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
    """Predict the most frequent answer to training questions with the same set of words."""
    return _majority(learnt, asked, lambda read: [" ".join(sorted(set(WORD.findall(read.text.lower())))), ""])


def _majority(
    learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText], keys: Callable[[AnsweredText], Sequence[str]]
) -> list[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for read in learnt:
        for key in keys(read):
            counts[key][read.answer] += 1
    return [_most(counts[next((key for key in keys(read) if key in counts), "")]) for read in asked]


def commonest(learnt: Sequence[AnsweredText]) -> str:
    """Return the most frequent answer. Ties are resolved alphabetically."""
    return _most(Counter(read.answer for read in learnt))


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda answer: (-counts[answer], answer), default="")


def naive_bayes(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
    """Predict answers with a naive Bayes classifier on words and bigrams."""
    known = {word: number for number, word in enumerate(sorted({w for read in learnt for w in words_of(read.text)}))}
    answers = sorted({read.answer for read in learnt})
    if not answers:
        return ["" for _ in asked]
    place = {answer: number for number, answer in enumerate(answers)}
    table = np.full((len(answers), len(known)), SMOOTHING)
    prior = np.zeros(len(answers))
    for read in learnt:
        prior[place[read.answer]] += 1
        table[place[read.answer], [known[word] for word in set(words_of(read.text))]] += 1
    weights = np.log(table) - np.log(prior[:, None] + 2 * SMOOTHING)
    return [answers[int(np.argmax(np.log(prior) + weights[:, _places(read, known)].sum(axis=1)))] for read in asked]


def regression(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
    """Predict answers with a logistic regression on words and bigrams."""
    if not learnt:
        return ["" for _ in asked]
    truth = [read.answer for read in learnt]
    model = fit_logistic([_normed(read.text) for read in learnt], truth, sorted(set(truth)))
    return [model.answers[int(np.argmax(model.scores(_normed(read.text, model.known))))] for read in asked]


def _normed(text: str, known: Container[str] | None = None) -> dict[str, float]:
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
        there = [(self.known[name], value) for name, value in bag.items() if name in self.known]
        total: Floats = sum((self.weights[number] * value for number, value in there), self.bias)
        return total


def fit_logistic(bags: Sequence[Mapping[str, float]], truth: Sequence[str], answers: Sequence[str]) -> Logistic:
    """Fit a logistic regression with AdaGrad. It needs only NumPy, so that cards need no optional packages."""
    if not bags:
        return Logistic({}, answers, np.zeros((0, len(answers))), np.zeros(len(answers)))
    known = {name: number for number, name in enumerate(sorted({name for bag in bags for name in bag}))}
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.array([known[name] for bag in bags for name in bag], np.int64)
    values = np.array([value for bag in bags for value in bag.values()], np.float64)[:, None]
    targets = np.array([answers.index(answer) for answer in truth], np.int64)
    weights = np.zeros((len(known), len(answers)))
    bias, gathered = np.zeros(len(answers)), np.full((len(known), len(answers)), 1e-8)
    for _ in range(STEPS):
        wrong = _softmax(_sums(rows, weights[columns] * values, len(bags)) + bias)
        wrong[np.arange(len(bags)), targets] -= 1
        slope = _sums(columns, wrong[rows] * values, len(known)) / len(bags) + SHRINK / len(bags) * weights
        gathered += slope**2
        weights -= RATE * slope / np.sqrt(gathered)
        bias -= RATE * wrong.mean(axis=0)
    return Logistic(known, answers, weights, bias)


def _places(read: AnsweredText, known: dict[str, int]) -> NDArray[np.int64]:
    return np.array(sorted({known[word] for word in words_of(read.text) if word in known}), np.int64)


def _sums(places: NDArray[np.int64], values: Floats, count: int) -> Floats:
    return np.stack([np.bincount(places, column, count) for column in values.T], axis=1)


def _softmax(scores: Floats) -> Floats:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares


GUESSERS: dict[str, Callable[[Sequence[AnsweredText], Sequence[AnsweredText]], list[str]]] = {
    "text": by_text,
    "words": by_words,
    "naive_bayes": naive_bayes,
    "regression": regression,
}


def blind_shares(learnt: Iterable[AnsweredText], asked: Iterable[AnsweredText]) -> dict[str, dict[str, float]]:
    """Return the accuracy (0 to 1) of every question-only baseline, by kind of question."""
    kinds: dict[str, tuple[list[AnsweredText], list[AnsweredText]]] = defaultdict(lambda: ([], []))
    for place, reads in enumerate((learnt, asked)):
        for read in reads:
            kinds[read.kind][place].append(read)
    found = {}
    for kind, (known, rest) in sorted(kinds.items()):
        if rest:
            found[kind] = {
                name: sum(said == read.answer for said, read in zip(guess(known, rest), rest, strict=True)) / len(rest)
                for name, guess in GUESSERS.items()
            }
    return found
