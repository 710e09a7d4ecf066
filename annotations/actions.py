"""Actions in time, whatever annotation they come from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


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

    @property
    def subject(self) -> str:
        """Who does it, as the phrase says it ("Tom"); empty for a phrase without a subject."""
        return subject_of(self.asked, self.phrase, self.verb) if self.asked else ""


@lru_cache(maxsize=1 << 16)
def subject_of(asked: str, phrase: str, verb: str) -> str:
    """Return what a question and its statement begin with: "Did Tom dip …", "Tom dipped …" have Tom.

    Args:
        asked: The question.
        phrase: The statement.
        verb: Lemma of its main verb.
    """
    aid, *words = asked.split()
    if aid.lower() not in ("did", "do", "does"):
        return phrase.partition(f" {aid.lower()} ")[0]
    both = enumerate(zip(words, phrase.split(), strict=False))
    end = next((place for place, (one, other) in both if one != other), len(words))
    # "Did Tom hit Jerry", "Tom hit Jerry" part nowhere
    end = next((place for place, word in enumerate(words) if 0 < place < end and word.lower() == verb), end)
    while end > 1 and words[end - 1].endswith("ly"):
        end -= 1
    return " ".join(words[:end])


@dataclass(frozen=True)
class Segment:
    """An action with its start and end in seconds, as annotated (the end clamped to the video's length)."""

    action: Action
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Mention:
    """What an annotation says of a time without a segment that can be asked about.

    Attributes:
        start_s, end_s: When, in seconds.
        words: Lemmas of the words that it may be about.
    """

    start_s: float
    end_s: float
    words: frozenset[str]


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
        mentions: What is annotated besides `segments`, with its time.
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
