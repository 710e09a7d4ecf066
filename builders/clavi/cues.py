"""What a model learns of free phrases from their words alone: which come first, and which are negative controls.

Guessers are trained on the pairs of one split and tried on those of another; where there is one split, on half of its
source videos and tried on the other half, both ways. Of several guessers the best one is the figure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...core.schema import Row

Features = Callable[[Row, str], Sequence[str]]
"""What a guesser sees of A, B or C of a pair."""
Floats = NDArray[np.float64]

STEPS = 150
RATE = 0.5
SHRINK = 1e-3
WORD = re.compile(r"[a-z']+")


def words_of(pair: Row, letter: str) -> list[str]:
    """Return the words of a phrase, with its two-word stretches."""
    words = WORD.findall(pair[f"phrase_{letter}"].lower())
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


GUESSERS: dict[str, Features] = {
    "phrase": lambda pair, letter: [pair[f"phrase_{letter}"]],
    "verb": lambda pair, letter: [pair[f"verb_{letter}"]],
    "words": words_of,
    "length": lambda pair, letter: ["length"] * len(pair[f"phrase_{letter}"].split()),
}
MEANINGS = {
    "phrase": "knows the exact phrase",
    "verb": "knows the verb",
    "words": "knows the words and pairs of words",
    "length": "knows the number of words",
}


@dataclass(frozen=True)
class Cue:
    """What guessers find out from phrases alone.

    Attributes:
        learnt, asked: The splits.
        order: For each guesser, how often it is right about which of A and B is first in the source.
        control: For each guesser, its balanced accuracy in telling C from A and B.
        pairs: Number of pairs asked about.
        seen: Share of their A and B whose phrase the guessers have learnt from.
    """

    learnt: str
    asked: str
    order: dict[str, float]
    control: dict[str, float]
    pairs: int
    seen: float

    @property
    def best_order(self) -> str:
        """The guesser that knows most of the order."""
        return max(self.order, key=lambda name: self.order[name])

    @property
    def best_control(self) -> str:
        """The guesser that tells most controls."""
        return max(self.control, key=lambda name: self.control[name])


def measure_cues(pairs: Mapping[str, Sequence[Row]]) -> Cue:
    """Let guessers learn and guess; see `Cue`.

    Args:
        pairs: The pairs of each split: `source_id`, and `phrase` and `verb` of A, B and C.
    """
    learnt, asked = splits_asked(pairs)
    folds = list(_folds(pairs, learnt, asked))
    order, control = {}, {}
    for name, features in GUESSERS.items():
        right: list[float] = []
        hits: dict[bool, list[float]] = {True: [], False: []}
        for known, rows in folds:
            right += _guess_order(known, rows, features)
            for is_control, hit in _guess_controls(known, rows, features):
                hits[is_control].append(hit)
        order[name] = _mean(right)
        control[name] = (_mean(hits[True]) + _mean(hits[False])) / 2
    seen = [
        row[f"phrase_{letter}"] in texts
        for known, rows in folds
        for texts in [{row[f"phrase_{letter}"] for row in known for letter in "ab"}]
        for row in rows
        for letter in "ab"
    ]
    return Cue(learnt, asked, order, control, sum(len(rows) for _, rows in folds), _mean(seen))


def splits_asked(splits: Iterable[str]) -> tuple[str, str]:
    """Return the split that guessers learn from and the one that they are asked."""
    names = list(splits)
    others = [name for name in ("test", "validation") if name in names]
    return ("train", others[0]) if "train" in names and others else (names[0], names[0])


def _folds(
    pairs: Mapping[str, Sequence[Row]], learnt: str, asked: str
) -> Iterator[tuple[Sequence[Row], Sequence[Row]]]:
    if learnt != asked:
        yield pairs[learnt], pairs[asked]
        return
    sources = sorted({row["source_id"] for row in pairs[asked]})
    halves = [
        [row for row in pairs[asked] if row["source_id"] in chosen]
        for chosen in (set(sources[::2]), set(sources[1::2]))
    ]
    yield from ((halves[0], halves[1]), (halves[1], halves[0]))


def _guess_order(known: Sequence[Row], asked: Sequence[Row], features: Features) -> list[float]:
    """Return for each pair 1 if A is said to be first, 0 if B is, and 1/2 if nothing is known."""
    bags = [_difference(features(row, "a"), features(row, "b")) for row in known]
    weights = _fit([bag for row in bags for bag in (row, {k: -v for k, v in row.items()})], [1.0, 0.0] * len(bags))
    scores = (
        sum(
            weights.get(name, 0.0) * count
            for name, count in _difference(features(row, "a"), features(row, "b")).items()
        )
        for row in asked
    )
    return [_decided(score) for score in scores]


def _guess_controls(known: Sequence[Row], asked: Sequence[Row], features: Features) -> Iterator[tuple[bool, float]]:
    """Yield for each of A, B and C whether it is the control, and whether that is guessed: 1, 0 or 1/2."""
    bags, labels = [], []
    for row in known:
        for letter in "abcc":  # C twice, so that half of all are controls
            bags.append({**_difference(features(row, letter), ()), "": 1.0})
            labels.append(float(letter == "c"))
    weights = _fit(bags, labels)
    for row in asked:
        for letter in "abc":
            bag = _difference(features(row, letter), ())
            known_words = any(name in weights for name in bag)
            score = weights.get("", 0.0) + sum(weights.get(name, 0.0) * count for name, count in bag.items())
            hit = _decided(score if letter == "c" else -score) if known_words else 0.5
            yield letter == "c", hit


def _decided(score: float) -> float:
    return 0.5 if abs(score) < 1e-9 else float(score > 0)


def _difference(one: Iterable[str], other: Iterable[str]) -> dict[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for name in one:
        counts[name] += 1
    for name in other:
        counts[name] -= 1
    return {name: count for name, count in counts.items() if count}


def _fit(bags: Sequence[Mapping[str, float]], labels: Sequence[float]) -> dict[str, float]:
    """Fit a logistic regression without intercept by gradient steps; return the weight of each feature."""
    number: dict[str, int] = {}
    entries = [
        (place, number.setdefault(name, len(number)), value)
        for place, bag in enumerate(bags)
        for name, value in bag.items()
    ]
    if not entries:
        return {}
    row, column = (np.array([entry[part] for entry in entries], np.intp) for part in range(2))
    value = np.array([entry[2] for entry in entries], np.float64)
    truth = np.array(labels)
    weights, squares = np.zeros(len(number)), np.full(len(number), 1e-8)
    for _ in range(STEPS):
        scores = np.bincount(row, value * weights[column], len(bags))
        error = 1 / (1 + np.exp(-np.clip(scores, -30, 30))) - truth
        gradient = np.bincount(column, value * error[row], len(number)) + SHRINK * len(bags) / len(number) * weights
        squares += gradient**2
        weights -= RATE * gradient / np.sqrt(squares)
    found: Floats = weights
    return {name: float(found[place]) for name, place in number.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5
