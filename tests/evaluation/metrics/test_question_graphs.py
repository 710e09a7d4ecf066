from dataclasses import replace
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.question_graphs import (
    Edge,
    QuestionGraph,
    check_graph,
    comparable,
    constant_answers,
    read_answers,
)
from sub_questions import Asked, figure_one, one_graph


@pytest.mark.parametrize(
    ("text", "kind", "read"),
    [
        ("Yes.", "Interaction", "yes"),
        ("no, they are not", "Object Equals", "no"),
        ("yes and no", "And", None),
        ("phone", "Exists After", None),
        ("The phone.", "First Object", "phone"),
        ("Answer: a phone", "First Object", "phone"),
        ("holding the phone", "Longest Action", "holding phone"),
        ("Making some food", "Longer Choose", "making food"),
        ("BEFORE", "Choose", "before"),
        ("<think>the dish?</think> Phone", "Choose", "phone"),
        (" . ", "Choose", None),
    ],
)
def test_what_an_answer_is_read_as(text: str, kind: str, read: str | None) -> None:
    assert comparable(text, kind) == read


def test_answers_are_compared_as_given_or_as_read() -> None:
    video = figure_one()
    given = {"phone": "Yes.", "touching": "perhaps", "first": "a phone", "what": "phone", "root": "yes"}
    ours = read_answers(video.nodes.values(), given)
    keys = list(video.nodes)
    right = dict(zip(keys, ours.right, strict=True))
    assert (right["phone"], right["touching"], right["first"], right["root"]) == (True, False, True, True)
    assert (right["taking"], right["what"]) == (None, None)  # neither what is missing nor what is banned is counted
    assert ours.missing == ["photographing", "picture", "taking", "touching after"]
    assert ours.unreadable == ["touching"]
    theirs = read_answers(video.nodes.values(), given, released=True)
    right = dict(zip(keys, theirs.right, strict=True))
    assert (right["phone"], right["touching"], right["first"], right["root"]) == (False, False, False, True)
    assert theirs.unreadable == []
    assert (ours.names[0], theirs.names[0]) == ("phone", "Does a phone exist?")


def test_a_right_answer_that_is_none_is_refused() -> None:
    video = one_graph({"a": ("Interaction", "phone")})
    with pytest.raises(InputError, match="expected yes or no"):
        read_answers(video.nodes.values(), {})
    assert read_answers(video.nodes.values(), {"a": "yes"}, released=True).right == [False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": ("a", "b")}, "ends with 'b'"),
        ({"nodes": ("a", "x", "root")}, "not a question of that video"),
        ({"nodes": ("a", "a", "root")}, "'a' more than once"),
        ({"edges": (Edge(3, "And", (0, 1)),)}, "nodes are 0 to 2"),
        ({"edges": (Edge(2, "Or", (0, 1)),)}, "rule 'Or' at 'root'. Rules are"),
        ({"edges": (Edge(2, "And", (0,)), Edge(2, "And", (1,)))}, "rule 'And' twice at 'root'"),
        ({"edges": (Edge(2, "And", ()),)}, "0 children. It needs at least one"),
        ({"edges": (Edge(2, "Xor", (0,)),)}, "1 children. It needs two"),
        ({"edges": (Edge(1, "And", (1,)),)}, "cycle, or not in order"),
        ({"edges": (Edge(1, "And", (-1,)),)}, "cycle"),
        ({"video_id": "v2"}, "about video 'v1'"),
        ({"nodes": ("a", "c", "root")}, "'c' of kind 'Interactions'. Kinds are Object Exists"),
    ],
)
def test_what_is_no_graph_is_refused(change: dict[str, Any], message: str) -> None:
    questions = {"a": ("Interaction", "yes"), "b": ("Interaction", "no"), "root": ("And", "no")}
    video = one_graph(questions, [("root", "And", ["a", "b"])])
    nodes = {**video.nodes, "c": replace(video.nodes["a"], key="c", kind="Interactions")}
    graph: QuestionGraph = replace(video.graphs[0], **change)
    with pytest.raises(InputError, match="graph 'root'") as caught:
        check_graph(graph, nodes)
    assert message in str(caught.value)


def test_models_that_do_not_look_answer_the_same_to_all_or_to_all_of_a_kind() -> None:
    first = one_graph({"a": ("Interaction", "no"), "b": ("Interaction", "no"), "c": ("Interaction", "yes")})
    more: dict[str, Asked] = {"d": ("Choose", "phone"), "e": ("Choose", "dish"), "f": ("Exists After", None)}
    second = one_graph(more | {"g": ("Object", "phone"), "h": ("Interaction", None)}, video="v2")
    nodes = [*first.nodes.values(), *second.nodes.values(), first.nodes["c"], first.nodes["c"]]
    found = constant_answers(nodes)
    assert found["commonest"] == {"a": "no", "b": "no", "c": "no", "d": "dish", "e": "dish", "f": "yes", "h": "no"}
    assert found["always yes"] == dict.fromkeys("abcdefh", "yes")
