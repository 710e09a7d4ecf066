"""What follows from answers."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from stressreel.annotations.samples.charades import sample_videos
from stressreel.annotations.scene_graphs import SceneGraph
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

from .test_graph_answers import ACTS, AFTER, HELD, LAUGH, RUN, SIT, THROW, during, frames, graph

GRAPHS = [drawn_graph(video) for video in sample_videos()]


def filled(
    given: Mapping[ask.Question, str], *more: ask.Question, of: SceneGraph | None = None
) -> tuple[VideoAnswers, Mapping[ask.Question, Answer]]:
    found = answer_all([step for root in [*given, *more] for step in decompose(root, given)], given, of)
    return found, found.answers


FIRST, SECOND = ask.EdgeObject("first", "touching", AFTER), ask.EdgeObject("last", "touching")
MORE = ask.LengthChoose("longer", LAUGH, RUN)
HOLDS = [
    ask.Interaction("holding", thing, window)
    for thing, window in (("phone", AFTER), ("phone", ask.VIDEO), ("bag", ask.VIDEO))
]


@pytest.mark.parametrize(
    ("root", "value", "follows"),
    [
        (
            HOLDS[0],
            "yes",
            "relExists(holding, AFTER) yes; objExists(phone, AFTER) yes; interaction(holding, phone) yes; "
            "relExists(holding) yes; objExists(phone) yes; happens(SIT) yes; relExists(sitting on) yes; "
            "objExists(chair) yes",
        ),
        (HOLDS[0], "no", "interaction(holding, phone) None; happens(SIT) yes; objExists(chair) yes"),
        (
            ask.RelationExists("holding", during("between", SIT, RUN)),
            "yes",
            "relExists(holding, AFTER) yes; relExists(holding, before(RUN)) yes",
        ),
        (
            ask.Both("xor", *HOLDS[1:]),
            "yes",
            "interaction(holding, phone) yes; interaction(holding, bag) no; objExists(bag) None",
        ),
        (ask.Both("and", *HOLDS[1:]), "no", "interaction(holding, phone) None; interaction(holding, bag) None"),
        (ask.ObjectEquals("phone", FIRST), "yes", "FIRST phone; objExists(phone) yes; happens(SIT) yes"),
        (ask.ObjectEquals("phone", FIRST), "no", "FIRST None; objExists(phone) None"),
        (ask.ObjectChoose("phone", "bag", FIRST), "bag", "equals(bag, FIRST) yes; equals(phone, FIRST) no; FIRST bag"),
        (
            ask.ObjectChoose("phone", "bag", ask.ObjectsOf("holding")),
            "bag",
            "equals(bag, object(holding)) None; equals(phone, object(holding)) no",
        ),
        (ask.ObjectEquals(SECOND, FIRST), "yes", "FIRST None; lastObject(touching) None"),
        (MORE, LAUGH, "happens(LAUGH) yes; happens(RUN) yes"),
        (ask.ActionEquals(LAUGH, MORE), "yes", "longer(LAUGH, RUN) LAUGH; happens(RUN) yes"),
        (ask.ActionEquals(LAUGH, MORE), "no", "longer(LAUGH, RUN) RUN; happens(LAUGH) yes"),
        (
            ask.OrderChoose(ask.RelationExists("holding"), SIT),
            "after",
            "relExists(holding, before(SIT)) no; relExists(holding, AFTER) yes; relExists(holding) yes",
        ),
        (ask.ObjectsOf("touching", AFTER), "bag", "relExists(touching, AFTER) yes; happens(SIT) yes"),
    ],
)
def test_consequences_of_a_root_answer(root: ask.Question, value: str, follows: str) -> None:
    names = {"FIRST": ask.notation(FIRST), "AFTER": ask.notation(AFTER), "SIT": SIT, "RUN": RUN, "LAUGH": LAUGH}
    for name, said in names.items():
        follows = follows.replace(name, said.replace("; ", ""))
    found, answers = filled({root: value})
    told_of = {ask.notation(question): one.value for question, one in answers.items()}
    for line in follows.split("; "):
        program = max((each for each in told_of if line.startswith(f"{each} ")), key=len)
        assert str(told_of[program]) == line.removeprefix(program).strip()
    assert answers[root] == Answer(value)
    assert found.sources[root] == "root"
    assert found.conflicts == ()
    assert {one.reason for one in answers.values()} <= {"", "no_graph"}


def test_other_roots_answer_too() -> None:
    more = ask.ObjectEquals("bag", FIRST), ask.Interaction("touching", "bag")
    _, answers = filled({ask.ObjectsOf("touching", AFTER): "bag"}, *more)
    assert answers[FIRST].value == "bag"  # the only object is the first one
    assert answers[ask.ObjectEquals("bag", FIRST)].value == "yes"
    assert answers[ask.Interaction("touching", "bag")].value == "yes"
    reference = ask.ObjectsOf("behind")
    asked = ask.Interaction("holding", reference)
    _, answers = filled({reference: "bag", ask.Interaction("holding", "bag"): "no"}, asked)
    assert answers[asked].value == "no"
    _, answers = filled({SECOND: "bag"}, ask.ObjectEquals(SECOND, FIRST), FIRST)
    assert answers[FIRST].value is None
    _, answers = filled({SECOND: "bag", ask.ObjectEquals(SECOND, FIRST): "yes"})
    assert answers[FIRST].value == "bag"


def test_but_not_itself_implies_nothing() -> None:
    assert filled({ask.Both("xor", HOLDS[1], HOLDS[1]): "yes"})[1][HOLDS[1]].value is None


def test_conflicts_keep_root_answers() -> None:
    root, child = ask.Interaction("touching", "phone", AFTER), ask.Interaction("touching", "phone")
    found, answers = filled({root: "yes", child: "no"})
    assert (answers[root].value, answers[child].value) == ("yes", "no")
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (child, "against_root", ("root", "After"), ("no", "yes")) in kinds
    assert (root, "against_root", ("root", "After"), ("yes", "no")) in kinds
    found, answers = filled({root: "yes"}, of=graph(HELD, ACTS))
    assert answers[root] == Answer("yes")
    assert answers[child] == Answer(None, "conflict")
    assert found.recomputed == {root: "no"}
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (root, "recomputed", ("root", "graph"), ("yes", "no")) in kinds
    assert (child, "against_graph", ("graph", "After"), ("no", "yes")) in kinds
    assert child not in found.sources


def test_only_before_or_after_denies_other_side() -> None:
    action, thrown = ask.ActionHappens("holding a pillow"), during("after", THROW)
    asked = ask.OrderChoose(action, THROW)
    for provenance in ("charades", "drawn"):
        of = graph(None, {"holding a pillow": "x.........", THROW: "....xx...."}, provenance)
        of = replace(of, relations={**of.relations, "taking": {"pillow": frames(".........x")}})
        answers = filled({asked: "before"}, ask.ActionHappens("holding a pillow", thrown), of=of)[1]
        assert answers[ask.Interaction("holding", "pillow", thrown)].value == "no"
    never = {ask.RelationExists("holding", thrown): "no"}
    of = graph(None, {"holding a pillow": "x.........", THROW: "....xx...."}, "charades")
    answers = filled(
        never, ask.Interaction("holding", "bag", thrown), ask.Interaction("holding", "pillow", thrown), of=of
    )[1]
    assert answers[ask.Interaction("holding", "pillow", thrown)].reason == "not_annotated"


def test_only_roots_imply_that_window_actions_happen() -> None:
    window = ask.Window("before", ("opening a door",))
    root, inner = ask.Interaction(ask.INTERACTING, "phone", window), ask.Interaction("opening", "door")
    assert filled({root: "no"})[1][inner].value == "yes"  # asked as an interaction, in the same words
    _, answers = filled({ask.Interaction(ask.INTERACTING, "phone"): "no"}, root)
    assert (answers[root].value, answers[inner].value) == ("no", None)


def test_missing_windows_leave_answers_open() -> None:
    root = ask.Interaction("touching", "phone", during("before", RUN))
    assert filled({}, root, of=graph(HELD, ACTS))[1][root] == Answer(None, "no_such_action")
    near = ask.Interaction(ask.INTERACTING, "mirror")
    found, answers = filled({near: "no"}, ask.Interaction("behind", "mirror"), of=graph(HELD, provenance="agqa"))
    assert (answers[near].value, answers[ask.ObjectExists("mirror")].value) == ("no", "yes")
    assert (found.recomputed, found.conflicts) == ({near: "no"}, ())


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
    roots += [
        ask.ObjectChoose("phone", "dish", root) for root in roots if isinstance(root, ask.EdgeObject | ask.ObjectsOf)
    ]
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
    given = {root: by_graph[root].value for root in roots if by_graph[root].value}
    again = answer_all(rng.sample(steps, len(steps)), given, graph)  # type: ignore[arg-type]
    assert (again.conflicts, again.recomputed) == ((), given)
    assert again.answers.items() >= known.items()
    # Without the graph, from the roots alone: what follows is what the graph says.
    alone = answer_all(steps, given, None)  # type: ignore[arg-type]
    shuffled = answer_all(rng.sample(steps, len(steps)), given, None)  # type: ignore[arg-type]
    assert (alone.conflicts, alone.answers) == ((), shuffled.answers)
    for question, answer in alone.answers.items():
        assert answer.value is None or by_graph[question].value in (answer.value, None)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.video_id)
def test_order_changes_no_contradictory_answers(graph: SceneGraph) -> None:
    rng = random.Random(graph.video_id)
    roots, steps = sampled(graph)
    given = {
        root: rng.choice(("yes", "no")) for root in roots if load_agqa().kinds[ask.kind_of(root)].answer == "yes/no"
    }
    for annotated in (None, graph):
        first = answer_all(steps, given, annotated)
        again = answer_all(rng.sample(steps, len(steps)), dict(sorted(given.items(), key=repr)), annotated)
        assert first.conflicts or annotated is None or not given
        assert (first.answers, first.sources, first.conflicts) == (again.answers, again.sources, again.conflicts)
        assert {root: first.answers[root].value for root in given} == given
