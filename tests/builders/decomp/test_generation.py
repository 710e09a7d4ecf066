import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from stressreel.annotations.samples.charades import sample_videos
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.drop_rules import MOST_STEPS, steps_of
from stressreel.builders.decomp.generation import TWO_ANSWERS, AskedQuestion, MakingOptions, make_split, thin
from stressreel.builders.decomp.graph_answers import GraphEvaluator
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.prepare import drawn_graph
from stressreel.builders.decomp.video_graphs import Root

from .test_drop_rules import graph

GRAPHS = {video.id: drawn_graph(video) for video in sample_videos()}


def make(split: str, **making: object) -> list[Root]:
    found = make_split(split, list(GRAPHS.values()), MakingOptions(**making)).questions  # type: ignore[arg-type]
    return [each for of_video in found.values() for each in of_video]


def are_even(sides: Iterable[Counter[str]]) -> bool:
    return all(len(counts) == 2 and len(set(counts.values())) == 1 for counts in sides)


def test_sample_questions_are_correct_and_balanced() -> None:
    questions = make("test", paired=False, per_video=10**6)
    assert len({ask.template_of(each.question) for each in questions}) >= 15
    sides: dict[str, Counter[str]] = defaultdict(Counter)
    for each in questions:
        assert GraphEvaluator(GRAPHS[each.key.split("-")[0]]).answer(each.question).value == each.answer
        assert parse_program(each.program) == each.question
        assert re.fullmatch(r"[A-Z][A-Za-z,:]*( [A-Za-z,:]+)+\?", each.text), each.text
        assert 1 <= steps_of(each.question) <= MOST_STEPS
        if ask.template_of(each.question) in TWO_ANSWERS and each.answer in ("yes", "no", "before", "after"):
            sides[ask.template_of(each.question)][each.answer] += 1
    assert are_even(sides.values())


def test_seed_and_not_order_decides() -> None:
    graphs = list(GRAPHS.values())
    first, other = (MakingOptions(per_video=12, seed=seed) for seed in (0, 1))
    made = make_split("train", graphs, first).questions
    assert make_split("train", graphs[::-1], first).questions == made != make_split("train", graphs, other).questions


def test_pairs_have_both_answers_within_limits() -> None:
    graphs = [
        graph(f"holding a {one} 5-{9 + n}", "opening a door 20-24", f"holding a {other} 30-35", video_id=f"{one}{n}")
        for one, other in (("phone", "bag"), ("bag", "phone"))
        for n in range(4)
    ]
    made = make_split("test", graphs, MakingOptions(per_video=9, per_template=2)).questions
    answers: dict[ask.Question, Counter[str]] = defaultdict(Counter)
    for found in made.values():
        assert len(found) <= 9
        assert max(Counter(ask.template_of(each.question) for each in found).values()) <= 2
        for each in found:
            if ask.template_of(each.question) in TWO_ANSWERS:
                answers[each.question][each.answer] += 1
    assert answers
    assert are_even(answers.values())


def test_train_lacks_held_out_compositions_and_steps() -> None:
    train, test = (make(split, paired=False, held_out=0.3, train_steps=3) for split in ("train", "test"))
    assert max(steps_of(each.question) for each in train) <= 3
    assert not any(each.novel_composition or each.more_steps for each in train)
    novel = {each.question for each in test if each.novel_composition}
    assert novel
    known = {part for each in train for part in ask.compositions_of(each.question)}
    assert all(any(part not in known for part in ask.compositions_of(question)) for question in novel)
    assert {steps_of(each.question) > 3 for each in test if each.more_steps} == {True}


def test_thinning_evens_answers() -> None:
    names = ["phone"] * 5 + ["bag"] * 2 + ["box"]
    asked = [AskedQuestion(f"V{n}", ask.ObjectsOf("holding"), name) for n, name in enumerate(names)]
    left = Counter(each.answer for each in thin(asked, lambda each: each.question, 0))
    assert left == {"phone": 2, "bag": 2, "box": 1}
    assert thin(asked[:5], lambda each: each.question, 0) == []
