"""Negative controls among free phrases: what never happened in a source, in words that do not give that away.

A control shares no content word with anything annotated in the source, so controls are phrases of rarer words. They
are drawn so that words and phrases are as frequent among controls as among A and B, as far as that allows, and its
subject is drawn from those of the source. What is left to see is measured in the card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...seeds import rng_for
from ...sources.actions import Action, AnnotatedVideo
from .pairs import Candidate
from .sameness import Sameness, subject_words

ROUNDS = 30
LIMIT = 100.0  # how much likelier than at first a phrase may become, or less likely
GRAIN = 1000  # weights are whole multiples of 1 / GRAIN, so that the last bits decide nothing
TRIES = 12
BLOCK = 256  # sources whose phrases are weighed at a time


def content_words(action: Action) -> frozenset[str]:
    """Return the verb, objects and words of an action, without those of its subject."""
    subject = {word.lower() for word in subject_words(action.subject)} if action.asked else set[str]()
    return frozenset(word for word in {action.verb, *action.objects, *action.words} if word.lower() not in subject)


@dataclass(frozen=True)
class Controls:
    """The phrases of a split that controls are drawn from.

    Attributes:
        pool: Actions by the order of their keys.
        candidates: The pairs of the split; what A and B are decides how likely controls are.
        sameness: Tells which phrases say the same.
        seed: The dataset's seed.
    """

    pool: Sequence[Action]
    candidates: Sequence[Candidate]
    sameness: Sameness
    seed: int
    _speakers: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _fitting: dict[tuple[str, bool], NDArray[np.uint8]] = field(default_factory=dict, repr=False)
    _some: dict[tuple[str, bool], bool] = field(default_factory=dict, repr=False)
    _cumulated: dict[tuple[str, str], tuple[NDArray[np.intp], NDArray[np.int64]]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def _with_word(self) -> dict[str, NDArray[np.intp]]:
        places: dict[str, list[int]] = {}
        for place, action in enumerate(self.pool):
            for word in content_words(action):
                places.setdefault(word, []).append(place)
        return {word: np.array(some, np.intp) for word, some in places.items()}

    @cached_property
    def _with_subject(self) -> dict[str, NDArray[np.intp]]:
        places: dict[str, list[int]] = {}
        for place, action in enumerate(self.pool):
            places.setdefault(action.subject, []).append(place)
        return {subject: np.array(some, np.intp) for subject, some in places.items()}

    @cached_property
    def _asked(self) -> NDArray[np.bool_]:
        return np.array([bool(action.asked) for action in self.pool], np.bool_)

    def fitting(self, video: AnnotatedVideo, asked: bool) -> NDArray[np.bool_]:
        """Return of each phrase of the pool whether it may be a control in a video.

        It shares no content word with any event, and is a statement as A and B are, or a gerund phrase as they are;
        the subject of a statement is one of the video's.
        """
        key = (video.id, asked)
        if key not in self._fitting:
            fits = self._asked == asked
            if asked:
                there = np.zeros(len(self.pool), np.bool_)
                for subject in {segment.action.subject for segment in video.segments} & self._with_subject.keys():
                    there[self._with_subject[subject]] = True
                fits &= there
            annotated = {*video.verbs, *video.objects}
            annotated |= {word for segment in video.segments for word in content_words(segment.action)}
            for word in annotated & self._with_word.keys():
                fits[self._with_word[word]] = False
            self._fitting[key] = np.packbits(fits)  # a bit each: there may be ten thousand videos and phrases
        return np.unpackbits(self._fitting[key], count=len(self.pool)).view(np.bool_)

    def has(self, candidate: Candidate) -> bool:
        """Return whether there is a control for a pair, meanings left aside."""
        key = (candidate.video.id, bool(candidate.a.action.asked))
        if key not in self._some:
            self._some[key] = bool(np.any(self.fitting(candidate.video, key[1])))
        return self._some[key]

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How likely each phrase is to be drawn where it fits, in whole numbers.

        Found in rounds: a phrase becomes likelier if its words are rarer among the controls to be expected than among
        A and B.
        """
        videos = Counter((c.video.id, bool(c.a.action.asked)) for c in self.candidates)
        by_id = {c.video.id: c.video for c in self.candidates}
        groups = [(name, asked) for name, asked in sorted(videos) if np.any(self.fitting(by_id[name], asked))]
        drawn = np.array([videos[group] for group in groups], np.float64)
        used = Counter(s.action.key for c in self.candidates for s in (c.a, c.b))
        wanted = np.array([used[action.key] for action in self.pool], np.float64)
        wanted *= drawn.sum() / max(wanted.sum(), 1.0)
        words = list(self._with_word.values())
        word = np.repeat(np.arange(len(words)), [len(places) for places in words])
        place = np.concatenate([*words, np.empty(0, np.intp)])
        lengths = np.maximum([len(content_words(action)) for action in self.pool], 1).astype(np.float64)
        wanted_words = np.bincount(word, wanted[place], len(words))
        found = np.ones(len(self.pool))
        for _ in range(ROUNDS):
            expected = np.zeros(len(self.pool))
            for first in range(0, len(groups), BLOCK):
                block = [self.fitting(by_id[name], asked) for name, asked in groups[first : first + BLOCK]]
                fits = np.array(block, np.float64)
                expected += (drawn[first : first + BLOCK] / (fits @ found)) @ fits
            expected *= found
            change = np.log((wanted + 0.1) / (expected + 0.1)) * 0.5
            ratios = np.log((wanted_words + 1) / (np.bincount(word, expected[place], len(words)) + 1))
            change += np.bincount(place, ratios[word], len(self.pool)) / lengths
            found = np.clip(found * np.exp(change * 0.5), 1 / LIMIT, LIMIT)
        return np.maximum(np.round(found * GRAIN), 1).astype(np.int64)

    def draw_all(self, candidates: Iterable[Candidate]) -> dict[str, Action | None]:
        """Draw the negative controls of pairs, by pair id; one source after another, as what fits is kept for each."""
        drawn: dict[str, Action | None] = {}
        latest = ""
        for candidate in sorted(candidates, key=lambda candidate: candidate.video.id):
            if candidate.video.id != latest:
                self._cumulated.clear()
                latest = candidate.video.id
            drawn[candidate.id] = self.draw(candidate)
        return drawn

    def draw(self, candidate: Candidate) -> Action | None:
        """Draw the negative control of a pair.

        The subject is drawn first, as often as the source's events have it; then the phrase. One that resembles an
        event of the source in meaning is drawn again.

        Returns:
            The action, or None if there is none.
        """
        video, asked = candidate.video, bool(candidate.a.action.asked)
        if not self.has(candidate):
            return None
        subjects = self._subjects_of(video) if asked else [""]
        phrases = [segment.action.phrase for segment in video.segments]
        draws = rng_for(self.seed, "clavi", "control", candidate.id).random((TRIES, 2)).tolist()
        for first, second in draws:
            subject = subjects[int(first * len(subjects))]
            some, cumulated = self._of_subject(video, asked, subject)
            place = int(np.searchsorted(cumulated, int(second * int(cumulated[-1])), side="right"))
            action: Action = self.pool[int(some[place])]
            if not self.sameness.resembles(action.phrase, phrases):
                return action
        return None

    def _subjects_of(self, video: AnnotatedVideo) -> list[str]:
        """List the subjects of a video's events that controls can have, as often as events have them."""
        if video.id not in self._speakers:
            there = {self.pool[place].subject for place in np.flatnonzero(self.fitting(video, True)).tolist()}
            subjects = (segment.action.subject for segment in video.segments)
            self._speakers[video.id] = sorted(subject for subject in subjects if subject in there)
        return self._speakers[video.id]

    def _of_subject(
        self, video: AnnotatedVideo, asked: bool, subject: str
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        key = (video.id, subject if asked else "gerund")
        if key not in self._cumulated:
            places = np.flatnonzero(self.fitting(video, asked))
            if asked:
                places = np.intersect1d(places, self._with_subject[subject], assume_unique=True)
            self._cumulated[key] = (places, np.cumsum(self.weights[places]))
        return self._cumulated[key]
