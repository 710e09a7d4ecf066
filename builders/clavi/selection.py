"""Limit and balance the pairs that qualify, and record what no pair asks about."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from ...annotations.actions import AnnotatedVideo, Segment
from ...core.numerics import rng_for
from ...core.plan import LeftOut, in_words
from .pairs import Candidate, SameAction, pair_key
from .settings import ClaviSettings

IN_NO_PAIR = "segments_in_no_pair"
WITHOUT_PAIRS = "videos_without_pairs"
NOT_LOSSES = ("pairs_in_reach", "pairs_overlap", "pairs_contain")


@dataclass
class Losses:
    """What the rules leave out while pairs are selected.

    Attributes:
        pairs: Number of rejected pairs by source video and rule (a name in `notes.yaml`).
        segments: Rejected segments with their rule, by source video.
    """

    pairs: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    segments: defaultdict[str, list[tuple[Segment, str]]] = field(default_factory=lambda: defaultdict(list))

    def add_counts(self, video_id: str, counts: Mapping[str, int]) -> None:
        """Add the counts of a video's pairs, from which those that were not rejected are omitted."""
        rejected = {
            name: count
            for name, count in counts.items()
            if count and name.startswith(("pairs_", "overlapping_")) and name not in NOT_LOSSES
        }
        self.pairs[video_id].update(rejected)

    def without(self, reason: str, before: Iterable[Candidate], after: Iterable[Candidate]) -> None:
        """Count the pairs that a rule has removed from a list."""
        lost = Counter(candidate.video.id for candidate in before)
        lost.subtract(candidate.video.id for candidate in after)
        for video_id, count in lost.items():
            self.pairs[video_id][reason] += count

    def records(
        self,
        videos: Sequence[AnnotatedVideo],
        kept: Iterable[Candidate],
        read: Iterable[LeftOut],
        words: Mapping[str, str],
        noun: str,
    ) -> Iterator[LeftOut]:
        """Yield everything that the videos contain and the pairs `kept` do not ask about, in order of the videos.

        Args:
            videos: The annotated videos.
            kept: The selected pairs.
            read: What was left out in reading, which may be the reason why a video has no segments.
            words: Descriptions of the rules.
            noun: Noun for a segment.
        """
        used_segments: defaultdict[str, set[int]] = defaultdict(set)
        for candidate in kept:
            used_segments[candidate.video.id] |= {id(candidate.a), id(candidate.b)}
        in_reading: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for earlier in read:
            in_reading[earlier.source_id][earlier.reason] += earlier.count
        for video in videos:
            lost = partial(LeftOut, "selection", source_id=video.id, file=video.file, line=video.line)
            pairs = +self.pairs[video.id]
            in_no_pair = (
                f"its pairs were left out ({_listed(pairs, words)})" if pairs else "no other segment is in reach"
            )
            rules = {id(segment): rule for segment, rule in self.segments[video.id]}
            segments = {id(segment): segment for segment, _ in self.segments[video.id]}
            segments |= {id(segment): segment for segment in video.segments}
            reasons = Counter[str]()
            for key, segment in segments.items():
                if key in used_segments[video.id]:
                    continue
                rule = rules.get(key, IN_NO_PAIR)
                reasons[rule] += 1
                detail = in_no_pair if rule == IN_NO_PAIR else _words(rule, words)
                yield lost(noun, segment.action.label, rule, detail, line=segment.line or video.line)
            for rule, count in sorted(pairs.items()):
                yield lost("pairs", video.id, rule, _words(rule, words), count=count)
            if not used_segments[video.id]:
                del reasons[IN_NO_PAIR]
                why = _listed(in_reading[video.id] + reasons + pairs, words)
                num_segments = len(segments)
                why = why or (
                    f"of its {num_segments:,} {noun}s, no two are in reach"
                    if num_segments > 1
                    else f"it has one {noun}"
                )
                yield lost("video", video.id, WITHOUT_PAIRS, f"it has no pair ({why})")


def _listed(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    return "; ".join(f"{_words(rule, words)}: {count:,}" for rule, count in sorted(counts.items()))


def _words(rule: str, words: Mapping[str, str]) -> str:
    """Describe a rule within a sentence, without what the card says before it."""
    return words.get(rule, in_words(rule)).rpartition("left out: ")[2].removeprefix("of these, ")


def limit_and_balance(
    candidates: Sequence[Candidate], settings: ClaviSettings, counts: Counter[str], losses: Losses
) -> list[Candidate]:
    """Apply `max_pairs_per_video` and `order`."""
    kept = _balanced(candidates, settings, counts)
    before, after = (Counter(candidate.video.id for candidate in pairs) for pairs in (candidates, kept))
    for video_id, count in before.items():
        over = max(0, count - (settings.max_pairs_per_video or count))
        losses.pairs[video_id]["pairs_left_out_most_per_video"] += over
        losses.pairs[video_id]["pairs_left_out_order_balance"] += count - over - after[video_id]
    return kept


def _balanced(candidates: Sequence[Candidate], settings: ClaviSettings, counts: Counter[str]) -> list[Candidate]:
    most, seed = settings.max_pairs_per_video, settings.seed
    if settings.order != "balanced":
        spread = spread_over_videos(candidates, most, seed, counts)
        return balanced_by_pair(spread, seed, counts) if settings.order == "pairs" else spread
    if most is None:
        return balanced(candidates, seed, counts)
    return balanced_over_videos(candidates, most, seed, counts)


def class_of(candidate: Candidate, letter: str) -> str:
    """Return the class of A or B by which pairs are balanced: the Charades class, or the verb of a free phrase."""
    action = candidate.a.action if letter == "a" else candidate.b.action
    return action.verb if action.words or action.question else action.key


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
        for index in range(stretches):
            first, stop = (len(members) * n // stretches for n in (index, index + 1))
            draw = rng_for(seed, "clavi", "pairs of a video", name, index).random()
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
        for index, (candidate, draw) in enumerate(zip(members, draws, strict=True)):
            first, second = class_of(candidate, "a"), class_of(candidate, "b")
            edges.setdefault(first, {}).setdefault(second, []).append((draw, index))
        for targets in edges.values():
            for pairs in targets.values():
                pairs.sort()
        removed = _left_out(edges)
        kept += [candidate for index, candidate in enumerate(members) if index not in removed]
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
        count = min(len(members), len(groups.get((split, second, first), ())))
        order = rng_for(seed, "clavi", "pair balance", split, first, second).permutation(len(members))
        kept += [members[index] for index in order[:count].tolist()]
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
    kept_keys = {pair_key(candidate) for candidate in kept}
    room = Counter({name: most for name in {candidate.video.id for candidate in candidates}})
    room.subtract(candidate.video.id for candidate in kept)
    for split in sorted({candidate.video.split for candidate in candidates}):
        named = ((pair_key(candidate), candidate) for candidate in candidates if candidate.video.split == split)
        members = [candidate for key, candidate in sorted(named, key=lambda item: item[0]) if key not in kept_keys]
        draws = rng_for(seed, "clavi", "circles", split).random(len(members)).tolist()
        edges: dict[str, dict[str, list[Candidate]]] = {}
        for _, index in sorted(zip(draws, range(len(members)), strict=True)):
            first, second = (class_of(members[index], letter) for letter in "ab")
            edges.setdefault(first, {}).setdefault(second, []).append(members[index])
        kept += _cycles(edges, room)
    counts["pairs_left_out_order_balance"] += len(spread) - len(kept)
    return kept


def _cycles(edges: Mapping[str, dict[str, list[Candidate]]], room: Counter[str]) -> list[Candidate]:
    """Find pairs that form cycles, shortest cycles first, as long as their sources have room.

    Args:
        edges: The pairs by the classes of A and B; returned pairs and those without room are removed.
        room: Number of pairs that each source may still contribute; decremented.
    """
    added: list[Candidate] = []
    for start in sorted(edges):
        crowded = set[tuple[str, str]]()
        while path := _cycle(edges, start, room, crowded):
            cycle: list[Candidate] = []
            for first, second in pairwise(path):
                uses = Counter(candidate.video.id for candidate in cycle)
                fits = (c for c in reversed(edges[first][second]) if room[c.video.id] > uses[c.video.id])
                if (chosen := next(fits, None)) is None:
                    crowded.add((first, second))  # the sources have room for one pair, but the cycle needs two of them
                    break
                cycle.append(chosen)
            else:
                for (first, second), candidate in zip(pairwise(path), cycle, strict=True):
                    edges[first][second].remove(candidate)
                    room[candidate.video.id] -= 1
                added += cycle
    return added


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
    removed = set[int]()
    while starts := sorted(name for name, count in excess.items() if count > 0):
        path = _shortest_path(starts, lambda node: reachable.get(node, ()), lambda node: excess[node] < 0)
        for first, second in pairwise(path):
            removed.add(edges[first][second].pop()[1])
            if not edges[first][second]:
                reachable[first].remove(second)
        excess[path[0]] -= 1
        excess[path[-1]] += 1
    return removed


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
