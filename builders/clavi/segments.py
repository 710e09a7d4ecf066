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
from ...core.seeds import rng_for
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
    places: dict[tuple[float, float], list[int]] = {}
    for place, segment in enumerate(ordered):
        same_time = places.setdefault((segment.start_s, segment.end_s), [])
        if recurrences.same_event[place].isdisjoint(same_time):
            same_time.append(place)
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
    every = video
    video = without_repeats(video, sameness)
    segments = video.segments
    recurrences = find_recurrences(segments, sameness)
    said = [content_words(segment.action) for segment in every.segments]
    lasting = [place for place, segment in enumerate(segments) if limits.lasts(segment)]
    usable = [place for place in lasting if segments[place].action.usable]
    counts["segments"] += len(every.segments)
    stages = (segments, [segments[place] for place in lasting], [segments[place] for place in usable])
    rules = ("segments_that_repeat_another", "segments_too_short_or_long", "segments_not_asked_about")
    for rule, before, after in zip(rules, (every.segments, *stages), stages, strict=False):
        kept = {*map(id, after)}
        out = [(segment, rule) for segment in before if id(segment) not in kept]
        counts[rule] += len(out)
        if rejected is not None:
            rejected += out
    counts["segments_whose_words_come_again_in_their_source"] += sum(map(bool, recurrences.same_words))
    for one, other in _in_reach(segments, usable, limits, counts):
        a, b = segments[one], segments[other]
        low, high = a.start_s - MARGIN_S, b.end_s + MARGIN_S
        counts["pairs_in_reach"] += 1
        again = (recurrences.same_event[one] | recurrences.same_event[other]) - {one, other}
        if other in recurrences.same_event[one]:
            counts["pairs_left_out_same_meaning"] += 1
        elif any(_lies_in(segments[place], low, high) for place in again):
            counts["pairs_left_out_said_again_near"] += 1
        elif bool(a.action.asked) != bool(b.action.asked):
            counts["pairs_left_out_statement_and_gerund"] += 1
        elif strict and (recurrences.same_words[one] or recurrences.same_words[other]):
            counts["pairs_left_out_strict"] += 1
        else:
            events, words = _clip(every, said, a, b)
            elsewhere = _elsewhere(segments, recurrences, (one, other), low, high)
            yield Candidate(video, a, b, elsewhere, clip_words=words, clip_events=events)


def _in_reach(
    segments: Sequence[Segment], usable: Sequence[int], limits: Limits, counts: Counter[str]
) -> Iterator[tuple[int, int]]:
    """Yield the positions of all pairs of segments within the limits, and count the others. Segments must be sorted."""
    starts = [segments[place].start_s for place in usable]
    for one in usable:
        a = segments[one]
        for number in range(bisect_right(starts, a.end_s), len(usable)):
            if limits.span is not None and starts[number] - a.start_s > limits.span:
                counts["pairs_out_of_reach"] += len(usable) - number
                break
            if limits.hold(a, segments[usable[number]]):
                yield one, usable[number]
            else:
                counts["pairs_out_of_reach"] += segments[usable[number]].start_s > a.end_s


def _lies_in(segment: Segment | Mention, low: float, high: float) -> bool:
    return segment.start_s < high and segment.end_s > low


def _clip(
    video: AnnotatedVideo, said: Sequence[frozenset[str]], a: Segment, b: Segment
) -> tuple[tuple[Action, ...], frozenset[str]]:
    """Return the events in the clip of a pair and near it, and the content words of all annotations there."""
    low, high = a.start_s - NEAR_CLIP_S, b.end_s + NEAR_CLIP_S
    near = [place for place, segment in enumerate(video.segments) if _lies_in(segment, low, high)]
    mentioned = (mention.words for mention in video.mentions if _lies_in(mention, low, high))
    events = tuple(video.segments[place].action for place in near)
    return events, frozenset[str]().union(*(said[place] for place in near), *mentioned)


def _elsewhere(
    segments: Sequence[Segment], recurrences: Recurrences, pair: tuple[int, int], low: float, high: float
) -> tuple[str, ...]:
    """Return the distinct actions of a video that are not near a pair and whose meaning differs from A and B."""
    near = {segment.action.key for segment in segments if _lies_in(segment, low, high)}
    same = recurrences.same_event[pair[0]] | recurrences.same_event[pair[1]] | set(pair)
    keys = (segment.action.key for place, segment in enumerate(segments) if place not in same)
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
        return {name: [self._words[place] for place in places.tolist()] for name, places in self._with_subject.items()}

    def fitting(self, candidate: Candidate, subject: str) -> NDArray[np.intp]:
        """Return the pool positions of possible controls with a given subject ("" for gerund phrases)."""
        fits = np.ones(len(self.pool), np.bool_)
        for word in candidate.clip_words & self._with_word.keys():
            fits[self._with_word[word]] = False
        places = self._with_subject.get(subject, np.empty(0, np.intp))
        return places[fits[places]]

    def has(self, candidate: Candidate) -> bool:
        """Return whether a pair has any possible control. Meanings are not compared."""
        return bool(self._subjects(candidate))

    def _subjects(self, candidate: Candidate) -> list[str]:
        """Return the possible subjects of a pair's control, each as often as it occurs in events.

        Subjects are those of the clip or, if none fits, those of the entire source.
        """
        if not candidate.a.action.asked:
            return [""] if self._fits(candidate, "") else []
        everywhere = (segment.action for segment in candidate.video.segments)
        for actions in (candidate.clip_events, everywhere):
            counts = Counter(action.subject for action in actions if action.asked)
            found = [name for name in sorted(counts) if self._fits(candidate, name) for _ in range(counts[name])]
            if found:
                return found
        return []

    def _fits(self, candidate: Candidate, subject: str) -> bool:
        return any(map(candidate.clip_words.isdisjoint, self._words_by_subject.get(subject, ())))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Return the weight with which each phrase is sampled among those that fit, as whole numbers.

        Weights are fitted iteratively on a subset of the pairs: the weight of a phrase increases if the phrase, or one
        of its surface features, is expected less often among controls than it occurs among A and B.
        """
        some = sorted(self.candidates, key=lambda candidate: candidate.id)[:: -(-len(self.candidates) // CLIPS) or 1]
        shares: dict[str, list[tuple[float, NDArray[np.intp]]]] = {}
        for candidate in some:
            subjects = self._subjects(candidate)
            for subject, count in Counter(subjects).items():
                share = count / len(subjects)
                shares.setdefault(subject, []).append((share, self.fitting(candidate, subject)))
        tables = [self._table(subject, rows) for subject, rows in sorted(shares.items())]
        used = Counter(segment.action.key for c in self.candidates for segment in (c.a, c.b))
        wanted = np.array([used[action.key] for action in self.pool], np.float64)
        wanted *= sum(float(parts.sum()) for _, parts, _ in tables) / max(wanted.sum(), 1.0)
        seen = list(_places(map(_surface_features, self.pool)).values())
        trait = np.repeat(np.arange(len(seen)), [len(places) for places in seen])
        place = np.concatenate([*seen, np.empty(0, np.intp)])
        numbers = np.maximum(np.bincount(place, minlength=len(self.pool)), 1)
        wanted_traits = np.bincount(trait, wanted[place], len(seen))
        found = np.ones(len(self.pool))
        for _ in range(ROUNDS):
            expected = np.zeros(len(self.pool))
            for places, parts, fits in tables:
                expected[places] += (parts / (fits @ found[places])) @ fits * found[places]
            change = np.log((wanted + 0.1) / (expected + 0.1)) * 0.5
            ratios = np.log((wanted_traits + 1) / (np.bincount(trait, expected[place], len(seen)) + 1))
            change += np.bincount(place, ratios[trait], len(self.pool)) / numbers
            found = np.clip(found * np.exp(change * 0.5), 1 / LIMIT, LIMIT)
        return np.maximum(np.round(found * GRAIN), 1).astype(np.int64)

    def _table(
        self, subject: str, rows: Sequence[tuple[float, NDArray[np.intp]]]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        places = self._with_subject[subject]
        fits = np.zeros((len(rows), len(places)))
        for row, (_, some) in zip(fits, rows, strict=True):
            row[np.searchsorted(places, some)] = 1
        return places, np.array([share for share, _ in rows]), fits

    def draw(self, candidate: Candidate) -> Action | None:
        """Sample the negative control of a pair. Return None if none is possible.

        The subject is sampled first, weighted by its frequency in the clip's events, then the phrase. A phrase whose
        meaning resembles an event of the clip is rejected and sampled again.
        """
        subjects = self._subjects(candidate)
        phrases = [action.phrase for action in candidate.clip_events]
        known: dict[str, tuple[NDArray[np.intp], NDArray[np.int64]]] = {}
        rng = rng_for(self.seed, "clavi", "control", candidate.id)
        for _ in range(TRIES if subjects else 0):
            subject = subjects[int(rng.random() * len(subjects))]
            if subject not in known:
                places = self.fitting(candidate, subject)
                known[subject] = places, np.cumsum(self.weights[places])
            places, cumulated = known[subject]
            place = int(np.searchsorted(cumulated, int(rng.random() * int(cumulated[-1])), side="right"))
            action: Action = self.pool[int(places[place])]
            if not self.sameness.resembles(action.phrase, phrases):
                return action
        return None


def _places(traits: Iterable[Iterable[str]]) -> dict[str, NDArray[np.intp]]:
    """Map each trait to the positions of the items that have it, in ascending order."""
    places: dict[str, list[int]] = {}
    for place, some in enumerate(traits):
        for trait in some:
            places.setdefault(trait, []).append(place)
    return {trait: np.array(some, np.intp) for trait, some in places.items()}


def _surface_features(action: Action) -> list[str]:
    words = action.phrase.lower().split()
    return [f"verb {action.verb}", f"{len(words)} words", *sorted({*words})]
