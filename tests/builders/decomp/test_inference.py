import random
from collections.abc import Mapping

import pytest
from stressreel.annotations.samples.charades import sample_videos
from stressreel.annotations.scene_graphs import Provenance, SceneGraph
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.decomposition import Step, decompose
from stressreel.builders.decomp.drop_rules import view_of
from stressreel.builders.decomp.graph_answers import Answer, GraphEvaluator
from stressreel.builders.decomp.inference import VideoAnswers, answer_all
from stressreel.builders.decomp.prepare import drawn_graph
from stressreel.builders.decomp.proposals import Proposer
from stressreel.builders.decomp.verification import contradiction
from stressreel.builders.decomp.video_graphs import options_of
from stressreel.templates.agqa import load_agqa

from .notation import cases, read
from .test_graph_answers import HELD, graph

GRAPHS = [drawn_graph(video) for video in sample_videos()]


def filled(given: Mapping[ask.Question, str], *more: ask.Question, of: SceneGraph | None = None) -> VideoAnswers:
    return answer_all([step for root in [*given, *more] for step in decompose(root, given)], given, of)


@pytest.mark.parametrize(("root", "question", "expected"), cases("consequences"))
def test_consequences_of_a_root_answer(root: str, question: ask.Question, expected: str) -> None:
    program, value = root.split(" -> ")
    asked = read(program)
    found = filled({asked: value})
    assert (found.answers[question].value or "nothing") == expected
    assert (found.answers[asked], found.sources[asked], found.conflicts) == (Answer(value), "root", ())
    assert found.answers[question].reason == ("no_graph" if expected == "nothing" else "")


@pytest.mark.parametrize(
    ("given", "question", "value"),
    [
        ({"object(touching)": "bag"}, "firstObject(touching)", "bag"),  # the only object is the first one
        ({"object(touching)": "bag"}, "equals(bag, firstObject(touching))", "yes"),
        ({"object(touching)": "bag"}, "interaction(touching, bag)", "yes"),
        ({"object(behind)": "bag", "interaction(holding, bag)": "no"}, "interaction(holding, object(behind))", "no"),
        ({"lastObject(touching)": "bag"}, "equals(lastObject(touching), firstObject(holding))", None),
    ],
)
def test_other_roots_answer_too(given: Mapping[str, str], question: str, value: str | None) -> None:
    found = filled({read(root): answer for root, answer in given.items()}, read("equals(bag, firstObject(touching))"),
                   read(question))  # fmt: skip
    assert found.answers[read(question)].value == value


def test_conflicts_keep_root_answers() -> None:
    root, child = read("interaction(touching, phone, after(sitting in a chair))"), read("interaction(touching, phone)")
    found = filled({root: "yes", child: "no"})
    assert (found.answers[root].value, found.answers[child].value) == ("yes", "no")
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (child, "against_root", ("root", "After"), ("no", "yes")) in kinds
    found = filled({root: "yes"}, of=graph(HELD, {"sitting in a chair": "...xx....."}))
    assert (found.answers[root], found.answers[child]) == (Answer("yes"), Answer(None, "conflict"))
    assert found.recomputed == {root: "no"}
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (root, "recomputed", ("root", "graph"), ("yes", "no")) in kinds
    assert (child, "against_graph", ("graph", "After"), ("no", "yes")) in kinds


@pytest.mark.parametrize("provenance", ["charades", "drawn"])
def test_only_before_or_after_denies_other_side(provenance: Provenance) -> None:
    held, throw = "holding a pillow", "throwing a pillow somewhere"
    of = graph({"taking": {"pillow": ".........x"}}, {held: "x", throw: "....xx"}, provenance)
    later = read(f"happens({held}, after({throw}))")
    found = filled({read(f"beforeOrAfter(happens({held}), {throw})"): "before"}, later, of=of)
    assert found.answers[read(f"interaction(holding, pillow, after({throw}))")].value == "no"


def test_only_roots_imply_that_window_actions_happen() -> None:
    root = read("interaction(interacting with, phone, before(opening a door))")
    inner = read("interaction(opening, door)")  # in the same words
    assert filled({root: "no"}).answers[inner].value == "yes"
    answers = filled({read("interaction(interacting with, phone)"): "no"}, root).answers
    assert (answers[root].value, answers[inner].value) == ("no", None)


def contradictions(steps: list[Step], answers: Mapping[ask.Question, Answer]) -> list[str]:
    """Every parent whose answer its children's rule out, as `stressreel verify` finds them."""
    rows = {}
    for step in steps:
        options = options_of(step.question, load_agqa().kinds[step.kind].answer)
        row = {"kind": step.kind, "program": ask.notation(step.question), "options": options}
        rows[step.question] = row | {"answer": answers[step.question].value}
    found = [
        contradiction(rule, rows[step.question], [rows[child] for child in children])
        for step in steps
        for rule, children in step.rules
        if len(set(children)) == len(children)
    ]
    return [each for each in found if each]


def sampled(graph: SceneGraph) -> tuple[list[ask.Question], list[Step]]:
    """Questions about a graph, and all their sub-questions."""
    proposer = Proposer(view_of(graph), seed=0)
    roots = [question for template in ask.TEMPLATES for question in proposer.propose(template, 5)]
    objects = [root for root in roots if isinstance(root, ask.EdgeObject | ask.ObjectsOf)]
    roots += [ask.ObjectChoose("phone", "dish", root) for root in objects]
    return roots, [step for root in roots for step in decompose(root, roots)]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.video_id)
def test_exact_graphs_contradict_nothing_in_any_order(graph: SceneGraph) -> None:
    rng = random.Random(graph.video_id)
    roots, steps = sampled(graph)
    inferred = answer_all(steps, {}, graph)
    assert inferred.conflicts == ()
    assert contradictions(steps, inferred.answers) == []
    by_graph = {question: GraphEvaluator(graph).answer(question) for question in inferred.answers}
    known = {question: answer for question, answer in by_graph.items() if answer.value is not None}
    assert inferred.answers.items() >= known.items()
    # The graph's own answers, given as AGQA's: all agree, and nothing else changes.
    given = {root: value for root in roots if (value := by_graph[root].value)}
    again = answer_all(rng.sample(steps, len(steps)), given, graph)
    assert (again.conflicts, again.recomputed) == ((), given)
    assert again.answers.items() >= known.items()
    # Without the graph, from the roots alone: what follows is what the graph says.
    alone = answer_all(steps, given, None)
    shuffled = answer_all(rng.sample(steps, len(steps)), given, None)
    assert (alone.conflicts, alone.answers) == ((), shuffled.answers)
    for question, answer in alone.answers.items():
        assert answer.value is None or by_graph[question].value in (answer.value, None)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.video_id)
def test_order_changes_no_contradictory_answers(graph: SceneGraph) -> None:
    rng = random.Random(graph.video_id)
    roots, steps = sampled(graph)
    binary = [root for root in roots if load_agqa().kinds[ask.kind_of(root)].answer == "yes/no"]
    given = {root: rng.choice(("yes", "no")) for root in binary}
    first = answer_all(steps, given, graph)
    again = answer_all(rng.sample(steps, len(steps)), dict(sorted(given.items(), key=repr)), graph)
    assert first.conflicts or not given
    assert (first.answers, first.sources, first.conflicts) == (again.answers, again.sources, again.conflicts)
    assert {root: first.answers[root].value for root in given} == given
