"""Timed actions, independent of the annotation format."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..language.inflection import verb_lemma


@dataclass(frozen=True)
class Action:
    """The action of a segment.

    Attributes:
        key: Identifier in the annotation: a class id ("c000"), or the phrase for a sentence.
        label: The annotated text.
        phrase: Wording for questions: a gender-neutral gerund phrase in lower case.
        verb: Verb class, or the lemma of the main verb.
        objects: Object classes, or normalized noun lemmas.
        usable: Whether questions may ask about the action; False for Charades' "Someone is …" classes.
        words: Lemmas of all verbs and nouns in a sentence; empty for a class.
        asked: Yes/no question for a phrase with a subject ("Did Tom dip his fingers in the ink"), whose `phrase` is the
            statement ("Tom dipped his fingers in the ink"). Empty for gerund phrases.
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
        """The subject of the phrase ("Tom"), or empty text if it has none."""
        return subject_of(self.asked, self.phrase, self.verb) if self.asked else ""


def verbs_in(action: Action) -> frozenset[str]:
    """Return the lemmas in an action that may be verbs: "holding a glass drinking" also contains "drink"."""
    return action.words | {action.verb} | {verb_lemma(word) for word in action.words if word.endswith("ing")}


def shares_verb(one: Action, other: Action) -> bool:
    """Return whether the main verb of one action equals or occurs in the other.

    "drinking from a glass" and "holding a glass drinking" share "drink".
    """
    return one.verb == other.verb or one.verb in verbs_in(other) or other.verb in verbs_in(one)


@lru_cache(maxsize=1 << 16)
def subject_of(asked: str, phrase: str, verb: str) -> str:
    """Return the common beginning of a question and its statement: "Tom" for "Did Tom dip …" and "Tom dipped …".

    `verb` is the lemma of the statement's main verb.
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
    """An action with its annotated start and end in seconds; the end is clamped to the video's length."""

    action: Action
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Mention:
    """Annotated content outside all segments: start and end in seconds, and the lemmas of the words."""

    start_s: float
    end_s: float
    words: frozenset[str]


@dataclass(frozen=True)
class AnnotatedVideo:
    """A source video with its annotation.

    Attributes:
        id: Source id, the stem of the file name.
        split: "train", "validation" or "test".
        subject: Id of the person filmed.
        length_s: Annotated length in seconds.
        segments: The segments that can form pairs, in the order of the annotation.
        verbs: Verbs of all annotations of the video, including those without a segment.
        objects: Objects of all annotations of the video, including those without a segment.
        columns: All columns of the annotation row, as text.
        mentions: Annotated content without a segment.
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
    """Loaded annotations.

    Attributes:
        videos: In file order; train before test.
        hashes: SHA-256 of every file read, by name.
        counts: Numbers of tolerated irregularities, such as clamped ends, by name.
    """

    videos: tuple[AnnotatedVideo, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
