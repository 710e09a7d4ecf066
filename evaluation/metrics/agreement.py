"""Measure the accuracy of people, how far they agree, and which questions they dispute.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", defines alpha for nominal data with missing values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...core.results import Estimate
from .answers import YES_NO
from .bootstrap import RESAMPLES, Floats, Tally, by_source, estimates, tally

MARKS = {"cannot tell": "cannot tell", "several": "marked several", "wrong": "marked wrong"}
"""Reasons for a dispute, by the mark that people give."""
OUTVOTED = "most people answer otherwise"


@dataclass(frozen=True)
class Vote:
    """The answer of a person to a question.

    Attributes:
        choice: Index of the chosen option, or None if none was chosen.
        mark: "", or a key of `MARKS`.
        reason: The person's words on the mark.
        seconds: Time taken; NaN if unknown.
        repeat: Whether the person had to answer the question a second time.
    """

    person: str
    question_id: str
    choice: int | None
    mark: str = ""
    reason: str = ""
    seconds: float = nan
    repeat: bool = False


@dataclass(frozen=True)
class Dispute:
    """A question whose label people dispute, with the number of votes by option and mark."""

    question_id: str
    why: str
    votes: Mapping[str, int]
    reasons: tuple[str, ...] = ()


def people_of(votes: Sequence[Vote]) -> list[str]:
    """Return the names of the people in the order of their first votes."""
    return list(dict.fromkeys(vote.person for vote in votes))


def accuracy_by(
    votes: Sequence[Vote],
    truth: Mapping[str, int],
    sources: Mapping[str, str],
    name_of: Callable[[Vote], str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[int, Estimate]]:
    """Return the number of answers and their accuracy, by what `name_of` returns, without repeats.

    Answers without a choice are incorrect. `truth` and `sources` hold the correct option and the source video of each
    question.
    """
    counted = [vote for vote in votes if not vote.repeat]
    names, where = by_source([sources[vote.question_id] for vote in counted])
    right = np.array([vote.choice == truth[vote.question_id] for vote in counted], np.float64)
    groups = np.array([name_of(vote) for vote in counted], dtype=object)
    cells = {name: (where[groups == name], right[groups == name]) for name in sorted({*groups})}
    counts = Counter(groups)
    values = estimates(tally(names, cells), dict, seed=seed, resamples=resamples)
    return {name: (counts[name], value) for name, value in values.items()}


def pooled(tallies: Sequence[Tally]) -> Tally:
    """Add up the tallies of several people, whose cells are then means over all their answers."""
    sources = sorted({source for one in tallies for source in one.sources})
    cells = list(dict.fromkeys(cell for one in tallies for cell in one.cells))
    sums, counts = np.zeros((2, len(sources), len(cells)))
    for one in tallies:
        at = np.ix_([sources.index(name) for name in one.sources], [cells.index(name) for name in one.cells])
        sums[at] += one.sums
        counts[at] += one.counts
    return Tally(tuple(sources), tuple(cells), sums, counts)


def krippendorff_alpha(votes: Sequence[Vote]) -> float:
    """Compute Krippendorff's alpha for nominal data. Questions without a choice are missing values.

    Returns:
        At most 1; 0 is agreement by chance. NaN if no question has the choices of two people, or all chose alike.

    Raises:
        MissingExtraError: nltk is not installed.
    """
    agreement = import_extra("nltk.metrics.agreement", what="Krippendorff's alpha")
    chosen = [vote for vote in votes if not vote.repeat and vote.choice is not None]
    people = Counter(vote.question_id for vote in chosen)
    data = [(vote.person, vote.question_id, vote.choice) for vote in chosen if people[vote.question_id] > 1]
    if len({choice for _, _, choice in data}) < 2:
        return nan
    return float(agreement.AnnotationTask(data).alpha())


def self_agreement(votes: Sequence[Vote]) -> float:
    """Return the share of repeated questions that a person answered alike, or NaN if none was repeated."""
    first = {vote.question_id: vote.choice for vote in votes if not vote.repeat}
    same = [vote.choice == first[vote.question_id] for vote in votes if vote.repeat and vote.question_id in first]
    return sum(same) / len(same) if same else nan


def median_seconds(votes: Sequence[Vote]) -> float:
    """Return the median time of an answer in seconds, or NaN if none is known."""
    return median([vote.seconds for vote in votes if vote.seconds == vote.seconds] or [nan])


def marks_of(votes: Sequence[Vote]) -> dict[str, int]:
    """Return how often each mark was given, without repeats."""
    counts = Counter(vote.mark for vote in votes if not vote.repeat)
    return {mark: counts[mark] for mark in MARKS}


def disputed(
    votes: Sequence[Vote], truth: Mapping[str, int], options: Mapping[str, Sequence[str]]
) -> tuple[Dispute, ...]:
    """Return the questions that most people answer otherwise, or that at least half of them mark, in the order given.

    People who choose nothing do not answer otherwise. `truth` and `options` hold the correct option and all options of
    each question.
    """
    by_question: dict[str, list[Vote]] = {name: [] for name in truth}
    for vote in votes:
        if not vote.repeat:
            by_question[vote.question_id].append(vote)
    found = []
    for name, cast in by_question.items():
        others = sum(vote.choice not in (None, truth[name]) for vote in cast)
        marks = marks_of(cast)
        why = [OUTVOTED] * (2 * others > len(cast))
        if cast and 2 * sum(marks.values()) >= len(cast):
            why += [MARKS[mark] for mark, count in marks.items() if count]
        if why:
            labels = [option_name(options[name], vote.choice) for vote in cast if vote.choice is not None]
            counts = {**Counter(labels), **{MARKS[mark]: count for mark, count in marks.items() if count}}
            found.append(Dispute(name, "; ".join(why), counts, tuple(vote.reason for vote in cast if vote.reason)))
    return tuple(found)


def option_name(options: Sequence[str], choice: int) -> str:
    """Return "yes" or "no", or the letter of an option."""
    return options[choice] if tuple(options) == YES_NO else chr(ord("A") + choice)


def shares_right(votes: Sequence[Vote], truth: Mapping[str, int]) -> dict[str, float]:
    """Return the share of people who answered each question correctly, without repeats."""
    right: dict[str, list[bool]] = {}
    for vote in votes:
        if not vote.repeat:
            right.setdefault(vote.question_id, []).append(vote.choice == truth[vote.question_id])
    return {name: sum(answers) / len(answers) for name, answers in right.items()}


def pearson(a: Floats, b: Floats) -> float:
    """Return the correlation of two arrays of equal shape (n,), or NaN if one is constant or n < 2."""
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return nan
    return float(np.corrcoef(a, b)[0, 1])


def spearman(a: Floats, b: Floats) -> float:
    """Return the correlation of the ranks of two arrays, where equal values share their mean rank; see `pearson`."""
    return pearson(_ranks(a), _ranks(b))


def _ranks(values: Floats) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
