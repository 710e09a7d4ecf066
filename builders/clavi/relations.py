"""Form pairs of actions that overlap or of which one contains the other (`--relations overlap,contain`).

The four end points of A and B divide their union into three pieces. V shows the pieces as in the source, V′ in reverse
order, as for a sequence, where the middle piece is the filler:

    overlap   V: A | A and B | B    V′: B | A and B | A
    contain   V: A | A and B | A    V′: the same with the two pieces of A swapped

In an overlap, A starts first in V and B in V′. If B lies in the first third of A in V, it lies in the last third in V′,
and vice versa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ...annotations.actions import AnnotatedVideo, Segment
from .pairs import (
    MARGIN_S,
    Candidate,
    Cuts,
    Limits,
    SameAction,
    draw_cuts,
    draw_equal_cuts,
    equal_pieces,
    milliseconds,
    other_actions,
)
from .settings import RELATIONS, ClaviSettings

PIECE_MS = 2000  # also the minimum distance of two end points
EDGE_MS = 500  # minimum distance of B from the end of its third
PIECES = {"sequence": ("A", "filler", "B"), "overlap": ("A", "AB", "B"), "contain": ("A", "AB", "A")}
"""The actions in the pieces of V, by relation."""


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


def piece_cuts(a: Segment, b: Segment) -> Cuts:
    """Sort the four end points of two actions, which delimit the three pieces."""
    return Cuts(*sorted(milliseconds(time) for time in (a.start_s, a.end_s, b.start_s, b.end_s)))


def cuts_of(candidate: Candidate, settings: ClaviSettings) -> Cuts:
    """Return what delimits a pair's pieces: sampled cuts for a sequence, and the end points for other relations.

    With `--cuts balanced`, the first and the last piece have the same length.
    """
    balanced = settings.cuts == "balanced"
    if candidate_relation(candidate) == "sequence":
        return (draw_equal_cuts if balanced else draw_cuts)(candidate, settings.seed)
    cuts = piece_cuts(candidate.a, candidate.b)
    return equal_pieces(cuts) if balanced else cuts


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


def is_default(settings: ClaviSettings) -> bool:
    """Return whether all pairs are sequences."""
    return settings.relations == RELATIONS[:1]
