"""Select pairs and negative controls from segments with free phrases.

Lengths and margin are those of the paper (`builders.clavi.pairs`). Phrases are free, so "another action" is one with a
different meaning (`builders.clavi.meaning`): an event near A or B with the same meaning would make "before" untrue.

A negative control shares no content word with the annotations in the clip or near it, but may occur elsewhere in the
source. Controls are sampled so that phrases, verbs, words and lengths are as frequent among them as among A and B, as
far as possible, and that their subjects are those of the clip's events. The card measures the remaining cues.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...annotations.actions import Action, AnnotatedVideo, Mention, Segment
from ...core.numerics import rng_for
from .meaning import Recurrences, Sameness, content_words, find_recurrences
from .pairs import MARGIN_S, Candidate, Limits

NEAR_CLIP_S = 2 * MARGIN_S  # around A and B: the margin of a clip beyond them, and another margin
COUNTS = (
    *("segments", "segments_that_repeat_another", "segments_too_short_or_long", "segments_not_asked_about"),
    "segments_whose_words_come_again_in_their_source",
    *("pairs_in_reach", "pairs_out_of_reach", "pairs_left_out_same_meaning", "pairs_left_out_said_again_near"),
    *("pairs_left_out_statement_and_gerund", "pairs_left_out_strict"),
)
ROUNDS = 30
LIMIT = 100.0  # largest weight relative to the initial one; the smallest is 1 / LIMIT
GRAIN = 1000  # weights are multiples of 1 / GRAIN, so that rounding errors have no effect
TRIES = 12
CLIPS = 512  # maximum number of pairs for fitting weights


def without_repeats(video: AnnotatedVideo, sameness: Sameness) -> AnnotatedVideo:
    """Sort the segments of a video by time. If several have the same meaning and time, keep only the first."""
    ordered = sorted(video.segments, key=lambda s: (s.start_s, s.end_s, s.action.key))
    recurrences = find_recurrences(ordered, sameness)
    kept: list[Segment] = []
    kept_at: dict[tuple[float, float], list[int]] = {}
    for index, segment in enumerate(ordered):
        same_time = kept_at.setdefault((segment.start_s, segment.end_s), [])
        if recurrences.same_event[index].isdisjoint(same_time):
            same_time.append(index)
            kept.append(segment)
    return replace(video, segments=tuple(kept))


def segment_pairs(
    video: AnnotatedVideo,
    sameness: Sameness,
    limits: Limits,
    counts: Counter[str],
    *,
    strict: bool = False,
    rejected: list[tuple[Segment, str]] | None = None,
) -> Iterator[Candidate]:
    """Yield the pairs of a video.

    A ends before B starts, both within the limits. They differ in meaning, and no other segment between them or within
    2 s of them has the meaning of either. Either both phrases have a subject or neither has.

    `counts` is updated with the number of excluded pairs, by the first rule that each violates, and `rejected` with the
    segments that form no pairs and the rule. With `strict`, pairs are excluded if the verb and objects of A or B occur
    elsewhere in the video with any subject.
    """
    annotated = video
    video = without_repeats(video, sameness)
    segments = video.segments
    recurrences = find_recurrences(segments, sameness)
    words_of = [content_words(segment.action) for segment in annotated.segments]
    lasting = [index for index, segment in enumerate(segments) if limits.lasts(segment)]
    usable = [index for index in lasting if segments[index].action.usable]
    counts["segments"] += len(annotated.segments)
    stages = (segments, [segments[index] for index in lasting], [segments[index] for index in usable])
    rules = ("segments_that_repeat_another", "segments_too_short_or_long", "segments_not_asked_about")
    for rule, before, after in zip(rules, (annotated.segments, *stages), stages, strict=False):
        kept = {*map(id, after)}
        excluded = [(segment, rule) for segment in before if id(segment) not in kept]
        counts[rule] += len(excluded)
        if rejected is not None:
            rejected += excluded
    counts["segments_whose_words_come_again_in_their_source"] += sum(map(bool, recurrences.same_words))
    for first, second in _in_reach(segments, usable, limits, counts):
        a, b = segments[first], segments[second]
        low, high = a.start_s - MARGIN_S, b.end_s + MARGIN_S
        counts["pairs_in_reach"] += 1
        again = (recurrences.same_event[first] | recurrences.same_event[second]) - {first, second}
        if second in recurrences.same_event[first]:
            counts["pairs_left_out_same_meaning"] += 1
        elif any(_lies_in(segments[index], low, high) for index in again):
            counts["pairs_left_out_said_again_near"] += 1
        elif bool(a.action.question) != bool(b.action.question):
            counts["pairs_left_out_statement_and_gerund"] += 1
        elif strict and (recurrences.same_words[first] or recurrences.same_words[second]):
            counts["pairs_left_out_strict"] += 1
        else:
            events, words = _clip(annotated, words_of, a, b)
            elsewhere = _elsewhere(segments, recurrences, (first, second), low, high)
            yield Candidate(video, a, b, elsewhere, clip_words=words, clip_events=events)


def _in_reach(
    segments: Sequence[Segment], usable: Sequence[int], limits: Limits, counts: Counter[str]
) -> Iterator[tuple[int, int]]:
    """Yield the positions of all pairs of segments within the limits, and count the others. Segments must be sorted."""
    starts = [segments[index].start_s for index in usable]
    for first in usable:
        a = segments[first]
        for position in range(bisect_right(starts, a.end_s), len(usable)):
            if limits.span is not None and starts[position] - a.start_s > limits.span:
                counts["pairs_out_of_reach"] += len(usable) - position
                break
            if limits.hold(a, segments[usable[position]]):
                yield first, usable[position]
            else:
                counts["pairs_out_of_reach"] += segments[usable[position]].start_s > a.end_s


def _lies_in(segment: Segment | Mention, low: float, high: float) -> bool:
    return segment.start_s < high and segment.end_s > low


def _clip(
    video: AnnotatedVideo, words_of: Sequence[frozenset[str]], a: Segment, b: Segment
) -> tuple[tuple[Action, ...], frozenset[str]]:
    """Return the events in the clip of a pair and near it, and the content words of all annotations there."""
    low, high = a.start_s - NEAR_CLIP_S, b.end_s + NEAR_CLIP_S
    near = [index for index, segment in enumerate(video.segments) if _lies_in(segment, low, high)]
    mentioned = (mention.words for mention in video.mentions if _lies_in(mention, low, high))
    events = tuple(video.segments[index].action for index in near)
    return events, frozenset[str]().union(*(words_of[index] for index in near), *mentioned)


def _elsewhere(
    segments: Sequence[Segment], recurrences: Recurrences, pair: tuple[int, int], low: float, high: float
) -> tuple[str, ...]:
    """Return the distinct actions of a video that are not near a pair and whose meaning differs from A and B."""
    near = {segment.action.key for segment in segments if _lies_in(segment, low, high)}
    same = recurrences.same_event[pair[0]] | recurrences.same_event[pair[1]] | set(pair)
    keys = (segment.action.key for index, segment in enumerate(segments) if index not in same)
    return tuple(dict.fromkeys(key for key in keys if key not in near))


@dataclass(frozen=True)
class Controls:
    """The phrases of a split, from which negative controls are sampled.

    Attributes:
        pool: Actions sorted by key.
        candidates: The pairs of the split; weights are fitted to the frequencies of their A and B.
    """

    pool: Sequence[Action]
    candidates: Sequence[Candidate]
    sameness: Sameness
    seed: int

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [content_words(action) for action in self.pool]

    @cached_property
    def _with_subject(self) -> dict[str, NDArray[np.intp]]:
        return _places([action.subject] for action in self.pool)

    @cached_property
    def _with_word(self) -> dict[str, NDArray[np.intp]]:
        return _places(self._words)

    @cached_property
    def _words_by_subject(self) -> dict[str, list[frozenset[str]]]:
        return {
            name: [self._words[index] for index in indices.tolist()] for name, indices in self._with_subject.items()
        }

    def fitting(self, candidate: Candidate, subject: str) -> NDArray[np.intp]:
        """Return the pool positions of possible controls with a given subject ("" for gerund phrases)."""
        fits = np.ones(len(self.pool), np.bool_)
        for word in candidate.clip_words & self._with_word.keys():
            fits[self._with_word[word]] = False
        indices = self._with_subject.get(subject, np.empty(0, np.intp))
        return indices[fits[indices]]

    def has(self, candidate: Candidate) -> bool:
        """Return whether a pair has any possible control. Meanings are not compared."""
        return bool(self._subjects(candidate))

    def _subjects(self, candidate: Candidate) -> list[str]:
        """Return the possible subjects of a pair's control, each as often as it occurs in events.

        Subjects are those of the clip or, if none fits, those of the entire source.
        """
        if not candidate.a.action.question:
            return [""] if self._fits(candidate, "") else []
        everywhere = (segment.action for segment in candidate.video.segments)
        for actions in (candidate.clip_events, everywhere):
            counts = Counter(action.subject for action in actions if action.question)
            subjects = [name for name in sorted(counts) if self._fits(candidate, name) for _ in range(counts[name])]
            if subjects:
                return subjects
        return []

    def _fits(self, candidate: Candidate, subject: str) -> bool:
        return any(map(candidate.clip_words.isdisjoint, self._words_by_subject.get(subject, ())))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Return the weight with which each phrase is sampled among those that fit, as whole numbers.

        Weights are fitted iteratively on a subset of the pairs: the weight of a phrase increases if the phrase, or one
        of its surface features, is expected less often among controls than it occurs among A and B.
        """
        sample = sorted(self.candidates, key=lambda candidate: candidate.id)[:: -(-len(self.candidates) // CLIPS) or 1]
        shares: dict[str, list[tuple[float, NDArray[np.intp]]]] = {}
        for candidate in sample:
            subjects = self._subjects(candidate)
            for subject, count in Counter(subjects).items():
                share = count / len(subjects)
                shares.setdefault(subject, []).append((share, self.fitting(candidate, subject)))
        tables = [self._table(subject, rows) for subject, rows in sorted(shares.items())]
        uses = Counter(segment.action.key for c in self.candidates for segment in (c.a, c.b))
        target = np.array([uses[action.key] for action in self.pool], np.float64)
        target *= sum(float(parts.sum()) for _, parts, _ in tables) / max(target.sum(), 1.0)
        seen = list(_places(map(_surface_features, self.pool)).values())
        trait = np.repeat(np.arange(len(seen)), [len(indices) for indices in seen])
        members = np.concatenate([*seen, np.empty(0, np.intp)])
        counts = np.maximum(np.bincount(members, minlength=len(self.pool)), 1)
        wanted_traits = np.bincount(trait, target[members], len(seen))
        weights = np.ones(len(self.pool))
        for _ in range(ROUNDS):
            expected = np.zeros(len(self.pool))
            for indices, parts, fits in tables:
                expected[indices] += (parts / (fits @ weights[indices])) @ fits * weights[indices]
            change = np.log((target + 0.1) / (expected + 0.1)) * 0.5
            ratios = np.log((wanted_traits + 1) / (np.bincount(trait, expected[members], len(seen)) + 1))
            change += np.bincount(members, ratios[trait], len(self.pool)) / counts
            weights = np.clip(weights * np.exp(change * 0.5), 1 / LIMIT, LIMIT)
        return np.maximum(np.round(weights * GRAIN), 1).astype(np.int64)

    def _table(
        self, subject: str, rows: Sequence[tuple[float, NDArray[np.intp]]]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        indices = self._with_subject[subject]
        fits = np.zeros((len(rows), len(indices)))
        for row, (_, fitting) in zip(fits, rows, strict=True):
            row[np.searchsorted(indices, fitting)] = 1
        return indices, np.array([share for share, _ in rows]), fits

    def draw(self, candidate: Candidate) -> Action | None:
        """Sample the negative control of a pair. Return None if none is possible.

        The subject is sampled first, weighted by its frequency in the clip's events, then the phrase. A phrase whose
        meaning resembles an event of the clip is rejected and sampled again.
        """
        subjects = self._subjects(candidate)
        phrases = [action.phrase for action in candidate.clip_events]
        fitting: dict[str, tuple[NDArray[np.intp], NDArray[np.int64]]] = {}
        rng = rng_for(self.seed, "clavi", "control", candidate.id)
        for _ in range(TRIES if subjects else 0):
            subject = subjects[int(rng.random() * len(subjects))]
            if subject not in fitting:
                indices = self.fitting(candidate, subject)
                fitting[subject] = indices, np.cumsum(self.weights[indices])
            indices, cumulated = fitting[subject]
            index = int(np.searchsorted(cumulated, int(rng.random() * int(cumulated[-1])), side="right"))
            action: Action = self.pool[int(indices[index])]
            if not self.sameness.resembles(action.phrase, phrases):
                return action
        return None


def _places(traits: Iterable[Iterable[str]]) -> dict[str, NDArray[np.intp]]:
    """Map each trait to the positions of the items that have it, in ascending order."""
    indices_of: dict[str, list[int]] = {}
    for index, indices in enumerate(traits):
        for trait in indices:
            indices_of.setdefault(trait, []).append(index)
    return {trait: np.array(indices, np.intp) for trait, indices in indices_of.items()}


def _surface_features(action: Action) -> list[str]:
    words = action.phrase.lower().split()
    return [f"verb {action.verb}", f"{len(words)} words", *sorted({*words})]
