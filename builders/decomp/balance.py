"""Pairs of videos that the same question has different answers in, so that its words do not tell its answer.

AGQA balances by dropping what is too frequent (Grunde-McLaughlin et al. 2021, section 3.5). Here every question of two
answers is asked of two videos of the same split, with one answer in one and the other in the other: who reads the
question alone is right half of the time, whatever they have learnt. Questions for a name are thinned until no answer
stands out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ...core.seeds import digest_for
from .drop_rules import judge
from .programs import questions as ask
from .programs.questions import INTERACTING, VIDEO, Action, Question, actions_in, notation, objects_in, window_of
from .views import View

TRIES = 20
"""How many videos are looked at for the other answer of a question."""
Need = tuple[str, str]
"""What a video must have for a question to make sense: ("action", phrase), ("object", name) or ("relation", name)."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of one video.

    Attributes:
        video_id: The video.
        question: The question.
        answer: Its answer.
    """

    video_id: str
    question: Question
    answer: str


@dataclass(frozen=True, eq=False)
class Partners:
    """The videos of a split by what they have, in an order drawn by key.

    Attributes:
        views: All of them.
        having: The numbers of those that have something, ascending, by what.
        bits: The same as the bits of a number.
        seed: The dataset's seed.
    """

    views: Sequence[View]
    having: Mapping[Need, Sequence[int]]
    bits: Mapping[Need, int]
    seed: int

    def candidates(self, number: int, question: Question, free: int) -> Iterator[int]:
        """Yield the other videos that have all that a question needs, in an order drawn by the question.

        Args:
            number: Of the video that the question comes from.
            question: The question.
            free: Which videos may have another question, as bits.
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
        """Find a video in which a question has another answer.

        Args:
            number: Of the video that it comes from.
            asked: The question with its answer there; one for an object is made a choice of the two videos' answers.
            others: Numbers of the videos to look at; the first `TRIES` of them are.

        Returns:
            The question of both videos; None if no other video was found.
        """
        question, answer = asked.question, asked.answer
        for other in islice(others, TRIES):
            if self.views[other].tell(question).value == answer:
                continue  # as for most, and without a look at the rules
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
        """Make a choice of two objects, in an order that does not depend on the video."""
        options = sorted((one, other))
        if digest_for(self.seed, "decomp", "options", *options, notation(question))[0] % 2:
            options.reverse()
        return ask.ObjectChoose(options[0], options[1], question)


def partners_of(views: Sequence[View], seed: int) -> Partners:
    """Sort the videos of a split by what they have."""
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


@lru_cache(maxsize=1 << 14)
def needs_of(question: Question) -> frozenset[Need]:
    """Return what a video must have for a question to make sense there, whatever its answer."""
    needs: set[Need] = set()
    match question:
        case ask.Both(_, first, second):
            return needs_of(first) | needs_of(second)
        case ask.ObjectsOf(relation) | ask.EdgeObject(_, relation) if relation != INTERACTING:
            needs.add(("relation", relation))
        case ask.ObjectEquals(_, asked):
            needs |= needs_of(asked)
        case ask.OrderChoose(ask.RelationExists(relation)):
            needs.add(("relation", relation))
        case ask.OrderChoose(ask.Interaction(_, str() as thing)):
            needs.add(("object", thing))
    needs |= {need for thing in objects_in(question) if not isinstance(thing, str) for need in needs_of(thing)}
    return frozenset(needs).union(*map(_of_action, (*actions_in(question), *window_of(question).actions)))


def _of_action(action: Action) -> frozenset[Need]:
    match action:
        case str():
            return frozenset({("action", action)})
        case ask.ToAction(verb, thing):
            return needs_of(thing) | {("relation", verb)}
    return frozenset()


def thin(
    asked: Iterable[AskedQuestion], group: Callable[[AskedQuestion], Hashable], seed: int, most: str = "second"
) -> list[AskedQuestion]:
    """Drop questions for names until no answer of a group stands out.

    Args:
        asked: The questions.
        group: What questions are compared by.
        seed: The dataset's seed; which ones of an answer go is drawn.
        most: How often an answer may come: as often as the "second" most frequent answer of the group does, or the
            "middle" one. An answer that has no other beside it goes, for it can be told from the question.

    Returns:
        What is left, in the same order.
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
    """Return what of a question for a name tells most of its answer: the relation, or the action that names a part."""
    match asked.question:
        case ask.ObjectsOf(relation) | ask.EdgeObject(_, relation):
            return type(asked.question), relation
    return type(asked.question), window_of(asked.question) == VIDEO
