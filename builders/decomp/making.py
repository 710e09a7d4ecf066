"""Compositional questions about annotated videos, made and balanced (AGQA's 27 templates).

Questions are drawn for one video after the other in turns, so that all videos have about as many; every draw has a key,
so neither the order of the videos nor their number changes how one is worded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ...programs.parsing import program_of
from ...programs.questions import TEMPLATES, Question, notation, template_of
from ...seeds import digest_for, rng_for
from ...sources.scene_graphs import SceneGraph
from .balance import Asked, Partners, content_of, partners_of, thin
from .compositions import compositions_of, is_held_out
from .drop_rules import judge, steps_of
from .proposals import Proposer
from .root_wording import word_root
from .views import View, view_of

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


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question that was made.

    Attributes:
        video_id: The video.
        question: The question.
        answer: Its answer.
        text: Its words, in the past tense.
        template: AGQA's name of its kind.
        program: Its program, as AGQA writes it.
        steps: Steps of reasoning.
        novel_comp: Whether it has a composition that `train` never has.
        more_steps: Whether it has more steps than any question of `train`.
    """

    video_id: str
    question: Question
    answer: str
    text: str
    template: str
    program: str
    steps: int
    novel_comp: bool
    more_steps: bool


@dataclass(frozen=True)
class Made:
    """The questions of a split.

    Attributes:
        questions: By video, in the order of the videos, each in the order of the templates.
        drawn: How many questions were judged, by template.
        lost: How many that may be asked were not, by reason: "no_partner", "held_out", "thinned",
            "over_most_per_video".
    """

    questions: Mapping[str, Sequence[MadeQuestion]]
    drawn: Mapping[str, int]
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
    ordered = sorted(graphs, key=lambda graph: digest_for(making.seed, "decomp", "order", graph.video_id))
    maker = _Maker(split, partners_of([view_of(graph) for graph in ordered], making.seed), making)
    maker.make_open()
    if making.paired:
        maker.make_pairs()
    else:
        maker.make_alone()
    questions = {graph.video_id: maker.made(graph.video_id) for graph in graphs}
    return Made(questions, dict(maker.drawn), dict(maker.lost))


def make_questions(graph: SceneGraph, making: Making, others: Iterable[Question] = ()) -> Iterator[MadeQuestion]:
    """Make questions of one video, with no thought of other videos' answers.

    Args:
        graph: The video's.
        making: How many.
        others: Questions of other videos: what they ask about is not so here, as a rule.

    Yields:
        Questions whose answers are sure, those of `others` last.
    """
    view = view_of(graph)
    for template in TEMPLATES:
        rng = rng_for(making.seed, "decomp", "propose", graph.video_id, template)
        for question in Proposer(view, rng).propose(template, DRAWN_AT_ONCE):
            answer = judge(view, question)
            if answer is not None and template_of(question) == template:
                yield _made(Asked(graph.video_id, question, answer), "", making)
    for question in others:
        answer = judge(view, question)
        if answer is not None:
            yield _made(Asked(graph.video_id, question, answer), "", making)


class _Maker:
    """Makes the questions of one split."""

    def __init__(self, split: str, partners: Partners, making: Making) -> None:
        self.split, self.partners, self.making = split, partners, making
        self.asked: dict[str, dict[Question, Asked]] = defaultdict(dict)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.drawn: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()

    def made(self, video_id: str) -> list[MadeQuestion]:
        found = [_made(asked, self.split, self.making) for asked in self.asked[video_id].values()]
        return sorted(found, key=lambda made: (TEMPLATES.index(made.template), made.program))

    def free(self, view: View, template: str) -> bool:
        name = view.graph.video_id
        return len(self.asked[name]) < self.making.per_video and self.counts[name, template] < self.making.per_template

    def take(self, asked: Asked) -> None:
        self.asked[asked.video_id][asked.question] = asked
        self.counts[asked.video_id, template_of(asked.question)] += 1

    def allowed(self, question: Question) -> bool:
        """Return whether the split may have a question."""
        making = self.making
        held_out = self.split == "train" and (
            steps_of(question) > making.train_steps
            or any(is_held_out(each, making.held_out, making.seed) for each in compositions_of(question))
        )
        self.lost["held_out"] += held_out
        return not held_out

    def proposals(self, view: View, template: str) -> list[Question]:
        rng = rng_for(self.making.seed, "decomp", "propose", view.graph.video_id, template)
        found = list(Proposer(view, rng).propose(template, DRAWN_AT_ONCE))
        self.drawn[template] += len(found)
        return found

    def make_open(self) -> None:
        """Make questions for names; each group of them is thinned until no answer stands out."""
        for template in (template for template in TEMPLATES if template in OPEN):
            pool = [asked for view in self.partners.views for asked in self.answered(view, template)]
            left = thin(pool, lambda asked: asked.question, self.making.seed) if self.making.paired else pool
            left = self.evened(left)
            self.lost["thinned"] += len(pool) - len(left)
            for asked in left:
                full = len(self.asked[asked.video_id]) >= self.making.per_video
                if not full and self.counts[asked.video_id, template] < self.making.per_template:
                    self.take(asked)
                else:
                    self.lost["over_most_per_video"] += 1

    def evened(self, asked: list[Asked]) -> list[Asked]:
        if not self.making.paired:
            return asked
        return thin(asked, content_of, self.making.seed, most="middle")

    def answered(self, view: View, template: str) -> Iterator[Asked]:
        for question in self.proposals(view, template):
            answer = judge(view, question)
            if answer is not None and template_of(question) == template and self.allowed(question):
                yield Asked(view.graph.video_id, question, answer)

    def make_pairs(self) -> None:
        """Make questions of two answers, each of two videos; every video has its turn before any has its second."""
        waiting = {
            template: [iter(self.proposals(view, template)) for view in self.partners.views] for template in TWO_ANSWERS
        }
        for _ in range(self.making.per_template):
            for number, view in enumerate(self.partners.views):
                for template in TWO_ANSWERS:
                    denied = template == DENIES_OBJECTS and view.graph.provenance == "charades"
                    if not denied and self.free(view, template):
                        self.next_pair(view, template, waiting[template][number])

    def next_pair(self, view: View, template: str, proposals: Iterator[Question]) -> None:
        for question in proposals:
            if self.has(view, question):
                continue
            pair = self.partners.pair(view, question, partial(self.may_ask, question, template))
            if pair is None:
                self.lost["no_partner"] += judge(view, question) is not None
            elif not any(each.question in self.asked[each.video_id] for each in pair) and self.allowed(
                pair[0].question
            ):
                for each in pair:
                    self.take(each)
                return

    def has(self, view: View, question: Question) -> bool:
        return question in self.asked[view.graph.video_id]

    def may_ask(self, question: Question, template: str, view: View) -> bool:
        return self.free(view, template) and not self.has(view, question)

    def make_alone(self) -> None:
        """Make questions of two answers, as many of the one as of the other in each template."""
        for template in TWO_ANSWERS:
            found: dict[Hashable, list[Asked]] = defaultdict(list)
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

    def tried(self, template: str) -> Iterator[Asked]:
        """Yield a template's questions of each video, drawn from all videos."""
        drawn = {question for view in self.partners.views for question in self.choices(view, template)}
        for view in self.partners.views:
            count: Counter[Hashable] = Counter()
            for question in sorted(
                drawn, key=lambda each: digest_for(self.making.seed, view.graph.video_id, notation(each))
            ):
                answer = judge(view, question)
                if answer is None or not self.allowed(question):
                    continue
                asked = Asked(view.graph.video_id, question, answer)
                if count[self.side(asked)] < max(1, self.making.per_template // 2):
                    count[self.side(asked)] += 1
                    yield asked

    def choices(self, view: View, template: str) -> Iterator[Question]:
        """Yield what is drawn of a template; of a choice of objects, the choices between videos' answers."""
        for question in self.proposals(view, template):
            if template_of(question) == template:
                yield question
                continue
            answer = judge(view, question)
            for other in self.partners.candidates(view, question, lambda _: True) if answer else ():
                contrary = judge(other, question)
                if contrary not in (None, answer):
                    yield self.partners.choice(question, answer, contrary)  # type: ignore[arg-type]

    def side(self, asked: Asked) -> Hashable:
        """Return which of the two answers it is: yes or no, before or after, the first or the second option."""
        options = [getattr(asked.question, name, None) for name in ("first", "second")]
        return options.index(asked.answer) if asked.answer in options else asked.answer

    def digest(self, asked: Asked) -> bytes:
        return digest_for(self.making.seed, "decomp", "alone", asked.video_id, notation(asked.question))


def _made(asked: Asked, split: str, making: Making) -> MadeQuestion:
    question, steps = asked.question, steps_of(asked.question)
    held_out = any(is_held_out(each, making.held_out, making.seed) for each in compositions_of(question))
    return MadeQuestion(
        video_id=asked.video_id,
        question=question,
        answer=asked.answer,
        text=word_root(question, asked.video_id, notation(question), seed=making.seed),
        template=template_of(question),
        program=program_of(question),
        steps=steps,
        novel_comp=split != "train" and held_out,
        more_steps=split != "train" and steps > making.train_steps,
    )
