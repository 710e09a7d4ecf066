"""Select pairs of actions, and sample their cuts and negative controls.

Rawal et al. 2024, section 5.1 and appendix B.1. Times are compared without tolerance as the binary floating-point
numbers that Python parses from the CSV. This reproduces all 1,915 released training pairs exactly, and the number of
released test pairs (1,094). With exact decimals, three more test pairs would qualify (5.1 − 1.1 < 4.0 in binary).

With `--relations overlap,contain`, actions of a pair may overlap, or one may contain the other. The four end points of
A and B divide their union into three pieces. V shows the pieces as in the source, V′ in reverse order, as for a
sequence, where the middle piece is the filler:

    overlap   V: A | A and B | B    V′: B | A and B | A
    contain   V: A | A and B | A    V′: the same with the two pieces of A swapped

In an overlap, A starts first in V and B in V′. If B lies in the first third of A in V, it lies in the last third in V′,
and vice versa.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...annotations.actions import Action, AnnotatedVideo, Segment
from ...core.files import canonical_json
from ...core.numerics import rng_for
from .meaning import imply
from .settings import LONGEST_S, RELATIONS, SHORTEST_S, ClaviSettings

MARGIN_S = 2.0
SPARE_S = 10.0
DIGITS = 6
PIECE_MS = 2000  # also the minimum distance of two end points
EDGE_MS = 500  # minimum distance of B from the end of its third
PIECES = {"sequence": ("A", "filler", "B"), "overlap": ("A", "AB", "B"), "contain": ("A", "AB", "A")}
"""The actions in the pieces of V, by relation."""

SameAction = Callable[[Action, Action], bool]


@dataclass(frozen=True)
class Cuts:
    """The extended limits of a pair in milliseconds: A [out_a, in_a), filler [in_a, in_b), B [in_b, out_b)."""

    out_a: int
    in_a: int
    in_b: int
    out_b: int


@dataclass(frozen=True)
class Candidate:
    """A pair that qualifies, before its cuts and its negative control are sampled.

    Attributes:
        a, b: The two actions.
        others: Keys of other actions in the source that are not near A and B.
        id: Pair id; see `with_ids`.
        clip_words: Content words of all annotations in the clip and near it; empty for Charades.
        clip_events: The actions in the clip and near it.
    """

    video: AnnotatedVideo
    a: Segment
    b: Segment
    others: tuple[str, ...]
    id: str = ""
    clip_words: frozenset[str] = frozenset()
    clip_events: tuple[Action, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Limits on the lengths of A and B and on their distance, in seconds. None means no limit.

    Attributes:
        shortest, longest: Lengths of A and of B.
        span: Maximum time from the start of A to the end of B.
        gap: Minimum time from the end of A to the start of B.
        decimal: Whether lengths are rounded to `DIGITS`, so that 40.1 − 4.1 equals 36, unlike in binary.
    """

    shortest: float = SHORTEST_S
    longest: float | None = None
    span: float | None = None
    gap: float = 0.0
    decimal: bool = False

    @classmethod
    def of(cls, settings: ClaviSettings) -> Limits:
        """Return the limits that the settings define, before or after `decided`."""
        shortest = SHORTEST_S if settings.shortest is None else settings.shortest
        longest = LONGEST_S if settings.longest is None and settings.rules == "paper" else settings.longest
        return cls(shortest, longest, settings.max_span, settings.min_gap, settings.collection != "charades")

    def lasts(self, segment: Segment) -> bool:
        """Return whether a segment is neither too short nor too long."""
        length = self._apart(segment.start_s, segment.end_s)
        return length >= self.shortest and (self.longest is None or length <= self.longest)

    def hold(self, a: Segment, b: Segment) -> bool:
        """Return whether B starts after A ends, within the limits on span and gap."""
        near = self.span is None or self._apart(a.start_s, b.end_s) <= self.span
        return a.end_s < b.start_s and near and self._apart(a.end_s, b.start_s) >= self.gap

    def _apart(self, start: float, end: float) -> float:
        return round(end - start, DIGITS) if self.decimal else end - start


def relation_of(pair: Mapping[str, Any]) -> str:
    """Determine the relation of a pair from the times of its actions."""
    if pair["end_a_s"] <= pair["start_b_s"]:
        return "sequence"
    return "overlap" if pair["end_a_s"] < pair["end_b_s"] else "contain"


def candidate_relation(candidate: Candidate) -> str:
    """Determine the relation of a candidate."""
    a, b = candidate.a, candidate.b
    return relation_of({"end_a_s": a.end_s, "start_b_s": b.start_s, "end_b_s": b.end_s})


def is_late(pair: Mapping[str, Any]) -> bool:
    """Return whether B, if A contains it, lies in the second half of A in V."""
    return bool(pair["in_a"] - pair["out_a"] > pair["out_b"] - pair["in_b"])


def is_default(settings: ClaviSettings) -> bool:
    """Return whether all pairs are sequences."""
    return settings.relations == RELATIONS[:1]


def same_class(first: Action, second: Action) -> bool:
    """Return whether two actions have the same class."""
    return first.key == second.key


def released_pairs(
    video: AnnotatedVideo, same: SameAction, limits: Limits, counts: Counter[str]
) -> Iterator[Candidate]:
    """Yield the pairs of a video that satisfy the rules of the released benchmark.

    A ends before B starts; both last at least 4 s; the classes differ and are usable; the length exceeds A's start plus
    B's end by more than 10 s; A does not recur from its end until 2 s after B, nor B from 2 s before A until its start;
    at least one other usable action has neither start nor end within 2 s of the segment.

    Differs from the paper: the paper has no 10 s rule; actions have no maximum length; an action that spans the entire
    segment counts as outside it. See `paper_pairs`.

    `counts` is updated with the number of excluded pairs, by the first rule that each violates (`notes.yaml`).
    """
    for a, b in _ordered(video, same, limits, counts):
        low, high = a.start_s - MARGIN_S, b.end_s + MARGIN_S
        if not (a.action.usable and b.action.usable):
            counts["pairs_left_out_class_not_asked_about"] += 1
        elif not video.length_s - a.start_s - b.end_s > SPARE_S:
            counts["pairs_left_out_near_the_end"] += 1
        elif any(
            segment is not a
            and same(segment.action, a.action)
            and (a.end_s <= segment.start_s < high or a.end_s <= segment.end_s < high)
            for segment in video.segments
        ) or any(
            segment is not b
            and same(segment.action, b.action)
            and (low < segment.start_s <= b.start_s or low < segment.end_s <= b.start_s)
            for segment in video.segments
        ):
            counts["pairs_left_out_recurring"] += 1
        else:
            near = [s.action for s in video.segments if low <= s.start_s < high or low <= s.end_s < high]
            others = other_actions(video, [a.action, b.action, *near], same)
            if any(action.usable for action in others):
                yield Candidate(video, a, b, tuple(action.key for action in others))
            else:
                counts["pairs_left_out_no_other_action"] += 1


def paper_pairs(video: AnnotatedVideo, same: SameAction, limits: Limits, counts: Counter[str]) -> Iterator[Candidate]:
    """Yield the pairs of a video that satisfy appendix B.1, read literally. Arguments are those of `released_pairs`.

    A ends before B starts. Both last 4.0 to 36.0 s by default and have different classes. Neither recurs in the segment
    or within 2 s of it (the paper requires "in close proximity"; the distance is that of the release).
    """
    for a, b in _ordered(video, same, limits, counts):
        low, high = a.start_s - MARGIN_S, b.end_s + MARGIN_S
        near = [s for s in video.segments if s.start_s < high and s.end_s > low]
        if any(s is not a and s is not b and (same(s.action, a.action) or same(s.action, b.action)) for s in near):
            counts["pairs_left_out_recurring"] += 1
            continue
        others = other_actions(video, [s.action for s in near], same)
        yield Candidate(video, a, b, tuple(action.key for action in others))


def _ordered(
    video: AnnotatedVideo, same: SameAction, limits: Limits, counts: Counter[str]
) -> Iterator[tuple[Segment, Segment]]:
    """Yield all pairs of segments of different actions within the limits whose first action ends before the second."""
    long_enough = [segment for segment in video.segments if limits.lasts(segment)]
    counts["segments"] += len(video.segments)
    counts["segments_too_short_or_long"] += len(video.segments) - len(long_enough)
    for a in long_enough:
        for b in long_enough:
            if limits.hold(a, b):
                counts["pairs_in_reach"] += 1
                if same(a.action, b.action):
                    counts["pairs_left_out_same_action"] += 1
                else:
                    yield a, b
            elif a.end_s < b.start_s:
                counts["pairs_out_of_reach"] += 1


def overlapping_pairs(
    relation: str, video: AnnotatedVideo, same: SameAction, limits: Limits, counts: Counter[str]
) -> Iterator[Candidate]:
    """Yield the pairs of a video that have a relation other than "sequence".

    Pieces last at least 2 s; a contained action lies in the first or last third of the other, at least 0.5 s from its
    end. The actions differ, and neither recurs within 2 s of them.

    `counts` is updated with the number of excluded pairs, by the first rule that each violates.
    """
    for a in video.segments:
        for b in video.segments:
            if not a.start_s < b.start_s < min(a.end_s, b.end_s):
                continue
            candidate = Candidate(video, a, b, ())
            if a.end_s == b.end_s or candidate_relation(candidate) != relation:
                continue
            counts[f"pairs_{relation}"] += 1
            low, high = a.start_s - MARGIN_S, max(a.end_s, b.end_s) + MARGIN_S
            near = [s for s in video.segments if s.start_s < high and s.end_s > low]
            again = (s for s in near if s is not a and s is not b)
            if same(a.action, b.action):
                counts["overlapping_left_out_same_action"] += 1
            elif not (a.action.usable and b.action.usable):
                counts["overlapping_left_out_class_not_asked_about"] += 1
            elif reason := violated(a, b, limits):
                counts[reason] += 1
            elif any(same(s.action, a.action) or same(s.action, b.action) for s in again):
                counts["overlapping_left_out_recurring"] += 1
            else:
                others = other_actions(video, [s.action for s in near], same)
                yield Candidate(video, a, b, tuple(action.key for action in others))


def violated(a: Segment, b: Segment, limits: Limits) -> str:
    """Return the name in `notes.yaml` of the first rule on times that an overlapping pair violates, or ""."""
    cuts = piece_cuts(a, b)
    edges = (cuts.out_a, cuts.in_a, cuts.in_b, cuts.out_b)
    whole = edges[3] - edges[0]
    too_long = limits.span is not None and whole > limits.span * 1000
    if too_long or not (limits.lasts(a) and limits.lasts(b)):
        return "overlapping_left_out_too_short_or_long"
    if min(stop - start for start, stop in pairwise(edges)) < PIECE_MS:
        return "overlapping_left_out_short_piece"
    third = min(edges[2] - edges[0], edges[3] - edges[1])  # from B's farther end to the nearer end of A
    if b.end_s < a.end_s and 3 * (third + EDGE_MS) > whole:
        return "overlapping_left_out_middle_third"
    return ""


def other_actions(video: AnnotatedVideo, excluded: Sequence[Action], same: SameAction) -> list[Action]:
    """Return the actions of a video that are not excluded, in order and without repetition."""
    others: list[Action] = []
    for segment in video.segments:
        if not any(same(segment.action, action) for action in (*excluded, *others)):
            others.append(segment.action)
    return others


def recurs(candidate: Candidate, cuts: Cuts, same: SameAction) -> bool:
    """Return whether another interval of A reaches into the clip after A, or one of B into the clip before B.

    The order of A and B is then ambiguous, in V as in V′. The rules of the release allow such an interval if it neither
    starts nor ends in the segment.
    """
    a, b, low, high = candidate.a, candidate.b, cuts.out_a / 1000, cuts.out_b / 1000
    return any(
        (same(s.action, a.action) and s.start_s < high and s.end_s > a.end_s)
        or (same(s.action, b.action) and s.end_s > low and s.start_s < b.start_s)
        for s in candidate.video.segments
        if s.start_s < s.end_s
    )


def pair_key(candidate: Candidate) -> str:
    """Return the text that is hashed into the pair's id, which consists of the source and the segments."""
    a, b = candidate.a, candidate.b
    times = [milliseconds(a.start_s), milliseconds(a.end_s), milliseconds(b.start_s), milliseconds(b.end_s)]
    return canonical_json([candidate.video.id, a.action.key, b.action.key, *times])


def with_ids(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Assign ids to the candidates: 8 hexadecimal digits of the SHA-256 of source and segments.

    If two ids collide, the later pair (by source and times) uses the next 8 digits of its hash.
    """
    used_ids: set[str] = set()
    named = []
    for text, candidate in sorted(((pair_key(c), c) for c in candidates), key=lambda item: item[0]):
        digest = hashlib.sha256(text.encode()).hexdigest()
        digits = next(digest[i : i + 8] for i in range(0, 64, 8) if digest[i : i + 8] not in used_ids)
        used_ids.add(digits)
        named.append(replace(candidate, id=digits))
    return named


def cuts_of(candidate: Candidate, settings: ClaviSettings) -> Cuts:
    """Return what delimits a pair's pieces: sampled cuts for a sequence, and the end points for other relations.

    With `--cuts balanced`, the first and the last piece have the same length.
    """
    balanced = settings.cuts == "balanced"
    if candidate_relation(candidate) == "sequence":
        return (draw_equal_cuts if balanced else draw_cuts)(candidate, settings.seed)
    cuts = piece_cuts(candidate.a, candidate.b)
    return equal_pieces(cuts) if balanced else cuts


def draw_cuts(candidate: Candidate, seed: int) -> Cuts:
    """Sample how far the two actions are extended.

    With gap = B.start − A.end: outward oa ~ U(0, min(2 s, A.start, gap/2)) and ob ~ U(0, min(2 s, 0.6·(gap − oa))), not
    past the end of the video; inward ia = r·(oa + ob), ib = (1 − r)·(oa + ob), r ~ U(0, 1). In whole milliseconds ia +
    ib = oa + ob exactly, so that the two actions are equally far apart in V and in V′, and in_a ≤ in_b.

    Reference:
        Appendix B.1; the distributions are fitted to the release.
    """
    start_a, end_a = milliseconds(candidate.a.start_s), milliseconds(candidate.a.end_s)
    start_b, end_b = milliseconds(candidate.b.start_s), milliseconds(candidate.b.end_s)
    gap, margin, length = start_b - end_a, int(MARGIN_S * 1000), int(candidate.video.length_s * 1000)
    first, second, share = rng_for(seed, "clavi", "extension", candidate.id).random(3).tolist()
    oa = int(first * min(margin, start_a, gap // 2))
    ob = int(second * max(0, min(margin, (gap - oa) * 6 // 10, length - end_b)))
    ia = int(share * (oa + ob) + 0.5)
    return Cuts(start_a - oa, end_a + ia, start_b - (oa + ob - ia), end_b + ob)


def draw_equal_cuts(candidate: Candidate, seed: int) -> Cuts:
    """Sample cuts that give both actions pieces of equal length, so that V and V′ are cut at the same times.

    Both actions are extended inward by e ~ U(0, min(2 s, 0.4·gap)). The longer one is shortened at its outer end to the
    length of the shorter one.
    """
    start_a, end_a = milliseconds(candidate.a.start_s), milliseconds(candidate.a.end_s)
    start_b, end_b = milliseconds(candidate.b.start_s), milliseconds(candidate.b.end_s)
    share = float(rng_for(seed, "clavi", "extension", candidate.id).random())
    inward = int(share * min(int(MARGIN_S * 1000), (start_b - end_a) * 4 // 10))
    return equal_pieces(Cuts(start_a, end_a + inward, start_b - inward, end_b))


def equal_pieces(cuts: Cuts) -> Cuts:
    """Shorten the longer of the first and the last piece at its outer end."""
    length = min(cuts.in_a - cuts.out_a, cuts.out_b - cuts.in_b)
    return Cuts(cuts.in_a - length, cuts.in_a, cuts.in_b, cuts.in_b + length)


def piece_cuts(a: Segment, b: Segment) -> Cuts:
    """Sort the four end points of two actions, which delimit the three pieces."""
    return Cuts(*sorted(milliseconds(time) for time in (a.start_s, a.end_s, b.start_s, b.end_s)))


def draw_control(
    candidate: Candidate, pool: Sequence[Action], seed: int, annotated: Collection[Action] = ()
) -> Action | None:
    """Sample the negative control: an action that shares no verb and no object with any action of the source.

    If it and one of `annotated` imply each other, it is sampled again from the actions for which this is not the case.

    Returns:
        The action, or None if no action of the pool qualifies.
    """
    video = candidate.video
    words = video.verbs | video.objects
    apart = [a for a in pool if a.verb not in video.verbs and not (a.objects & video.objects or a.words & words)]
    rng = rng_for(seed, "clavi", "control", candidate.id)
    drawn = _one_of(apart, rng)
    if drawn and any(imply(drawn, event) for event in annotated):
        return _one_of([a for a in apart if not any(imply(a, event) for event in annotated)], rng)
    return drawn


def _one_of(actions: Sequence[Action], rng: np.random.Generator) -> Action | None:
    return actions[int(rng.random() * len(actions))] if actions else None


def milliseconds(seconds: float) -> int:
    """Convert a time in seconds to whole milliseconds."""
    return round(seconds * 1000)
