"""Which phrases say the same: by the lemmas of verb and objects, and by sentence embeddings where there are any.

Free phrases repeat in other words. Two that may say the same are never a pair, and neither may come again beside a
pair; so it is better to take two for the same once too often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...annotations.actions import Action, Segment

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

COSINE = 0.8  # of embeddings of all-MiniLM-L6-v2; rounded to `DIGITS`, so that the last bits decide nothing
DIGITS = 4
AMONG = frozenset(("and", "or", "the", "a", "an", "of", "his", "her", "their", "its", "another", "other"))


@lru_cache(maxsize=1 << 16)
def subject_words(subject: str) -> frozenset[str]:
    """Return the words of a subject that name somebody: "Tom and the dog" has Tom and dog."""
    words = (word.removesuffix("'s").strip(",.'") for word in subject.split())
    return frozenset(word for word in words if word and word.lower() not in AMONG)


def content_words(action: Action) -> frozenset[str]:
    """Return the verb, objects and words of an action, without those of its subject."""
    subject = {word.lower() for word in subject_words(action.subject)} if action.asked else set[str]()
    return frozenset(word for word in {action.verb, *action.objects, *action.words} if word.lower() not in subject)


@lru_cache(maxsize=1 << 16)
def may_be_one(one: str, other: str) -> bool:
    """Return whether two subjects may be the same: two names are different, but "the cat" may be Tom."""
    first, second = subject_words(one), subject_words(other)
    if not first or not second or first & second:
        return True
    named = [all(word[0].isupper() for word in words) for words in (first, second)]
    return named[0] != named[1]


def same_words(one: Action, other: Action) -> bool:
    """Return whether two phrases may say the same by their lemmas, whoever does it.

    The verb is the same, and one names no object that the other does not.
    """
    if one.verb != other.verb:
        return one.key == other.key
    return one.objects <= other.objects or other.objects <= one.objects


def same_saying(one: Action, other: Action) -> bool:
    """Return whether two phrases may say the same by their lemmas."""
    return may_be_one(one.subject, other.subject) and same_words(one, other)


@dataclass(frozen=True)
class Sameness:
    """Which phrases say the same.

    Attributes:
        vectors: The embedding of each phrase; None to go by lemmas alone.
        model: What made them.
    """

    vectors: Mapping[str, NDArray[np.float32]] | None = None
    model: str = ""
    _known: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False, compare=False)

    def identity(self) -> dict[str, Any]:
        """Return what `build.json` keeps."""
        if self.vectors is None:
            return {"by": "lemmas"}
        return {"by": "sbert", "model": self.model, "cosine": COSINE}

    def near(self, phrases: Sequence[str]) -> NDArray[np.bool_]:
        """Return for every two phrases whether their embeddings are near; bool of shape (phrases, phrases)."""
        if self.vectors is None or not phrases:
            return np.zeros((len(phrases), len(phrases)), np.bool_)
        matrix = np.stack([self.vectors[phrase] for phrase in phrases])
        return np.asarray(np.round(matrix @ matrix.T, DIGITS) >= COSINE)

    def resembles(self, phrase: str, others: Sequence[str]) -> bool:
        """Return whether the embedding of a phrase is near to one of others."""
        if self.vectors is None or not others:
            return False
        matrix = np.stack([self.vectors[other] for other in others])
        return bool(np.any(np.round(matrix @ self.vectors[phrase], DIGITS) >= COSINE))


def embedded(phrases: Sequence[str], embed: Embed, model: str) -> Sameness:
    """Embed phrases.

    Args:
        phrases: All phrases that will be compared, in any order.
        embed: Embeds texts.
        model: Its name, for the record.
    """
    texts = sorted(set(phrases))
    return Sameness(dict(zip(texts, embed(texts), strict=True)), model)


@dataclass(frozen=True)
class Alike:
    """The other segments of a video that say the same as each.

    Attributes:
        doing: By place: those that may be the same doing of the same.
        words: By place: those of the same verb and objects, whoever does it; and all of `doing`.
    """

    doing: tuple[frozenset[int], ...]
    words: tuple[frozenset[int], ...]


def find_alike(segments: Sequence[Segment], sameness: Sameness) -> Alike:
    """Find what says the same in a video; by verb, so that not all are compared with all."""
    doing: list[set[int]] = [set() for _ in segments]
    words: list[set[int]] = [set() for _ in segments]
    by_verb: dict[str, list[int]] = {}
    for place, segment in enumerate(segments):
        by_verb.setdefault(segment.action.verb, []).append(place)
        by_verb.setdefault(f"key {segment.action.key}", []).append(place)

    def note(one: int, other: int) -> None:
        words[one].add(other)
        words[other].add(one)
        if may_be_one(segments[one].action.subject, segments[other].action.subject):
            doing[one].add(other)
            doing[other].add(one)

    for places in by_verb.values():
        for number, one in enumerate(places):
            for other in places[:number]:
                if same_words(segments[one].action, segments[other].action):
                    note(one, other)
    near = sameness.near([segment.action.phrase for segment in segments])
    for one, other in zip(*np.nonzero(np.tril(near, -1)), strict=True):
        note(int(one), int(other))
    return Alike(tuple(map(frozenset, doing)), tuple(map(frozenset, words)))
