from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from stressreel.builders.decomp.question_graphs import (
    UNCOUNTED,
    Edge,
    Verdict,
    VideoGraphs,
    check_graph,
    children_by_rule,
    comparable,
    consistency,
    constant_answers,
    read_answers,
)
from stressreel.core.errors import InputError
from sub_questions import Asked, choice, figure_one, one_graph


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("Interaction", {"Yes.": "yes", "no, they are not": "no", "yes and no": None, "phone": None}),
        ("First Object", {"The phone.": "phone", "Answer: a phone": "phone", "holding the phone": "holding phone"}),
        ("Choose", {"BEFORE": "before", "<think>the dish?</think> Phone": "phone", " . ": None}),
    ],
)
def test_answers_are_normalized(kind: str, texts: dict[str, str | None]) -> None:
    assert {text: comparable(text, kind) for text in texts} == texts


def test_answers_by_both_modes() -> None:
    video = figure_one()
    given = {"phone": "Yes.", "touching": "perhaps", "first": "a phone", "what": "phone", "root": "yes"}
    ours, theirs = (read_answers(video.nodes.values(), given, released=released) for released in (False, True))
    names = ("phone", "touching", "first", "root", "taking", "what")
    of_ours, of_theirs = (dict(zip(video.nodes, answers.right, strict=True)) for answers in (ours, theirs))
    # Neither what is missing nor what is banned is counted.
    assert [of_ours[name] for name in names] == [True, False, True, True, None, None]
    assert [of_theirs[name] for name in names[:4]] == [False, False, False, True]
    assert ours.missing == ["photographing", "picture", "taking", "touching after"]
    assert (ours.unreadable, theirs.unreadable) == (["touching"], [])
    assert (ours.names[0], theirs.names[0]) == ("phone", "Does a phone exist?")


def test_invalid_correct_answers_are_refused() -> None:
    video = one_graph({"a": ("Interaction", "phone")})
    with pytest.raises(InputError, match="phone"):
        read_answers(video.nodes.values(), {})
    assert read_answers(video.nodes.values(), {"a": "yes"}, released=True).right == [False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": ("a", "b")}, "ends with 'b'"),
        ({"nodes": ("a", "x", "root")}, "not a question of that video"),
        ({"nodes": ("a", "a", "root")}, "'a' more than once"),
        ({"nodes": ("a", "c", "root")}, "'c' of kind 'Interactions'. Kinds are Object Exists"),
        ({"edges": (Edge(3, "And", (0, 1)),)}, "nodes are 0 to 2"),
        ({"edges": (Edge(2, "Or", (0, 1)),)}, "rule 'Or' at 'root'. Rules are"),
        ({"edges": (Edge(2, "And", (0,)), Edge(2, "And", (1,)))}, "rule 'And' twice at 'root'"),
        ({"edges": (Edge(2, "And", ()),)}, "0 children"),
        ({"edges": (Edge(2, "Xor", (0,)),)}, "1 children. It needs two"),
        ({"edges": (Edge(1, "And", (1,)),)}, "cycle"),
        ({"edges": (Edge(1, "And", (-1,)),)}, "cycle"),
        ({"video_id": "v2"}, "about video 'v1'"),
    ],
)
def test_invalid_graphs_are_refused(change: dict[str, Any], message: str) -> None:
    questions = {"a": ("Interaction", "yes"), "b": ("Interaction", "no"), "root": ("And", "no")}
    video = one_graph(questions, [("root", "And", ["a", "b"])])
    nodes = {**video.nodes, "c": replace(video.nodes["a"], key="c", kind="Interactions")}
    with pytest.raises(InputError, match=rf"graph 'root' .*{message}"):
        check_graph(replace(video.graphs[0], **change), nodes)


def test_constant_answers() -> None:
    kinds: dict[str, Asked] = {"a": ("Interaction", "no"), "b": ("Interaction", "no"), "c": ("Interaction", "yes")}
    kinds |= {"d": ("Choose", "phone"), "e": ("Choose", "dish"), "f": ("Exists After", None)}
    nodes = one_graph(kinds | {"g": ("Object", "phone"), "h": ("Interaction", None)}).nodes
    found = constant_answers([*nodes.values(), nodes["c"], nodes["c"]])
    assert found["commonest"] == {"a": "no", "b": "no", "c": "no", "d": "dish", "e": "dish", "f": "yes", "h": "no"}
    assert found["always yes"] == dict.fromkeys("abcdefh", "yes")


TABLES = yaml.safe_load(Path(__file__).with_name("consistency.yaml").read_text(encoding="utf-8"))
COUNTED = {"right": False, "wrong": True, "-": None}


def judge(video: VideoGraphs, rule: str, said: Mapping[str, str], *, released: bool = True) -> Verdict:
    graph = video.graphs[0]
    nodes = [video.nodes[key] for key in graph.nodes]
    given = {key: text for key, text in said.items() if text != "missing"}
    answers = read_answers(nodes, given, released=released)
    return consistency(answers, children_by_rule(graph.edges), len(nodes) - 1, rule)


def small(rule: str, kind: str, *children: str) -> VideoGraphs:
    questions: dict[str, Asked] = {f"c{number}": (child, None) for number, child in enumerate(children, 1)}
    return one_graph(questions | {"p": (kind, None)}, [("p", rule, list(questions))])


def said(*answers: str) -> dict[str, str]:
    return dict(zip(("p", "c1", "c2", "c3"), answers, strict=False))


INTERACTIONS = ("Interaction", "Interaction")
NAMES, PARTS = ("p", "c1", "c2"), ("Interaction", "After", "Before", "While")
OF_OBJECTS: dict[str, Asked] = {"what": ("Object", None), "c1": ("First Object", None), "c2": ("Last Object", None)}
COMPARED = one_graph(
    OF_OBJECTS | {"p": ("Object Equals", None)}, [("c1", "First", ["what"]), ("p", "Equals", ["c1", "c2"])]
)
CASES = [
    *[
        (rule, small(rule, "Interaction After", *INTERACTIONS), NAMES, "implied")
        for rule in ("Interaction", "After", "Before", "While")
    ],
    *[(rule, small(rule, "And", *INTERACTIONS), NAMES, "whole") for rule in ("And", "Between")],
    ("Xor", small("Xor", "Xor", *INTERACTIONS), NAMES, "xor"),
    ("Equals", figure_one(), ("root", "phone", "first"), "named"),
    ("Equals", COMPARED, NAMES, "described"),
    ("Equals", small("Equals", "Action Equals", "Interaction", "Longer Choose"), NAMES, "uncounted"),
    ("Choose", small("Choose", "Choose", "Object Equals", "Object Equals"), NAMES, "uncounted"),
    ("Choose", small("Choose", "Choose", "Exists Before", "Exists After"), NAMES, "times"),
    ("Choose", choice(), ("root", "is phone", "is dish"), "options"),
]


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(("rule", "video", "names", "table"), CASES, ids=[case[0] for case in CASES])
def test_consistency_of_every_rule(rule: str, video: VideoGraphs, names: Any, table: str, released: bool) -> None:
    for line in TABLES[table]:
        answers, verdict = (part.split() for part in line.split(" -> "))
        given = dict(zip(names, answers, strict=True))
        assert judge(video, rule, given, released=released) == tuple(COUNTED[word] for word in verdict), line


def test_consistency_differs_between_modes() -> None:
    described = one_graph(
        {"c1": ("Object Exists", None), "c2": ("First Object", None), "p": ("Object Equals", None)},
        [("p", "Equals", ["c1", "c2"])],
        programs={"c1": "objExists(firstObject(holding))"},
    )
    bare = small("Equals", "Object Equals", "First Object", "Last Object")
    hone, the_phone = ({"root": answer, "is phone": "yes", "is dish": "no"} for answer in ("hone", "The phone."))
    for graph, rule, given, theirs, ours in (
        (described, "Equals", said("yes", "yes", "phone"), (True, True), UNCOUNTED),
        (bare, "Equals", said("yes", "phone", "phone"), (True, True), (False, None)),
        (choice(), "Choose", hone, (None, False), UNCOUNTED),
        (choice(), "Choose", the_phone, UNCOUNTED, (None, False)),
    ):
        assert judge(graph, rule, given, released=True) == theirs
        assert judge(graph, rule, given, released=False) == ours
