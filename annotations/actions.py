"""Actions with start and end times, in a form shared by all annotation formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ..core.left_out import LeftOut
from ..language.inflection import verb_lemma


@dataclass(frozen=True)
class Action:
    """An action that is annotated in a video and that questions can ask about.

    Attributes:
        key: Class id ("c000"), or the phrase if the dataset annotates sentences instead of classes.
        label: The annotated text.
        phrase: Wording for questions: a gender-neutral gerund phrase, or a statement if `asked` is set.
        verb: Verb class, or the lemma of the main verb.
        objects: Object classes, or normalized noun lemmas.
        usable: Whether questions may ask about the action; False for Charades' "Someone is …" classes.
        words: Lemmas of all verbs and nouns of a sentence; empty for a class.
        asked: Yes/no question ("Did Tom dip his fingers in the ink") if `phrase` has a subject, else empty.
    """

    key: str
    label: str
    phrase: str
    verb: str
    objects: frozenset[str]
    usable: bool = True
    words: frozenset[str] = frozenset()
    asked: str = ""

    @property
    def subject(self) -> str:
        """Return the subject of the phrase, such as "Tom", or an empty string if the phrase is a gerund."""
        return subject_of(self.asked, self.phrase, self.verb) if self.asked else ""


def verbs_in(action: Action) -> frozenset[str]:
    """Return the lemmas of all words that may be verbs; "holding a glass drinking" also contains "drink"."""
    return action.words | {action.verb} | {verb_lemma(word) for word in action.words if word.endswith("ing")}


def shares_verb(one: Action, other: Action) -> bool:
    """Return whether the main verb of either action occurs in the other."""
    return one.verb == other.verb or one.verb in verbs_in(other) or other.verb in verbs_in(one)


@lru_cache(maxsize=1 << 16)
def subject_of(asked: str, phrase: str, verb: str) -> str:
    """Return the subject that a question and its statement share: "Tom" for "Did Tom dip …" and "Tom dipped …".

    `verb` is the lemma of the main verb in the statement.
    """
    aid, *words = asked.split()
    if aid.lower() not in ("did", "do", "does"):
        return phrase.partition(f" {aid.lower()} ")[0]
    both = enumerate(zip(words, phrase.split(), strict=False))
    end = next((place for place, (one, other) in both if one != other), len(words))
    # "Did Tom hit Jerry" and "Tom hit Jerry" never diverge
    end = next((place for place, word in enumerate(words) if 0 < place < end and word.lower() == verb), end)
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
