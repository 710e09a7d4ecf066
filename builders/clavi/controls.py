"""Negative controls among free phrases: what never happened in a source, in words that do not give that away.

A control shares no content word with anything annotated in the source, so controls are phrases of rarer words. They
are drawn so that words and phrases are as frequent among controls as among A and B, as far as that allows, and its
subject is drawn from those of the source. What is left to see is measured in the card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    _fitting: dict[tuple[str, bool], NDArray[np.intp]] = field(default_factory=dict, repr=False)
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
    def _subjects(self) -> NDArray[np.object_]:
        return np.array([action.subject for action in self.pool], object)

    @cached_property
    def _asked(self) -> NDArray[np.bool_]:
        return np.array([bool(action.asked) for action in self.pool], np.bool_)

    def fitting(self, video: AnnotatedVideo, asked: bool) -> NDArray[np.intp]:
        """Return the places in the pool of what may be a control in a video.

        It shares no content word with any event, and is a statement as A and B are, or a gerund phrase as they are;
        the subject of a statement is one of the video's.
        """
        key = (video.id, asked)
        if key not in self._fitting:
            annotated = {*video.verbs, *video.objects}
            annotated |= {word for segment in video.segments for word in content_words(segment.action)}
            fits = self._asked == asked
            for word in annotated & self._with_word.keys():
                fits[self._with_word[word]] = False
            if asked:
                subjects = {segment.action.subject for segment in video.segments}
                fits &= np.array([subject in subjects for subject in self._subjects], np.bool_)
            self._fitting[key] = np.flatnonzero(fits)
        return self._fitting[key]

    def has(self, candidate: Candidate) -> bool:
        """Return whether there is a control for a pair, meanings left aside."""
        return bool(len(self.fitting(candidate.video, bool(candidate.a.action.asked))))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How likely each phrase is to be drawn where it fits, in whole numbers.

        Found in rounds: a phrase becomes likelier if its words are rarer among the controls to be expected than among
        A and B.
        """
        videos = Counter((c.video.id, bool(c.a.action.asked)) for c in self.candidates)
        by_id = {c.video.id: c.video for c in self.candidates}
        groups = [(places, n) for (name, asked), n in videos.items() if len(places := self.fitting(by_id[name], asked))]
        used = Counter(s.action.key for c in self.candidates for s in (c.a, c.b))
        wanted = np.array([used[action.key] for action in self.pool], np.float64)
        words = {word: places for word, places in self._with_word.items()}
        lengths = np.maximum([len(content_words(action)) for action in self.pool], 1).astype(np.float64)
        found = np.ones(len(self.pool))
        scale = sum(n for _, n in groups) / max(wanted.sum(), 1.0)
        for _ in range(ROUNDS):
            expected = np.zeros(len(self.pool))
            for places, n in groups:
                some = found[places]
                expected[places] += some * (n / some.sum())
            change = np.log((wanted * scale + 0.1) / (expected + 0.1)) * 0.5
            for places in words.values():
                ratio = (wanted[places].sum() * scale + 1) / (expected[places].sum() + 1)
                change[places] += np.log(ratio) / lengths[places]
            found = np.clip(found * np.exp(change * 0.5), 1 / LIMIT, LIMIT)
        return np.maximum(np.round(found * GRAIN), 1).astype(np.int64)

    def draw(self, candidate: Candidate) -> Action | None:
        """Draw the negative control of a pair.

        The subject is drawn first, as often as the source's events have it; then the phrase. One that resembles an
        event of the source in meaning is drawn again.

        Returns:
            The action, or None if there is none.
        """
        video, asked = candidate.video, bool(candidate.a.action.asked)
        places = self.fitting(video, asked)
        if not len(places):
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
            there = set(self._subjects[self.fitting(video, True)].tolist())
            subjects = (segment.action.subject for segment in video.segments)
            self._speakers[video.id] = sorted(subject for subject in subjects if subject in there)
        return self._speakers[video.id]

    def _of_subject(
        self, video: AnnotatedVideo, asked: bool, subject: str
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        key = (video.id, subject if asked else "gerund")
        if key not in self._cumulated:
            places = self.fitting(video, asked)
            if asked:
                places = places[self._subjects[places] == subject]
            self._cumulated[key] = (places, np.cumsum(self.weights[places]))
        return self._cumulated[key]
