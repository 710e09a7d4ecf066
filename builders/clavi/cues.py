"""What a model learns of free phrases from their words alone: which come first, and which are negative controls.

Guessers are trained on the pairs of one split and tried on those of another; where there is one split, on half of its
source videos and tried on the other half, both ways. Of several guessers the best one is the figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...core.schema import Row
from ...evaluation.blind.question_only import fit_logistic, words_of

Features = Callable[[Row, str], Sequence[str]]
"""What a guesser sees of A, B or C of a pair."""
GUESSERS: dict[str, Features] = {
    "phrase": lambda pair, letter: [pair[f"phrase_{letter}"]],
    "verb": lambda pair, letter: [pair[f"verb_{letter}"]],
    "words": lambda pair, letter: words_of(pair[f"phrase_{letter}"]),
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
    turned = [one for row in known for one in (_difference(row, "ab", features), _difference(row, "ba", features))]
    model = fit_logistic(turned, ["a", "b"] * len(known), ["a", "b"])
    scores = (model.scores(_difference(row, "ab", features)) for row in asked)
    return [_decided(first - second) for first, second in scores]


def _guess_controls(known: Sequence[Row], asked: Sequence[Row], features: Features) -> Iterator[tuple[bool, float]]:
    """Yield for each of A, B and C whether it is the control, and whether that is guessed: 1, 0 or 1/2."""
    letters = "abcc" * len(known)  # C twice, so that half of all are controls
    bags = [Counter(features(row, letter)) for row in known for letter in "abcc"]
    model = fit_logistic(bags, [str(letter == "c") for letter in letters], ["False", "True"])
    for row in asked:
        for letter in "abc":
            bag = Counter(features(row, letter))
            no, yes = model.scores(bag)
            hit = _decided(yes - no if letter == "c" else no - yes)
            yield letter == "c", hit if bag.keys() & model.known.keys() else 0.5


def _decided(score: float) -> float:
    return 0.5 if abs(score) < 1e-9 else float(score > 0)


def _difference(row: Row, letters: str, features: Features) -> dict[str, float]:
    """Return what the first of two phrases has more of than the second."""
    counts = Counter(features(row, letters[0]))
    counts.subtract(features(row, letters[1]))
    return {name: count for name, count in counts.items() if count}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5
