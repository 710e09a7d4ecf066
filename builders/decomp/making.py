"""Compositional questions about annotated videos, made and balanced (AGQA's 27 templates).

Questions are drawn for one video after the other in turns, so that all videos have about as many; every draw has a key,
so neither the order of the videos nor their number changes how one is worded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from ...annotations.scene_graphs import SceneGraph
from ...core.seeds import digest_for
from .balance import TRIES, AskedQuestion, Partners, content_of, partners_of, thin
from .compositions import compositions_of, is_held_out
from .drop_rules import judge, steps_of
from .programs.parsing import program_of
from .programs.questions import TEMPLATES, Question, notation, template_of
from .proposals import Proposer
from .root_wording import word_root
from .video_graphs import Root
from .views import view_of

OPEN = frozenset(
    (
        *("objWhatGeneral", "objWhat", "actWhatBefore", "actWhatAfterAll", "objFirst", "objLast", "actFirst"),
        *("actLast", "actLongest", "actShortest"),
    )
)
"""Templates whose answer is a name; the others have two answers each."""
TWO_ANSWERS = tuple(template for template in TEMPLATES if template not in OPEN)
DENIES_OBJECTS = "objExists"
"""Asks whether an object is there, which Charades' actions never deny."""
DRAWN_AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Making:
    """How many questions are made.

    Attributes:
        seed: The dataset's seed.
        per_video: Most questions of a video.
        per_template: Most questions of a video and template.
        held_out: Share of compositions that `train` never has.
        train_steps: Most steps of reasoning of a question in `train`.
        paired: Whether a question of two answers is asked only where another video has the other answer. Without,
            questions are balanced by template alone: for collections of a few videos.
    """

    seed: int = 0
    per_video: int = 40
    per_template: int = 4
    held_out: float = 0.05
    train_steps: int = 6
    paired: bool = True

    def flags(self, question: Question) -> tuple[bool, bool]:
        """Return whether a question has a composition that `train` never has, and more steps than any there."""
        parts = compositions_of(question)
        return any(is_held_out(each, self.held_out, self.seed) for each in parts), steps_of(question) > self.train_steps


@dataclass(frozen=True)
class Made:
    """The questions of a split.

    Attributes:
        questions: By video, in the order of the videos, each in the order of the templates.
        lost: How many that may be asked were not, by reason: "no_partner", "held_out", "thinned",
            "over_most_per_video".
    """

    questions: Mapping[str, Sequence[Root]]
    lost: Mapping[str, int]


def make_split(split: str, graphs: Sequence[SceneGraph], making: Making) -> Made:
    """Make and balance the questions of a split.

    Args:
        split: "train", "test" or another; only `train` has compositions and steps held out.
        graphs: Of its videos; their order changes nothing but the order of the result.
        making: How many.

    Returns:
        Every question with an answer that is `answers.answer`'s.
    """
    asked, lost = _balanced(split, graphs, making)
    questions = {}
    for graph in graphs:
        found = [_root(each, split, making) for each in asked.pop(graph.video_id).values()]
        found.sort(key=lambda root: (TEMPLATES.index(template_of(root.question)), root.program))
        questions[graph.video_id] = [replace(root, key=f"{root.key}-{number}") for number, root in enumerate(found)]
    return Made(questions, lost)


def _balanced(
    split: str, graphs: Sequence[SceneGraph], making: Making
) -> tuple[dict[str, dict[Question, AskedQuestion]], Counter[str]]:
    """Choose the questions of a split by video, with `Made.lost`.

    All that was looked up for it, which is much, is gone when the questions are worded.
    """
    ordered = sorted(graphs, key=lambda graph: digest_for(making.seed, "decomp", "order", graph.video_id))
    maker = _Maker(split, partners_of([view_of(graph) for graph in ordered], making.seed), making)
    if making.paired:
        answered = maker.answered(TEMPLATES)
        maker.make_open({template: found for template, found in answered.items() if template in OPEN})
        maker.make_pairs({template: found for template, found in answered.items() if template not in OPEN})
    else:
        maker.make_open(maker.answered([template for template in TEMPLATES if template in OPEN]))
        maker.make_alone()
    return maker.asked, maker.lost


class _Maker:
    """Makes the questions of one split."""

    def __init__(self, split: str, partners: Partners, making: Making) -> None:
        self.split, self.partners, self.making = split, partners, making
        self.numbers = {view.graph.video_id: number for number, view in enumerate(partners.views)}
        self.asked: dict[str, dict[Question, AskedQuestion]] = {video_id: {} for video_id in self.numbers}
        self.counts: Counter[tuple[str, str]] = Counter()
        # Videos that may have another question, and another of a template, as bits.
        self.all = self.room = (1 << len(self.numbers)) - 1
        self.room_for = dict.fromkeys(TEMPLATES, self.room)
        self.lost: Counter[str] = Counter()

    def free(self, video_id: str, template: str) -> bool:
        full = len(self.asked[video_id]) >= self.making.per_video
        return not full and self.counts[video_id, template] < self.making.per_template

    def take(self, asked: AskedQuestion) -> None:
        name, template = asked.video_id, template_of(asked.question)
        self.asked[name][asked.question] = asked
        self.counts[name, template] += 1
        if len(self.asked[name]) == self.making.per_video:
            self.room &= ~(1 << self.numbers[name])
        if self.counts[name, template] == self.making.per_template:
            self.room_for[template] &= ~(1 << self.numbers[name])

    def allowed(self, question: Question) -> bool:
        """Return whether the split may have a question."""
        held_out = self.split == "train" and any(self.making.flags(question))
        self.lost["held_out"] += held_out
        return not held_out

    def answered(self, templates: Sequence[str]) -> dict[str, list[list[AskedQuestion]]]:
        """Draw questions and keep those that may be asked of the video that they are drawn for.

        This is most of the work. It is done for one video after the other, with a view that is not kept: few of the
        proposals have an answer, and what was looked up for the others is not needed again.

        Args:
            templates: Of which.

        Returns:
            By template, the questions of each video.
        """
        found: dict[str, list[list[AskedQuestion]]] = {template: [] for template in templates}
        for kept in self.partners.views:
            name = kept.graph.video_id
            proposer = Proposer(view_of(kept.graph), self.making.seed)
            for template in templates:
                if template == DENIES_OBJECTS and kept.graph.provenance == "charades":
                    found[template].append([])
                    continue
                judged = ((each, judge(proposer.view, each)) for each in proposer.propose(template, DRAWN_AT_ONCE))
                found[template].append(
                    [AskedQuestion(name, each, answer) for each, answer in judged if answer is not None]
                )
        return found

    def make_open(self, answered: Mapping[str, Sequence[Sequence[AskedQuestion]]]) -> None:
        """Make questions for names; each group of them is thinned until no answer stands out."""
        for template, found in answered.items():
            pool = [
                asked
                for asked in chain.from_iterable(found)
                if template_of(asked.question) == template and self.allowed(asked.question)
            ]
            left = thin(pool, lambda asked: asked.question, self.making.seed) if self.making.paired else pool
            left = self.evened(left)
            self.lost["thinned"] += len(pool) - len(left)
            for asked in left:
                if self.free(asked.video_id, template):
                    self.take(asked)
                else:
                    self.lost["over_most_per_video"] += 1

    def evened(self, asked: list[AskedQuestion]) -> list[AskedQuestion]:
        if not self.making.paired:
            return asked
        return thin(asked, content_of, self.making.seed, most="middle")

    def make_pairs(self, answered: Mapping[str, Sequence[Sequence[AskedQuestion]]]) -> None:
        """Make questions of two answers, each of two videos; every video has its turn before any has its second."""
        waiting = {template: [iter(each) for each in found] for template, found in answered.items()}
        for _ in range(self.making.per_template):
            for number, view in enumerate(self.partners.views):
                for template, proposals in waiting.items():
                    if self.free(view.graph.video_id, template):
                        self.next_pair(number, template, proposals[number])

    def next_pair(self, number: int, template: str, proposals: Iterator[AskedQuestion]) -> None:
        for asked in proposals:
            if asked.question in self.asked[asked.video_id]:
                continue
            pair = self.partners.pair(number, asked, self.others(number, asked.question, template))
            if pair is None:
                self.lost["no_partner"] += 1
            elif not any(each.question in self.asked[each.video_id] for each in pair) and self.allowed(
                pair[0].question
            ):
                for each in pair:
                    self.take(each)
                return

    def others(self, number: int, question: Question, template: str) -> Iterator[int]:
        """Yield the other videos that a question may be asked of."""
        for other in self.partners.candidates(number, question, self.room & self.room_for[template]):
            if question not in self.asked[self.partners.views[other].graph.video_id]:
                yield other

    def make_alone(self) -> None:
        """Make questions of two answers, as many of the one as of the other in each template."""
        for template in TWO_ANSWERS:
            found: dict[Hashable, list[AskedQuestion]] = defaultdict(list)
            for asked in self.tried(template):
                found[self.side(asked)].append(asked)
            if len(found) == 2:
                least = min(map(len, found.values()))
                self.lost["thinned"] += sum(len(side) - least for side in found.values())
                for side in found.values():
                    for asked in sorted(side, key=self.digest)[:least]:
                        if len(self.asked[asked.video_id]) < self.making.per_video:
                            self.take(asked)
                        else:
                            self.lost["over_most_per_video"] += 1

    def tried(self, template: str) -> Iterator[AskedQuestion]:
        """Yield a template's questions of each video, drawn from all videos."""
        drawn = {question for number in self.numbers.values() for question in self.choices(number, template)}
        for view in self.partners.views:
            count: Counter[Hashable] = Counter()
            for question in sorted(
                drawn, key=lambda each: digest_for(self.making.seed, view.graph.video_id, notation(each))
            ):
                answer = judge(view, question)
                if answer is None or not self.allowed(question):
                    continue
                asked = AskedQuestion(view.graph.video_id, question, answer)
                if count[self.side(asked)] < max(1, self.making.per_template // 2):
                    count[self.side(asked)] += 1
                    yield asked

    def choices(self, number: int, template: str) -> Iterator[Question]:
        """Yield what is drawn of a template; of a choice of objects, the choices between videos' answers."""
        views = self.partners.views
        for question in Proposer(views[number], self.making.seed).propose(template, DRAWN_AT_ONCE):
            if template_of(question) == template:
                yield question
                continue
            answer = judge(views[number], question)
            others = self.partners.candidates(number, question, self.all) if answer else ()
            for other in islice(others, TRIES):
                contrary = judge(views[other], question)
                if contrary not in (None, answer):
                    yield self.partners.choice(question, answer, contrary)  # type: ignore[arg-type]

    def side(self, asked: AskedQuestion) -> Hashable:
        """Return which of the two answers it is: yes or no, before or after, the first or the second option."""
        options = [getattr(asked.question, name, None) for name in ("first", "second")]
        return options.index(asked.answer) if asked.answer in options else asked.answer

    def digest(self, asked: AskedQuestion) -> bytes:
        return digest_for(self.making.seed, "decomp", "alone", asked.video_id, notation(asked.question))


def _root(asked: AskedQuestion, split: str, making: Making) -> Root:
    """Word a question; its key is that of the video until it is numbered."""
    name, question = asked.video_id, asked.question
    text = word_root(question, name, notation(question), seed=making.seed)
    novel, more = (split != "train" and flag for flag in making.flags(question))
    return Root(name, text, question, asked.answer, program_of(question), novel, more)
