"""Name the segments and videos that no pair asks about, and count the rejected pairs of each video by rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...annotations.actions import AnnotatedVideo, Segment
from ...core.plan import LeftOut, in_words
from .pairs import Candidate

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
        used: defaultdict[str, set[int]] = defaultdict(set)
        for candidate in kept:
            used[candidate.video.id] |= {id(candidate.a), id(candidate.b)}
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
                if key in used[video.id]:
                    continue
                rule = rules.get(key, IN_NO_PAIR)
                reasons[rule] += 1
                detail = in_no_pair if rule == IN_NO_PAIR else _words(rule, words)
                yield lost(noun, segment.action.label, rule, detail, line=segment.line or video.line)
            for rule, count in sorted(pairs.items()):
                yield lost("pairs", video.id, rule, _words(rule, words), count=count)
            if not used[video.id]:
                del reasons[IN_NO_PAIR]
                why = _listed(in_reading[video.id] + reasons + pairs, words)
                number = len(segments)
                why = why or (f"of its {number:,} {noun}s, no two are in reach" if number > 1 else f"it has one {noun}")
                yield lost("video", video.id, WITHOUT_PAIRS, f"it has no pair ({why})")


def _listed(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    return "; ".join(f"{_words(rule, words)}: {count:,}" for rule, count in sorted(counts.items()))


def _words(rule: str, words: Mapping[str, str]) -> str:
    """Describe a rule within a sentence, without what the card says before it."""
    return words.get(rule, in_words(rule)).rpartition("left out: ")[2].removeprefix("of these, ")
