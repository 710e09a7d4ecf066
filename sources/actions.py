"""Actions in time, whatever annotation they come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """What is done in a segment.

    Attributes:
        key: Identity in the annotation: a class id ("c000") or the phrase of a sentence.
        label: The annotation's own words.
        phrase: The words for a question: a gerund phrase, lower case, gender neutral.
        verb: Verb class, or lemma of the main verb.
        objects: Object classes, or folded noun lemmas.
        usable: Whether it may be asked about (not so for Charades' "Someone is …" classes).
        words: All verbs and nouns of a sentence, folded lemmas; empty for a class.
        asked: The words of a yes/no question, for phrases that carry their subject: "Did Tom dip his fingers in the
            ink"; `phrase` is the statement then, "Tom dipped his fingers in the ink". Empty for gerund phrases.
    """

    key: str
    label: str
    phrase: str
    verb: str
    objects: frozenset[str]
    usable: bool = True
    words: frozenset[str] = frozenset()
    asked: str = ""


@dataclass(frozen=True)
class Segment:
    """An action with its start and end in seconds, as annotated (the end clamped to the video's length)."""

    action: Action
    start_s: float
    end_s: float


@dataclass(frozen=True)
class AnnotatedVideo:
    """One source video with its segments in the order of the annotation.

    Attributes:
        id: Source id, the stem of its file.
        split: "train", "validation" or "test".
        subject: Who is filmed.
        length_s: Length in seconds, as annotated.
        segments: The segments that pairs are chosen from.
        verbs: Verbs of everything annotated in the video, also of what `segments` leaves out.
        objects: Objects likewise.
        columns: All columns of the annotation row, as text.
    """

    id: str
    split: str
    subject: str
    length_s: float
    segments: tuple[Segment, ...]
    verbs: frozenset[str]
    objects: frozenset[str]
    columns: dict[str, str]


@dataclass(frozen=True)
class Annotations:
    """What was read.

    Attributes:
        videos: In file order; of Charades, train before test.
        hashes: SHA-256 of every file read, by file name.
        counts: Oddities met and kept, for people: ends past the length that were clamped, and so on.
    """

    videos: tuple[AnnotatedVideo, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
