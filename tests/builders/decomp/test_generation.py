import re
from collections import Counter, defaultdict

from stressreel.annotations.samples.charades import sample_videos
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.drop_rules import MOST_STEPS, steps_of
from stressreel.builders.decomp.generation import TWO_ANSWERS, AskedQuestion, MakingOptions, make_split, thin
from stressreel.builders.decomp.graph_answers import GraphEvaluator
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.prepare import drawn_graph

from .test_drop_rules import DOOR, graph


def test_sample_questions_are_correct_and_balanced() -> None:
    graphs = {video.id: drawn_graph(video) for video in sample_videos()}
    for split in ("train", "test"):
        of_split = [graphs[video.id] for video in sample_videos() if video.split == split]
        questions = make_split(split, of_split, MakingOptions(paired=False, per_video=10**6)).questions
        made = [each for found in questions.values() for each in found]
        assert len({ask.template_of(each.question) for each in made}) >= 15
        sides: dict[str, Counter[str]] = defaultdict(Counter)
        for each in made:
            assert GraphEvaluator(graphs[each.key.split("-")[0]]).answer(each.question).value == each.answer
            assert parse_program(each.program) == each.question
            assert re.fullmatch(r"[A-Z][A-Za-z ,:]+\?", each.text), each.text
            assert "  " not in each.text
            assert 1 <= steps_of(each.question) <= MOST_STEPS
            if ask.template_of(each.question) in TWO_ANSWERS and each.answer in ("yes", "no", "before", "after"):
                sides[ask.template_of(each.question)][each.answer] += 1
        assert all(len(set(counts.values())) == 1 and len(counts) == 2 for counts in sides.values())


def test_order_of_videos_changes_nothing() -> None:
    graphs = [drawn_graph(video) for video in sample_videos()]
    drawn = []
    for making in (
        MakingOptions(paired=False, per_video=12),
        MakingOptions(per_video=12),
        MakingOptions(per_video=12, seed=1),
    ):
        drawn.append(make_split("train", graphs, making).questions)
        assert make_split("train", graphs[::-1], making).questions == drawn[-1]
    assert drawn[1] != drawn[2]


def test_pairs_have_both_answers_within_limits() -> None:
    things = {"A": ("phone", "bag"), "B": ("bag", "phone")}
    graphs = [
        graph((f"holding a {one}", 5, 9 + n), DOOR, (f"holding a {other}", 30, 35), video_id=f"{name}{n}")
        for name, (one, other) in things.items()
        for n in range(4)
    ]
    made = make_split("test", graphs, MakingOptions(per_video=9, per_template=2))
    questions = [each for found in made.questions.values() for each in found]
    answers: dict[ask.Question, Counter[str]] = defaultdict(Counter)
    for each in questions:
        if ask.template_of(each.question) in TWO_ANSWERS:
            answers[each.question][each.answer] += 1
    assert answers
    assert all(len(set(counts.values())) == 1 and len(counts) == 2 for counts in answers.values())
    assert all(len(found) <= 9 for found in made.questions.values())
    assert max(Counter((each.key.split("-")[0], ask.template_of(each.question)) for each in questions).values()) <= 2


def test_train_lacks_held_out_compositions_and_steps() -> None:
    graphs = [drawn_graph(video) for video in sample_videos()]
    making = MakingOptions(paired=False, held_out=0.3, train_steps=3)
    train = [each for found in make_split("train", graphs, making).questions.values() for each in found]
    test = [each for found in make_split("test", graphs, making).questions.values() for each in found]
    assert max(steps_of(each.question) for each in train) <= 3
    assert not any(each.novel_composition or each.more_steps for each in train)
    novel = {each.question for each in test if each.novel_composition}
    assert novel
    known = {part for each in train for part in ask.compositions_of(each.question)}
    assert all(any(part not in known for part in ask.compositions_of(question)) for question in novel)
    assert {steps_of(each.question) > 3 for each in test if each.more_steps} == {True}


def test_thinning_evens_answers() -> None:
    asked = [
        AskedQuestion(f"V{n}", ask.ObjectsOf("holding"), name)
        for n, name in enumerate(["phone"] * 5 + ["bag"] * 2 + ["box"])
    ]
    left = Counter(each.answer for each in thin(asked, lambda each: each.question, 0))
    assert left == {"phone": 2, "bag": 2, "box": 1}
    assert thin(asked[:5], lambda each: each.question, 0) == []
