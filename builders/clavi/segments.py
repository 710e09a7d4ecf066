"""Select pairs from arbitrary annotated segments so that the order of each pair is unambiguous in the source.

Lengths and margin are those of the paper (`builders.clavi.pairs`). Phrases are free, so "another action" is one with a
different meaning (`builders.clavi.sameness`): an event near A or B with the same meaning would make "before" untrue.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...annotations.actions import Action, AnnotatedVideo, Mention, Segment
from .pairs import MARGIN_S, Candidate, Limits
from .sameness import Recurrences, Sameness, content_words, find_recurrences

NEAR_CLIP_S = 2 * MARGIN_S  # around A and B: the margin of a clip beyond them, and another margin
COUNTS = (
    *("segments", "segments_that_repeat_another", "segments_too_short_or_long", "segments_not_asked_about"),
    "segments_whose_words_come_again_in_their_source",
    *("pairs_in_reach", "pairs_out_of_reach", "pairs_left_out_same_meaning", "pairs_left_out_said_again_near"),
    *("pairs_left_out_statement_and_gerund", "pairs_left_out_strict"),
)


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
