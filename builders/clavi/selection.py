"""What is kept of the pairs that qualify: some of each source, and as many of each class first as second."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import pairwise

from ...core.seeds import rng_for
from .pairs import Candidate, SameAction, pair_key


def class_of(candidate: Candidate, letter: str) -> str:
    """Return what A or B is an instance of: its class of Charades, or the verb of a free phrase."""
    action = candidate.a.action if letter == "a" else candidate.b.action
    return action.verb if action.words or action.asked else action.key


def without_returns(candidates: Iterable[Candidate], same: SameAction, counts: Counter[str]) -> list[Candidate]:
    """Keep the pairs whose A and B come nowhere else in their source; what is left out is counted."""
    kept = []
    for candidate in candidates:
        others = [s for s in candidate.video.segments if s is not candidate.a and s is not candidate.b]
        if any(same(s.action, x.action) for s in others for x in (candidate.a, candidate.b)):
            counts["pairs_left_out_strict"] += 1
        else:
            kept.append(candidate)
    return kept


def spread_over_videos(
    candidates: Sequence[Candidate], most: int | None, seed: int, counts: Counter[str]
) -> list[Candidate]:
    """Keep so many pairs of each source: in order of their middle, as many equal stretches, and of each a drawn one."""
    if most is None:
        return list(candidates)
    by_video: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_video.setdefault(candidate.video.id, []).append(candidate)
    kept = []
    for name, members in by_video.items():
        members.sort(key=lambda c: (c.a.start_s + c.b.end_s, pair_key(c)))
        stretches = min(most, len(members))
        for number in range(stretches):
            first, stop = (len(members) * n // stretches for n in (number, number + 1))
            draw = rng_for(seed, "clavi", "pairs of a video", name, number).random()
            kept.append(members[first + int(draw * (stop - first))])
    counts["pairs_left_out_most_per_video"] += len(candidates) - len(kept)
    return kept


def balanced(candidates: Sequence[Candidate], seed: int, counts: Counter[str]) -> list[Candidate]:
    """Leave pairs out until in every split each class of phrases comes first as often as second.

    Pairs are edges from the class of A to that of B. While a class comes first too often, the edges of a shortest way
    from such a class to one that comes second too often are left out; all classes between stay as they were. Which of
    the pairs of two classes goes is drawn.
    """
    kept: list[Candidate] = []
    for split in sorted({candidate.video.split for candidate in candidates}):
        members = sorted((c for c in candidates if c.video.split == split), key=pair_key)
        draws = rng_for(seed, "clavi", "balance", split).random(len(members)).tolist()
        edges: dict[str, dict[str, list[tuple[float, int]]]] = {}
        for number, (candidate, draw) in enumerate(zip(members, draws, strict=True)):
            first, second = class_of(candidate, "a"), class_of(candidate, "b")
            edges.setdefault(first, {}).setdefault(second, []).append((draw, number))
        for targets in edges.values():
            for pairs in targets.values():
                pairs.sort()
        out = _left_out(edges)
        kept += [candidate for number, candidate in enumerate(members) if number not in out]
    counts["pairs_left_out_order_balance"] += len(candidates) - len(kept)
    return kept


def balanced_over_videos(
    candidates: Sequence[Candidate], most: int, seed: int, counts: Counter[str]
) -> list[Candidate]:
    """Keep at most so many pairs of each source, and in every split each class first as often as second.

    Of the pairs of `spread_over_videos` those stay that `balanced` leaves; then pairs that form circles, each beginning
    with the class that the one before ends with, are added while their sources have room. What the limit and what the
    balance leaves out is counted apart.
    """
    spread = spread_over_videos(candidates, most, seed, counts)
    kept = balanced(spread, seed, Counter())
    taken = {pair_key(candidate) for candidate in kept}
    room = Counter({name: most for name in {candidate.video.id for candidate in candidates}})
    room.subtract(candidate.video.id for candidate in kept)
    for split in sorted({candidate.video.split for candidate in candidates}):
        named = ((pair_key(candidate), candidate) for candidate in candidates if candidate.video.split == split)
        members = [candidate for key, candidate in sorted(named, key=lambda item: item[0]) if key not in taken]
        draws = rng_for(seed, "clavi", "circles", split).random(len(members)).tolist()
        edges: dict[str, dict[str, list[Candidate]]] = {}
        for _, number in sorted(zip(draws, range(len(members)), strict=True)):
            first, second = (class_of(members[number], letter) for letter in "ab")
            edges.setdefault(first, {}).setdefault(second, []).append(members[number])
        kept += _circles(edges, room)
    counts["pairs_left_out_order_balance"] += len(spread) - len(kept)
    return kept


def _circles(edges: Mapping[str, dict[str, list[Candidate]]], room: Counter[str]) -> list[Candidate]:
    """Take pairs that form circles, one shortest circle after the other, as long as their sources have room.

    Args:
        edges: The pairs by the classes of A and of B; what is taken or has no room is removed.
        room: How many pairs each source may still give; counted down.
    """
    taken: list[Candidate] = []
    for start in sorted(edges):
        crowded = set[tuple[str, str]]()
        while way := _circle(edges, start, room, crowded):
            some: list[Candidate] = []
            for first, second in pairwise(way):
                used = Counter(candidate.video.id for candidate in some)
                fits = (c for c in reversed(edges[first][second]) if room[c.video.id] > used[c.video.id])
                if (chosen := next(fits, None)) is None:
                    crowded.add((first, second))  # its sources have room for one pair, and the circle for two of them
                    break
                some.append(chosen)
            else:
                for (first, second), candidate in zip(pairwise(way), some, strict=True):
                    edges[first][second].remove(candidate)
                    room[candidate.video.id] -= 1
                taken += some
    return taken


def _circle(
    edges: Mapping[str, dict[str, list[Candidate]]], start: str, room: Counter[str], crowded: Set[tuple[str, str]]
) -> list[str]:
    """Find the classes of a shortest circle of pairs whose sources have room, from a class back to it; or nothing."""

    def usable(node: str, target: str) -> bool:
        pairs = edges.get(node, {}).get(target, [])
        while pairs and room[pairs[-1].video.id] < 1:
            pairs.pop()
        return bool(pairs) and (node, target) not in crowded

    way = _shortest_way(
        [start],
        lambda node: [target for target in sorted(edges.get(node, {})) if target != start and usable(node, target)],
        lambda node: usable(node, start),
    )
    return [*way, start] if way else []


def _left_out(edges: Mapping[str, dict[str, list[tuple[float, int]]]]) -> set[int]:
    """Take edges away, the last of each bundle first, until as many lead into every node as out of it."""
    excess = Counter[str]()
    for first, targets in edges.items():
        for second, pairs in targets.items():
            excess[first] += len(pairs)
            excess[second] -= len(pairs)
    out = set[int]()
    while starts := sorted(name for name, count in excess.items() if count > 0):
        way = _shortest_way(
            starts,
            lambda node: [target for target in sorted(edges.get(node, {})) if edges[node][target]],
            lambda node: excess[node] < 0,
        )
        for first, second in pairwise(way):
            out.add(edges[first][second].pop()[1])
        excess[way[0]] -= 1
        excess[way[-1]] += 1
    return out


def _shortest_way(
    starts: Sequence[str], targets: Callable[[str], Iterable[str]], is_end: Callable[[str], bool]
) -> list[str]:
    """Find a shortest way from one of some nodes to an end, breadth first; an empty one if there is none."""
    before: dict[str, str] = dict.fromkeys(starts, "")
    waiting = deque(starts)
    while waiting:
        node = waiting.popleft()
        if is_end(node):
            way = [node]
            while before[way[-1]]:
                way.append(before[way[-1]])
            return way[::-1]
        for target in targets(node):
            if target not in before:
                before[target] = node
                waiting.append(target)
    return []
