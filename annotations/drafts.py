"""Collect annotated phrases, video by video, and turn them into segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.left_out import LeftOut, in_words
from ..core.seeds import rng_for
from ..language import events, phrases
from ..language.events import Event
from ..language.phrases import Gerund, lemmas_in, said
from ..language.words import StyleOption
from ..video.frames import TOLERANCE_S
from .actions import Action, AnnotatedVideo, Annotations, Mention, Segment, shares_verb
from .captions import SPLITS
from .video_ends import fitted

SHARES = (0.7, 0.15, 0.15)  # of train, validation and test


def split_by_video(
    ids: Iterable[str], seed: int, shares: Sequence[float] = SHARES, *, none_empty: bool = False
) -> dict[str, str]:
    """Draw a split for each video, regardless of their order.

    Args:
        ids: Ids of the videos.
        seed: Random seed.
        shares: Shares of train, validation and test.
        none_empty: Whether a split that would be empty gets a video from the largest one. There must be at least three
            videos.
    """
    drawn = sorted(set(ids), key=lambda name: (float(rng_for(seed, "clavi", "split", name).random()), name))
    sizes = [round(share * len(drawn)) for share in shares[:2]]
    sizes.append(len(drawn) - sum(sizes))
    while none_empty and 0 in sizes:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] += 1
    names = [split for split, size in zip(SPLITS, sizes, strict=True) for _ in range(size)]
    return dict(zip(drawn, names, strict=True))


def same_doing(one: Action, other: Action) -> bool:
    """Return whether two sentences may describe the same action: they share a verb and no objects conflict."""
    if not shares_verb(one, other):
        return one.key == other.key
    return not one.objects or not other.objects or bool(one.objects & other.objects)


REASONS = {**events.REASONS, **phrases.REASONS}


def why_unusable(code: str) -> str:
    """Return, as a sentence, why a text yields no phrase for questions."""
    return f"no question can be asked about it: {REASONS.get(code, in_words(code))}"


def action_of(found: Gerund | Event | str, text: str) -> Action | str:
    """Convert a phrase or an event to an action. A string, which explains why there is none, is returned unchanged."""
    if isinstance(found, str):
        return found
    asked = found.asked if isinstance(found, Event) else ""
    return Action(found.phrase, text, found.phrase, found.verb, found.objects, words=found.words, asked=asked)


@dataclass
class VideoDraft:
    """A video whose phrases are being collected.

    Attributes:
        split: Split, or "" if the dataset has none.
        subject: Id of the person filmed, if known.
        length_s: Length in seconds, or None if unknown; the video then ends with its last segment.
        columns: Other columns of the annotation, as text.
        file: Name of the annotation file.
        spare_s: A segment that reaches past the end of the video by less than this ends with the video.
    """

    id: str
    split: str = ""
    subject: str = ""
    length_s: float | None = None
    columns: dict[str, str] = field(default_factory=dict)
    spare_s: float = float(TOLERANCE_S)
    file: str = ""
    _segments: list[Segment] = field(default_factory=list)
    _verbs: set[str] = field(default_factory=set)
    _objects: set[str] = field(default_factory=set)
    _end: float = 0
    _mentions: list[Mention] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(
        self,
        found: Action | str,
        text: str,
        times: tuple[float, float],
        counts: Counter[str],
        style: StyleOption = "auto",
        line: int | None = None,
    ) -> None:
        """Add a phrase as a segment. If it was rejected, record the reason and keep its words and times as a mention.

        `line` is its line in the annotation file, if it has one of its own.
        """

        def leave_out(reason: str, detail: str) -> None:
            counts[reason] += 1
            self.left_out.append(LeftOut("reading", "phrase", text, reason, detail, self.id, self.file, line))

        counts["phrases"] += 1
        self._end = max(self._end, times[1])
        if isinstance(found, str):
            leave_out(f"phrases_left_out_{found}", why_unusable(found))
            verbs, nouns = said(text, style)
            self._verbs |= verbs
            self._objects |= nouns
            self._mentions.append(Mention(*times, lemmas_in(text)))
            return
        self._verbs.add(found.verb)
        self._objects |= (found.words - {found.verb}) | found.objects
        span = fitted(times, self.length_s, self.spare_s)
        mention = Mention(*times, frozenset((found.verb, *found.objects, *found.words)))
        if isinstance(span, str):
            leave_out("phrases_left_out_past_the_end", span)
            self._mentions.append(mention)
            return
        counts["ends_clamped_to_length"] += span != times
        if any((s.start_s, s.end_s) == span and same_doing(s.action, found) for s in self._segments):
            leave_out("phrases_that_repeat_another", "another phrase describes the same action at the same time")
            self._mentions.append(mention)
        else:
            self._segments.append(Segment(found, *span, line))

    def finished(self, split: str) -> AnnotatedVideo:
        """Return the collected video, assigned to the given split."""
        return AnnotatedVideo(
            id=self.id,
            split=split,
            subject=self.subject,
            length_s=self._end if self.length_s is None else self.length_s,
            segments=tuple(self._segments),
            verbs=frozenset(self._verbs),
            objects=frozenset(self._objects),
            columns=self.columns,
            mentions=tuple(self._mentions),
            file=self.file,
        )


def gather(
    drafts: Mapping[str, VideoDraft],
    files: Iterable[Path],
    counts: Mapping[str, int],
    advice: str,
    splits: Mapping[str, str] | None = None,
) -> Annotations:
    """Complete all videos. `splits` are those of the videos for which the dataset names none.

    Raises:
        InputError: No phrase is usable in questions.
    """
    videos = tuple(draft.finished(draft.split or (splits or {})[draft.id]) for draft in drafts.values())
    files = tuple(files)
    if not any(video.segments for video in videos):
        reasons = ", ".join(f"{name} {count}" for name, count in counts.items() if "left_out" in name)
        raise InputError(
            f"{', '.join(path.name for path in files)}: expected at least one phrase for questions, got none"
            f"{f' ({reasons})' if reasons else ''}. {advice}"
        )
    totals = {"videos": len(videos), "videos_without_phrases": sum(not video.segments for video in videos)}
    hashes = {path.name: sha256_file(path) for path in files}
    left_out = tuple(record for draft in drafts.values() for record in draft.left_out)
    return Annotations(videos, hashes, dict(sorted({**counts, **totals}.items())), left_out=left_out)
