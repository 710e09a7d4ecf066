"""Actions with start and end times, in a form shared by all annotation formats, collected video by video."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.numerics import rng_for
from ..core.plan import LeftOut, in_words
from ..language import events, phrases
from ..language.events import Event
from ..language.lexicon import verb_lemma
from ..language.phrases import Gerund, lemmas_in, verbs_and_nouns
from ..language.words import StyleOption
from ..video.frames import TOLERANCE_S
from .entries import SPLITS, fitted

SHARES = (0.7, 0.15, 0.15)  # of train, validation and test
REASONS = {**events.REASONS, **phrases.REASONS}


@dataclass(frozen=True)
class Action:
    """An action that is annotated in a video and that questions can ask about.

    Attributes:
        key: Class id ("c000"), or the phrase if the dataset annotates sentences instead of classes.
        label: The annotated text.
        phrase: Wording for questions: a gender-neutral gerund phrase, or a statement if `question` is set.
        verb: Verb class, or the lemma of the main verb.
        objects: Object classes, or normalized noun lemmas.
        usable: Whether questions may ask about the action; False for Charades' "Someone is …" classes.
        words: Lemmas of all verbs and nouns of a sentence; empty for a class.
        question: Yes/no question ("Did Tom dip his fingers in the ink") if `phrase` has a subject, else empty.
    """

    key: str
    label: str
    phrase: str
    verb: str
    objects: frozenset[str]
    usable: bool = True
    words: frozenset[str] = frozenset()
    question: str = ""

    @property
    def subject(self) -> str:
        """Return the subject of the phrase, such as "Tom", or an empty string if the phrase is a gerund."""
        return subject_of(self.question, self.phrase, self.verb) if self.question else ""


def verbs_in(action: Action) -> frozenset[str]:
    """Return the lemmas of all words that may be verbs; "holding a glass drinking" also contains "drink"."""
    return action.words | {action.verb} | {verb_lemma(word) for word in action.words if word.endswith("ing")}


def shares_verb(first: Action, second: Action) -> bool:
    """Return whether the main verb of either action occurs in the other."""
    return first.verb == second.verb or first.verb in verbs_in(second) or second.verb in verbs_in(first)


@lru_cache(maxsize=1 << 16)
def subject_of(question: str, phrase: str, verb: str) -> str:
    """Return the subject that a question and its statement share: "Tom" for "Did Tom dip …" and "Tom dipped …".

    `verb` is the lemma of the main verb in the statement.
    """
    aid, *words = question.split()
    if aid.lower() not in ("did", "do", "does"):
        return phrase.partition(f" {aid.lower()} ")[0]
    pairs = enumerate(zip(words, phrase.split(), strict=False))
    end = next((index for index, (question_word, stated_word) in pairs if question_word != stated_word), len(words))
    # "Did Tom hit Jerry" and "Tom hit Jerry" never diverge
    end = next((index for index, word in enumerate(words) if 0 < index < end and word.lower() == verb), end)
    while end > 1 and words[end - 1].endswith("ly"):
        end -= 1
    return " ".join(words[:end])


@dataclass(frozen=True)
class Segment:
    """An action with its start and end in seconds, clipped to the end of the video.

    `line` is its line in the annotation file, if the format has one line per segment.
    """

    action: Action
    start_s: float
    end_s: float
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Mention:
    """The lemmas of an annotated text that did not become a segment, with its start and end in seconds."""

    start_s: float
    end_s: float
    words: frozenset[str]


@dataclass(frozen=True)
class AnnotatedVideo:
    """A source video and its annotations.

    Attributes:
        id: Stem of the video's file name.
        split: "train", "validation" or "test".
        subject: Id of the person filmed.
        segments: Segments that can form pairs, in annotation order.
        verbs: Verbs of all annotations of the video, including those without a segment.
        objects: Objects of all annotations of the video, including those without a segment.
        columns: All columns of the annotation row, as text.
        mentions: Annotated texts that did not become segments.
        file: Name of the annotation file, or "" if unknown.
        line: The video's line in it, if the format has one.
    """

    id: str
    split: str
    subject: str
    length_s: float
    segments: tuple[Segment, ...]
    verbs: frozenset[str]
    objects: frozenset[str]
    columns: dict[str, str]
    mentions: tuple[Mention, ...] = ()
    file: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Annotations:
    """All videos of a dataset in file order (train first), the SHA-256 hashes of its files, and counts of errors.

    Attributes:
        names: File names of videos, by id, if the annotations give them in full.
        remarks: Sentences on how the files were read.
        left_out: What was read but is neither a video nor a segment, by name.
    """

    videos: tuple[AnnotatedVideo, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
    names: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


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


def same_doing(first: Action, second: Action) -> bool:
    """Return whether two sentences may describe the same action: they share a verb and no objects conflict."""
    if not shares_verb(first, second):
        return first.key == second.key
    return not first.objects or not second.objects or bool(first.objects & second.objects)


def why_unusable(code: str) -> str:
    """Return, as a sentence, why a text yields no phrase for questions."""
    return f"no question can be asked about it: {REASONS.get(code, in_words(code))}"


def action_of(parsed: Gerund | Event | str, text: str) -> Action | str:
    """Convert a phrase or an event to an action. A string, which explains why there is none, is returned unchanged."""
    if isinstance(parsed, str):
        return parsed
    question = parsed.question if isinstance(parsed, Event) else ""
    return Action(
        parsed.phrase, text, parsed.phrase, parsed.verb, parsed.objects, words=parsed.words, question=question
    )


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
        action: Action | str,
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
        if isinstance(action, str):
            leave_out(f"phrases_left_out_{action}", why_unusable(action))
            verbs, nouns = verbs_and_nouns(text, style)
            self._verbs |= verbs
            self._objects |= nouns
            self._mentions.append(Mention(*times, lemmas_in(text)))
            return
        self._verbs.add(action.verb)
        self._objects |= (action.words - {action.verb}) | action.objects
        span = fitted(times, self.length_s, self.spare_s)
        mention = Mention(*times, frozenset((action.verb, *action.objects, *action.words)))
        if isinstance(span, str):
            leave_out("phrases_left_out_past_the_end", span)
            self._mentions.append(mention)
            return
        counts["ends_clamped_to_length"] += span != times
        if any((s.start_s, s.end_s) == span and same_doing(s.action, action) for s in self._segments):
            leave_out("phrases_that_repeat_another", "another phrase describes the same action at the same time")
            self._mentions.append(mention)
        else:
            self._segments.append(Segment(action, *span, line))

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
    left_out: Iterable[LeftOut] = (),
) -> Annotations:
    """Complete all videos.

    `splits` are those of the videos for which the dataset names none. `left_out` and `counts` already include the rows
    that did not become phrases.

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
    left_out = (*left_out, *(record for draft in drafts.values() for record in draft.left_out))
    return Annotations(videos, hashes, dict(sorted({**counts, **totals}.items())), left_out=left_out)
