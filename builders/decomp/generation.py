"""Generate and balance compositional questions about annotated videos, using AGQA's 27 templates.

Videos take turns to receive questions, so that all have about the same number. Every random choice has its own key, so
the wording of a question does not depend on the order or number of videos.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice

from ...annotations.scene_graphs import SceneGraph
from ...core.numerics import digest_for
from . import questions as ask
from .drop_rules import View, judge, steps_of, view_of
from .parsing import program_of
from .proposals import Proposer
from .questions import (
    NAME_TEMPLATES,
    TEMPLATES,
    VIDEO,
    Composition,
    Need,
    Question,
    compositions_of,
    needs_of,
    notation,
    template_of,
    window_of,
)
from .video_graphs import Root
from .wording import word_root

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

    def candidates(self, video: int, question: Question, free: int) -> Iterator[int]:
        """Yield other videos that contain everything a question mentions, starting at a random one.

        `free` is a bit mask of the videos that may receive another question.
        """
        needs, fitting = sorted(needs_of(question)), free & ~(1 << video)
        for need in needs:
            fitting &= self.bits.get(need, 0)
        if not fitting:
            return
        videos = min((self.having[need] for need in needs), key=len) if needs else range(len(self.views))
        digest = digest_for(self.seed, "decomp", "partner", self.views[video].graph.video_id, notation(question))
        start = videos[int.from_bytes(digest[:8], "big") % len(videos)]
        behind = fitting >> start << start
        for left in (behind, fitting ^ behind):
            while left:
                lowest = left & -left
                yield lowest.bit_length() - 1
                left ^= lowest

    def pair(
        self, video: int, candidate: AskedQuestion, others: Iterable[int]
    ) -> tuple[AskedQuestion, AskedQuestion] | None:
        """Return a question that has different answers for two videos, or None if there is none.

        At most `TRIES` of the candidate videos `others` are tried. A question that asks for an object becomes a choice
        between the two videos' answers.
        """
        question, answer = candidate.question, candidate.answer
        for partner in islice(others, TRIES):
            if self.views[partner].answer(question).value == answer:
                continue  # the common case, which can be decided without the rules
            contrary = judge(self.views[partner], question)
            if contrary is None:
                continue
            if isinstance(question, ask.Reference):
                choice = self.choice(question, answer, contrary)
                if judge(self.views[video], choice) != answer or judge(self.views[partner], choice) != contrary:
                    continue
                candidate = AskedQuestion(candidate.video_id, choice, answer)
            return candidate, AskedQuestion(self.views[partner].graph.video_id, candidate.question, contrary)
        return None

    def choice(self, question: ask.Reference, first: str, second: str) -> ask.ObjectChoose:
        """Return a choice between two objects, in an order that does not depend on the video."""
        options = sorted((first, second))
        if digest_for(self.seed, "decomp", "options", *options, notation(question))[0] % 2:
            options.reverse()
        return ask.ObjectChoose(options[0], options[1], question)


def partners_of(views: Sequence[View], seed: int) -> Partners:
    """Index the videos of a split by what they contain."""
    having: dict[Need, list[int]] = defaultdict(list)
    for video, view in enumerate(views):
        for phrase in view.single:
            having["action", phrase].append(video)
        for name in view.graph.contacts:
            having["object", name].append(video)
        for relation in view.graph.relations:
            having["relation", relation].append(video)
    bits = {need: sum(1 << video for video in videos) for need, videos in having.items()}
    return Partners(views, dict(having), bits, seed)


def thin(
    pool: Iterable[AskedQuestion], group: Callable[[AskedQuestion], Hashable], seed: int, most: str = "second"
) -> list[AskedQuestion]:
    """Remove open questions until no answer in a group is more frequent than allowed. The order is preserved.

    An answer may be as frequent as the "second" most frequent or the "middle" answer in its group, as chosen by `most`.
    Groups with a single answer are removed, as the question reveals it.
    """
    questions = list(pool)
    groups: dict[Hashable, dict[str, list[AskedQuestion]]] = defaultdict(lambda: defaultdict(list))
    for item in questions:
        groups[group(item)][item.answer].append(item)
    kept: set[AskedQuestion] = set()
    for answers in groups.values():
        sizes = sorted((len(same_answer) for same_answer in answers.values()), reverse=True)
        if len(sizes) < 2:
            continue
        limit = sizes[1] if most == "second" else sizes[len(sizes) // 2]
        for same_answer in answers.values():
            ordered = sorted(
                same_answer, key=lambda item: digest_for(seed, "decomp", "thin", item.video_id, notation(item.question))
            )
            kept.update(ordered[:limit])
    return [item for item in questions if item in kept]


def content_of(candidate: AskedQuestion) -> Hashable:
    """Return the part of an open question that reveals most about its answer."""
    match candidate.question:
        case ask.ObjectsOf(relation) | ask.EdgeObject(_, relation):
            return type(candidate.question), relation
    return type(candidate.question), window_of(candidate.question) == VIDEO


TWO_ANSWERS = tuple(template for template in TEMPLATES if template not in NAME_TEMPLATES)
DENIES_OBJECTS = "objExists"
"""Template that asks whether an object is present, which Charades' actions never exclude."""
PROPOSALS = 12


@dataclass(frozen=True, slots=True)
class MakingOptions:
    """Limits on the questions that are generated.

    Attributes:
        per_video: Maximum number of questions per video.
        per_template: Maximum number of questions per template and video.
        held_out: Fraction of compositions excluded from `train`.
        train_steps: Maximum number of reasoning steps of a question in `train`.
        paired: Whether a question with two possible answers requires another video with the other answer. Otherwise
            questions are only balanced by template, which suits collections of a few videos.
    """

    seed: int = 0
    per_video: int = 40
    per_template: int = 4
    held_out: float = 0.05
    train_steps: int = 6
    paired: bool = True

    def flags(self, question: Question) -> tuple[bool, bool]:
        """Return whether a question has a held-out composition, and whether it needs more steps than `train` allows."""
        parts = compositions_of(question)
        return any(is_held_out(part, self.held_out, self.seed) for part in parts), steps_of(question) > self.train_steps


@dataclass(frozen=True)
class MadeQuestions:
    """The questions generated for a split.

    Attributes:
        questions: Questions by video; within a video, in the order of templates.
        lost: Number of valid questions that were excluded, by video and reason: "no_partner", "held_out", "thinned" or
            "over_most_per_video".
    """

    questions: Mapping[str, Sequence[Root]]
    lost: Mapping[tuple[str, str], int]


def make_split(split: str, graphs: Sequence[SceneGraph], making: MakingOptions) -> MadeQuestions:
    """Generate and balance the questions of a split.

    Compositions and steps are held out only from "train". The order of the videos affects nothing but the order of the
    result.
    """
    ordered = sorted(graphs, key=lambda graph: digest_for(making.seed, "decomp", "order", graph.video_id))
    maker = _Maker(split, partners_of([view_of(graph) for graph in ordered], making.seed), making)
    if making.paired:
        answered = maker.answered(TEMPLATES)
        maker.make_open({template: roots for template, roots in answered.items() if template in NAME_TEMPLATES})
        maker.make_pairs({template: roots for template, roots in answered.items() if template not in NAME_TEMPLATES})
    else:
        maker.make_open(maker.answered([template for template in TEMPLATES if template in NAME_TEMPLATES]))
        maker.make_alone()
    questions_of, lost = maker.questions, maker.lost
    del maker  # free its large cached look-ups before the questions are worded
    questions = {}
    for graph in graphs:
        roots = [_root(item, split, making) for item in questions_of.pop(graph.video_id).values()]
        roots.sort(key=lambda root: (TEMPLATES.index(template_of(root.question)), root.program))
        questions[graph.video_id] = [replace(root, key=f"{root.key}-{index}") for index, root in enumerate(roots)]
    return MadeQuestions(questions, lost)


class _Maker:
    def __init__(self, split: str, partners: Partners, making: MakingOptions) -> None:
        self.split, self.partners, self.making = split, partners, making
        self.numbers = {view.graph.video_id: index for index, view in enumerate(partners.views)}
        self.questions: dict[str, dict[Question, AskedQuestion]] = {video_id: {} for video_id in self.numbers}
        self.counts: Counter[tuple[str, str]] = Counter()
        # Bit masks of the videos that may receive another question, overall and for a template.
        self.all = self.room = (1 << len(self.numbers)) - 1
        self.room_for = dict.fromkeys(TEMPLATES, self.room)
        self.lost: Counter[tuple[str, str]] = Counter()

    def free(self, video_id: str, template: str) -> bool:
        full = len(self.questions[video_id]) >= self.making.per_video
        return not full and self.counts[video_id, template] < self.making.per_template

    def take(self, candidate: AskedQuestion) -> None:
        name, template = candidate.video_id, template_of(candidate.question)
        self.questions[name][candidate.question] = candidate
        self.counts[name, template] += 1
        if len(self.questions[name]) == self.making.per_video:
            self.room &= ~(1 << self.numbers[name])
        if self.counts[name, template] == self.making.per_template:
            self.room_for[template] &= ~(1 << self.numbers[name])

    def allowed(self, video_id: str, question: Question) -> bool:
        """Return whether the split may contain a question about a video, and count the question if not."""
        held_out = self.split == "train" and any(self.making.flags(question))
        self.lost[video_id, "held_out"] += held_out
        return not held_out

    def answered(self, templates: Sequence[str]) -> dict[str, list[list[AskedQuestion]]]:
        """Propose questions, and return those that may be asked about each video, by template and video.

        Most of the work happens here. Views are used one video at a time, and their cached look-ups are then discarded.
        """
        by_template: dict[str, list[list[AskedQuestion]]] = {template: [] for template in templates}
        for kept in self.partners.views:
            name = kept.graph.video_id
            proposer = Proposer(view_of(kept.graph), self.making.seed)
            for template in templates:
                if template == DENIES_OBJECTS and kept.graph.provenance == "charades":
                    by_template[template].append([])
                    continue
                judged = (
                    (question, judge(proposer.view, question)) for question in proposer.propose(template, PROPOSALS)
                )
                by_template[template].append(
                    [AskedQuestion(name, question, answer) for question, answer in judged if answer is not None]
                )
        return by_template

    def make_open(self, answered: Mapping[str, Sequence[Sequence[AskedQuestion]]]) -> None:
        """Generate open questions, and thin each group until no answer is more frequent than the others."""
        for template, by_video in answered.items():
            pool = [
                item
                for item in chain.from_iterable(by_video)
                if template_of(item.question) == template and self.allowed(item.video_id, item.question)
            ]
            left = pool
            if self.making.paired:
                left = thin(pool, lambda item: item.question, self.making.seed)
                left = thin(left, content_of, self.making.seed, most="middle")
            for side, sign in ((pool, 1), (left, -1)):
                for item in side:
                    self.lost[item.video_id, "thinned"] += sign
            for item in left:
                if self.free(item.video_id, template):
                    self.take(item)
                else:
                    self.lost[item.video_id, "over_most_per_video"] += 1

    def make_pairs(self, answered: Mapping[str, Sequence[Sequence[AskedQuestion]]]) -> None:
        """Generate questions with two possible answers, each about two videos. Videos take turns to get one."""
        waiting = {template: [iter(proposed) for proposed in by_video] for template, by_video in answered.items()}
        for _ in range(self.making.per_template):
            for video, view in enumerate(self.partners.views):
                for template, proposals in waiting.items():
                    if self.free(view.graph.video_id, template):
                        self.next_pair(video, template, proposals[video])

    def next_pair(self, video: int, template: str, proposals: Iterator[AskedQuestion]) -> None:
        for candidate in proposals:
            if candidate.question in self.questions[candidate.video_id]:
                continue
            free = self.room & self.room_for[template]
            others = (
                partner
                for partner in self.partners.candidates(video, candidate.question, free)
                if candidate.question not in self.questions[self.partners.views[partner].graph.video_id]
            )
            pair = self.partners.pair(video, candidate, others)
            if pair is None:
                self.lost[candidate.video_id, "no_partner"] += 1
            elif not any(item.question in self.questions[item.video_id] for item in pair) and self.allowed(
                candidate.video_id, pair[0].question
            ):
                for item in pair:
                    self.take(item)
                return

    def make_alone(self) -> None:
        def digest(item: AskedQuestion) -> bytes:
            return digest_for(self.making.seed, "decomp", "alone", item.video_id, notation(item.question))

        for template in TWO_ANSWERS:
            sides: dict[Hashable, list[AskedQuestion]] = defaultdict(list)
            for item in self.tried(template):
                sides[self.side(item)].append(item)
            least = min(map(len, sides.values())) if len(sides) == 2 else 0
            for side in sides.values():
                for rank, item in enumerate(sorted(side, key=digest)):
                    if rank >= least:
                        self.lost[item.video_id, "thinned"] += 1
                    elif len(self.questions[item.video_id]) < self.making.per_video:
                        self.take(item)
                    else:
                        self.lost[item.video_id, "over_most_per_video"] += 1

    def tried(self, template: str) -> Iterator[AskedQuestion]:
        """Yield the questions of a template for each video, including those proposed for other videos."""
        questions = {question for video in self.numbers.values() for question in self.choices(video, template)}
        for view in self.partners.views:
            count: Counter[Hashable] = Counter()
            for question in sorted(
                questions, key=lambda candidate: digest_for(self.making.seed, view.graph.video_id, notation(candidate))
            ):
                answer = judge(view, question)
                if answer is None or not self.allowed(view.graph.video_id, question):
                    continue
                candidate = AskedQuestion(view.graph.video_id, question, answer)
                if count[self.side(candidate)] < max(1, self.making.per_template // 2):
                    count[self.side(candidate)] += 1
                    yield candidate

    def choices(self, video: int, template: str) -> Iterator[Question]:
        """Yield the proposed questions of a template. Object choices are between the answers for two videos."""
        views = self.partners.views
        for question in Proposer(views[video], self.making.seed).propose(template, PROPOSALS):
            if template_of(question) == template:
                yield question
                continue
            answer = judge(views[video], question)
            others = self.partners.candidates(video, question, self.all) if answer else ()
            for partner in islice(others, TRIES):
                contrary = judge(views[partner], question)
                if contrary not in (None, answer):
                    yield self.partners.choice(question, answer, contrary)  # type: ignore[arg-type]

    def side(self, candidate: AskedQuestion) -> Hashable:
        """Return which of the two answers is correct, such as "yes", "before" or the first option."""
        options = [getattr(candidate.question, name, None) for name in ("first", "second")]
        return options.index(candidate.answer) if candidate.answer in options else candidate.answer


def _root(candidate: AskedQuestion, split: str, making: MakingOptions) -> Root:
    """Return a worded question. Its key is that of the video until questions are numbered."""
    name, question = candidate.video_id, candidate.question
    text = word_root(question, name, notation(question), seed=making.seed)
    novel, more = (split != "train" and flag for flag in making.flags(question))
    return Root(name, text, question, candidate.answer, program_of(question), novel, more)


@lru_cache(maxsize=1 << 16)
def is_held_out(composition: Composition, share: float, seed: int) -> bool:
    """Return whether a composition is excluded from `train`.

    In AGQA 2.0, the excluded compositions are selected (Grunde-McLaughlin et al. 2021, section 3.6); here they are
    sampled.
    """
    digest = int.from_bytes(digest_for(seed, "decomp", "novel", *composition)[:8], "big")
    return digest < share * 2**64
