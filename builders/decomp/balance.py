"""Pair videos for which a question has different answers, so that its text does not reveal the answer.

AGQA removes frequent answers (Grunde-McLaughlin et al. 2021, section 3.5). Here every question with two possible
answers is asked about two videos of a split that differ in the answer, so that a question-only model is correct half of
the time. Open questions are removed until no answer in a group is more frequent than the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ...core.seeds import digest_for
from .drop_rules import judge
from .programs import questions as ask
from .programs.questions import VIDEO, Need, Question, needs_of, notation, window_of
from .views import View

TRIES = 20
"""Maximum number of videos tried for the other answer."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about one video, and its answer."""

    video_id: str
    question: Question
    answer: str


@dataclass(frozen=True, eq=False)
class Partners:
    """An index of the videos in a split by their actions, objects and relations.

    Attributes:
        having: Numbers of the videos that contain an element, ascending.
        bits: The same sets as integer bit masks.
    """

    views: Sequence[View]
    having: Mapping[Need, Sequence[int]]
    bits: Mapping[Need, int]
    seed: int

    def candidates(self, number: int, question: Question, free: int) -> Iterator[int]:
        """Yield other videos that contain everything a question mentions, starting at a random one.

        `free` is a bit mask of the videos that may receive another question.
        """
        needs, fitting = sorted(needs_of(question)), free & ~(1 << number)
        for need in needs:
            fitting &= self.bits.get(need, 0)
        if not fitting:
            return
        places = min((self.having[need] for need in needs), key=len) if needs else range(len(self.views))
        drawn = digest_for(self.seed, "decomp", "partner", self.views[number].graph.video_id, notation(question))
        start = places[int.from_bytes(drawn[:8], "big") % len(places)]
        behind = fitting >> start << start
        for left in (behind, fitting ^ behind):
            while left:
                lowest = left & -left
                yield lowest.bit_length() - 1
                left ^= lowest

    def pair(
        self, number: int, asked: AskedQuestion, others: Iterable[int]
    ) -> tuple[AskedQuestion, AskedQuestion] | None:
        """Return a question that has different answers for two videos, or None if there is none.

        At most `TRIES` of the candidate videos `others` are tried. A question that asks for an object becomes a choice
        between the two videos' answers.
        """
        question, answer = asked.question, asked.answer
        for other in islice(others, TRIES):
            if self.views[other].answer(question).value == answer:
                continue  # the common case, which can be decided without the rules
            contrary = judge(self.views[other], question)
            if contrary is None:
                continue
            if isinstance(question, ask.Reference):
                choice = self.choice(question, answer, contrary)
                if judge(self.views[number], choice) != answer or judge(self.views[other], choice) != contrary:
                    continue
                asked = AskedQuestion(asked.video_id, choice, answer)
            return asked, AskedQuestion(self.views[other].graph.video_id, asked.question, contrary)
        return None

    def choice(self, question: ask.Reference, one: str, other: str) -> ask.ObjectChoose:
        """Return a choice between two objects, in an order that does not depend on the video."""
        options = sorted((one, other))
        if digest_for(self.seed, "decomp", "options", *options, notation(question))[0] % 2:
            options.reverse()
        return ask.ObjectChoose(options[0], options[1], question)


def partners_of(views: Sequence[View], seed: int) -> Partners:
    """Index the videos of a split by what they contain."""
    having: dict[Need, list[int]] = defaultdict(list)
    for number, view in enumerate(views):
        for phrase in view.single:
            having["action", phrase].append(number)
        for name in view.graph.contacts:
            having["object", name].append(number)
        for relation in view.graph.relations:
            having["relation", relation].append(number)
    bits = {need: sum(1 << number for number in numbers) for need, numbers in having.items()}
    return Partners(views, dict(having), bits, seed)


def thin(
    asked: Iterable[AskedQuestion], group: Callable[[AskedQuestion], Hashable], seed: int, most: str = "second"
) -> list[AskedQuestion]:
    """Remove open questions until no answer in a group is more frequent than allowed. The order is preserved.

    An answer may be as frequent as the "second" most frequent or the "middle" answer in its group, as chosen by `most`.
    Groups with a single answer are removed, as the question reveals it.
    """
    questions = list(asked)
    groups: dict[Hashable, dict[str, list[AskedQuestion]]] = defaultdict(lambda: defaultdict(list))
    for each in questions:
        groups[group(each)][each.answer].append(each)
    kept: set[AskedQuestion] = set()
    for answers in groups.values():
        sizes = sorted((len(found) for found in answers.values()), reverse=True)
        if len(sizes) < 2:
            continue
        limit = sizes[1] if most == "second" else sizes[len(sizes) // 2]
        for found in answers.values():
            drawn = sorted(
                found, key=lambda each: digest_for(seed, "decomp", "thin", each.video_id, notation(each.question))
            )
            kept.update(drawn[:limit])
    return [each for each in questions if each in kept]


def content_of(asked: AskedQuestion) -> Hashable:
    """Return the part of an open question that reveals most about its answer."""
    match asked.question:
        case ask.ObjectsOf(relation) | ask.EdgeObject(_, relation):
            return type(asked.question), relation
    return type(asked.question), window_of(asked.question) == VIDEO
