"""Decide whether actions mean the same, and whether one implies another.

Free phrases recur with different wordings. Two phrases that may mean the same never form a pair, and neither may recur
near a pair, so a false match costs less than a missed one. They are compared by their lemmas and, if available, by
sentence embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...annotations.actions import Action, Segment, shares_verb, verbs_in
from ...templates.agqa import load_agqa
from ...templates.agqa_making import ANY, load_rules

COSINE = 0.8  # of embeddings of all-MiniLM-L6-v2; compared after rounding to `DIGITS` to suppress rounding errors
DIGITS = 4
AMONG = frozenset(("and", "or", "the", "a", "an", "of", "his", "her", "their", "its", "another", "other"))


@lru_cache(maxsize=1 << 16)
def subject_words(subject: str) -> frozenset[str]:
    """Return the words of a subject that denote an actor, such as "Tom" and "dog" in "Tom and the dog"."""
    words = (word.removesuffix("'s").strip(",.'") for word in subject.split())
    return frozenset(word for word in words if word and word.lower() not in AMONG)


def content_words(action: Action) -> frozenset[str]:
    """Return the verb, objects and words of an action, except those of its subject."""
    subject = {word.lower() for word in subject_words(action.subject)} if action.question else set[str]()
    return frozenset(word for word in {action.verb, *action.objects, *action.words} if word.lower() not in subject)


@lru_cache(maxsize=1 << 16)
def may_be_one(subject: str, other_subject: str) -> bool:
    """Return whether two subjects may be the same. Two names are distinct, but "the cat" may be Tom."""
    first, second = subject_words(subject), subject_words(other_subject)
    if not first or not second or first & second:
        return True
    named = [all(word[0].isupper() for word in words) for words in (first, second)]
    return named[0] != named[1]


def same_words(first: Action, second: Action) -> bool:
    """Return whether two phrases may mean the same, judging by their lemmas and ignoring their subjects.

    The verb of one must equal or occur in the other, and the objects of one must be among those of the other.
    """
    if not shares_verb(first, second):
        return first.key == second.key
    return first.objects <= second.objects or second.objects <= first.objects


def same_meaning(first: Action, second: Action) -> bool:
    """Return whether two phrases may mean the same, judging by their lemmas and subjects."""
    return may_be_one(first.subject, second.subject) and same_words(first, second)


@dataclass(frozen=True)
class Sameness:
    """Decides whether phrases have the same meaning.

    Attributes:
        vectors: Embedding of each phrase; None to use only lemmas.
    """

    vectors: Mapping[str, NDArray[np.float32]] | None = None
    model: str = ""

    def identity(self) -> dict[str, Any]:
        """Return a description for `build.json`."""
        if self.vectors is None:
            return {"by": "lemmas"}
        return {"by": "sbert", "model": self.model, "cosine": COSINE}

    def near(self, phrases: Sequence[str]) -> NDArray[np.bool_]:
        """Return which phrases have similar embeddings, as a bool array of shape (phrases, phrases)."""
        if self.vectors is None or not phrases:
            return np.zeros((len(phrases), len(phrases)), np.bool_)
        matrix = np.stack([self.vectors[phrase] for phrase in phrases])
        return np.asarray(np.round(matrix @ matrix.T, DIGITS) >= COSINE)

    def resembles(self, phrase: str, others: Sequence[str]) -> bool:
        """Return whether the embedding of a phrase is similar to that of any other phrase."""
        if self.vectors is None or not others:
            return False
        matrix = np.stack([self.vectors[text] for text in others])
        return bool(np.any(np.round(matrix @ self.vectors[phrase], DIGITS) >= COSINE))


def embedded(phrases: Sequence[str], embed: Callable[[Sequence[str]], NDArray[np.float32]], model: str) -> Sameness:
    """Compute the embeddings of phrases, and return a `Sameness` that uses them."""
    texts = sorted(set(phrases))
    return Sameness(dict(zip(texts, embed(texts), strict=True)), model)


@dataclass(frozen=True)
class Recurrences:
    """The positions of other segments in a video that have the same meaning, for each segment.

    Attributes:
        same_event: Segments that may be the same event, including the subject.
        same_words: Segments with the same verb and objects, regardless of the subject; includes `same_event`.
    """

    same_event: tuple[frozenset[int], ...]
    same_words: tuple[frozenset[int], ...]


def find_recurrences(segments: Sequence[Segment], sameness: Sameness) -> Recurrences:
    """Find segments of a video that have the same meaning. Only those that share a verb or a class are compared."""
    same_event: list[set[int]] = [set() for _ in segments]
    words: list[set[int]] = [set() for _ in segments]
    by_verb: dict[str, list[int]] = {}
    for index, segment in enumerate(segments):
        for verb in verbs_in(segment.action):
            by_verb.setdefault(verb, []).append(index)
        by_verb.setdefault(f"key {segment.action.key}", []).append(index)

    def note(first: int, second: int) -> None:
        words[first].add(second)
        words[second].add(first)
        if may_be_one(segments[first].action.subject, segments[second].action.subject):
            same_event[first].add(second)
            same_event[second].add(first)

    for indices in by_verb.values():
        for position, first in enumerate(indices):
            for second in indices[:position]:
                if same_words(segments[first].action, segments[second].action):
                    note(first, second)
    near = sameness.near([segment.action.phrase for segment in segments])
    for first, second in zip(*np.nonzero(np.tril(near, -1)), strict=True):
        note(int(first), int(second))
    return Recurrences(tuple(map(frozenset, same_event)), tuple(map(frozenset, words)))


def imply(first: Action, second: Action) -> bool:
    """Return whether one of two actions implies or resembles the other, such as opening a door and grasping a doorknob.

    Their verbs are in `doubtful` of `agqa_making.yaml`, and they have the same object or objects that look alike.
    """
    return _implied(first, second) or _implied(second, first)


def _implied(action: Action, by: Action) -> bool:
    rules, verbs = load_rules(), _relations(by.verb)
    words = load_agqa().by_class.get(action.key)
    if words and verbs & rules.doubtful_actions.get(words.phrase, frozenset()):
        return True
    implying = frozenset[str]().union(*(rules.doubtful.get(name, ()) for name in _relations(action.verb)))
    things = _things(action)
    alike = things.union(*(rules.alike.get(name, ()) for name in things))
    return bool((ANY in implying or verbs & implying) and alike & _things(by))


def _things(action: Action) -> frozenset[str]:
    """Return AGQA's names of an action's objects."""
    return frozenset(_names().get(name, name) for name in action.objects)


@cache
def _names() -> dict[str, str]:
    named = load_agqa().of_charades.items()
    return {part: name for charades, name in named for part in (charades, *charades.split("/"))}


@cache
def _relations(verb: str) -> frozenset[str]:
    """Return AGQA's relations with this verb: "putting down" for "put". No lemmatizer, which is an extra, is needed."""
    stems = (verb, verb.removesuffix("e"), verb + verb[-1:], verb.removesuffix("ie") + "y")
    forms = {verb, f"{verb}ed", *(f"{stem}ing" for stem in stems)}
    return frozenset(name for name in load_agqa().relations if name.split()[0] in forms)
