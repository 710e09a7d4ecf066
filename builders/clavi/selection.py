"""Select among the pairs that qualify: limit their number per source, and balance which class comes first."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import pairwise

from ...core.seeds import rng_for
from .pairs import Candidate, SameAction, pair_key


def class_of(candidate: Candidate, letter: str) -> str:
    """Return the class of A or B by which pairs are balanced: the Charades class, or the verb of a free phrase."""
    action = candidate.a.action if letter == "a" else candidate.b.action
    return action.verb if action.words or action.asked else action.key


def without_recurrences(candidates: Iterable[Candidate], same: SameAction, counts: Counter[str]) -> list[Candidate]:
    """Return the pairs whose A and B do not recur in their source, and count the others."""
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
    """Keep at most `most` pairs per source. Pairs are sorted by their middle, grouped, and sampled once per group."""
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
    """Remove pairs until, in every split, each class of phrases comes first as often as second.

    Pairs are edges from the class of A to that of B. As long as a class is first too often, the edges of a shortest
    path from such a class to one that is second too often are removed, which preserves the balance of the classes in
    between. The pair removed for two classes is sampled.
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


def balanced_by_pair(candidates: Sequence[Candidate], seed: int, counts: Counter[str]) -> list[Candidate]:
    """Remove pairs until, in every split and for any two classes of phrases, each comes first equally often.

    Pairs of a class with itself are kept. For two classes, the pairs to remove are sampled.
    """
    groups: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in sorted(candidates, key=pair_key):
        classes = class_of(candidate, "a"), class_of(candidate, "b")
        groups.setdefault((candidate.video.split, *classes), []).append(candidate)
    kept: list[Candidate] = []
    for (split, first, second), members in sorted(groups.items()):
        number = min(len(members), len(groups.get((split, second, first), ())))
        order = rng_for(seed, "clavi", "pair balance", split, first, second).permutation(len(members))
        kept += [members[place] for place in order[:number].tolist()]
    counts["pairs_left_out_order_balance"] += len(candidates) - len(kept)
    return kept


def balanced_over_videos(
    candidates: Sequence[Candidate], most: int, seed: int, counts: Counter[str]
) -> list[Candidate]:
    """Keep at most `most` pairs per source, with each class first as often as second in every split.

    First the pairs of `spread_over_videos` are balanced; then cycles of pairs, in which each pair starts with the class
    at which the previous one ends, are added as long as their sources have room. The two losses are counted separately.
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
        kept += _cycles(edges, room)
    counts["pairs_left_out_order_balance"] += len(spread) - len(kept)
    return kept


def _cycles(edges: Mapping[str, dict[str, list[Candidate]]], room: Counter[str]) -> list[Candidate]:
    """Find pairs that form cycles, shortest cycles first, as long as their sources have room.

    Args:
        edges: The pairs by the classes of A and B; returned pairs and those without room are removed.
        room: Number of pairs that each source may still contribute; decremented.
    """
    taken: list[Candidate] = []
    for start in sorted(edges):
        crowded = set[tuple[str, str]]()
        while path := _cycle(edges, start, room, crowded):
            some: list[Candidate] = []
            for first, second in pairwise(path):
                used = Counter(candidate.video.id for candidate in some)
                fits = (c for c in reversed(edges[first][second]) if room[c.video.id] > used[c.video.id])
                if (chosen := next(fits, None)) is None:
                    crowded.add((first, second))  # the sources have room for one pair, but the cycle needs two of them
                    break
                some.append(chosen)
            else:
                for (first, second), candidate in zip(pairwise(path), some, strict=True):
                    edges[first][second].remove(candidate)
                    room[candidate.video.id] -= 1
                taken += some
    return taken


def _cycle(
    edges: Mapping[str, dict[str, list[Candidate]]], start: str, room: Counter[str], crowded: Set[tuple[str, str]]
) -> list[str]:
    """Return the classes on a shortest cycle of pairs whose sources have room, or an empty list."""

    def usable(node: str, target: str) -> bool:
        pairs = edges.get(node, {}).get(target, [])
        while pairs and room[pairs[-1].video.id] < 1:
            pairs.pop()
        return bool(pairs) and (node, target) not in crowded

    path = _shortest_path(
        [start],
        lambda node: [target for target in sorted(edges.get(node, {})) if target != start and usable(node, target)],
        lambda node: usable(node, start),
    )
    return [*path, start] if path else []


def _left_out(edges: Mapping[str, dict[str, list[tuple[float, int]]]]) -> set[int]:
    """Remove edges, the last of each bundle first, until every node has as many incoming as outgoing edges."""
    excess = Counter[str]()
    for first, targets in edges.items():
        for second, pairs in targets.items():
            excess[first] += len(pairs)
            excess[second] -= len(pairs)
    reachable = {first: [name for name in sorted(bundles) if bundles[name]] for first, bundles in edges.items()}
    out = set[int]()
    while starts := sorted(name for name, count in excess.items() if count > 0):
        path = _shortest_path(starts, lambda node: reachable.get(node, ()), lambda node: excess[node] < 0)
        for first, second in pairwise(path):
            out.add(edges[first][second].pop()[1])
            if not edges[first][second]:
                reachable[first].remove(second)
        excess[path[0]] -= 1
        excess[path[-1]] += 1
    return out


def _shortest_path(
    starts: Sequence[str], targets: Callable[[str], Iterable[str]], is_end: Callable[[str], bool]
) -> list[str]:
    """Find a shortest path from one of the starts to an end by breadth-first search. Return [] if there is none."""
    before: dict[str, str] = dict.fromkeys(starts, "")
    waiting = deque(starts)
    while waiting:
        node = waiting.popleft()
        if is_end(node):
            path = [node]
            while before[path[-1]]:
                path.append(before[path[-1]])
            return path[::-1]
        for target in targets(node):
            if target not in before:
                before[target] = node
                waiting.append(target)
    return []
