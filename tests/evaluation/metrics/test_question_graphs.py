"""Graphs of sub-questions: what is one, how answers are read, what constant models answer."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.question_graphs import (
    ANSWERED_YES_NO,
    BANNED,
    EXISTENCE,
    GROUP_OF,
    GROUPS,
    RULES,
    SCORED_GROUPS,
    Edge,
    Graph,
    by_video,
    check_graph,
    check_predictions,
    comparable,
    constant_predictions,
    most_common_predictions,
    named_object,
    read_answers,
)
from stressreel.templates.agqa import load_agqa
from sub_questions import choice, figure_one, one_graph


def test_the_kinds_are_those_of_the_released_files() -> None:
    assert len(GROUP_OF) == 34
    assert len(BANNED) == 12
    assert len(EXISTENCE) == 13
    assert len(RULES) == len(set(RULES)) == 13
    assert (
        *("Object Exists", "Relation Exists", "Interaction", "Interaction Temporal Localization"),
        *("Exists Temporal Localization", "First/Last", "Longest/Shortest Action", "Conjunction", "Choose", "Equals"),
    ) == SCORED_GROUPS
    assert set(GROUPS["Equals"]) == ANSWERED_YES_NO - EXISTENCE
    assert {"First Action", "Last Action"} < BANNED
    assert not {"First Object", "Last Object"} & BANNED


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("objExists(phone)", "phone"),
        ("equals(phone, firstObject(touching, after(taking a picture of something)))", "phone"),
        ("objExists(firstObject(holding))", None),
        ("equals(object(holding), firstObject(holding))", None),
        ("firstObject(touching)", None),
        ("", None),
    ],
)
def test_the_object_that_a_program_names(program: str, name: str | None) -> None:
    assert named_object(program) == name


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
        ("the", "Choose", "the"),
        (" . ", "Choose", None),
        ("", "Choose", None),
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
    with pytest.raises(InputError, match="yes or no is expected"):
        read_answers(video.nodes.values(), {})
    assert read_answers(video.nodes.values(), {"a": "yes"}, released=True).right == [False]


def test_rows_are_grouped_by_video() -> None:
    first, second = figure_one(), one_graph({"x": ("Interaction", "no")}, video="v2")
    nodes = [*first.nodes.values(), *second.nodes.values(), *first.nodes.values()]
    assert list(by_video(nodes, [*second.graphs, *first.graphs])) == [first, second]
    with pytest.raises(InputError, match="'phone' is given to two questions"):
        list(by_video([*nodes, replace(first.nodes["phone"], answer="no")], []))


def test_a_good_graph_passes() -> None:
    for video in (figure_one(), choice(), one_graph({"x": ("Interaction", "no")})):
        for graph in video.graphs:
            check_graph(graph, video.nodes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": ("a", "b")}, "ends with 'b'"),
        ({"nodes": ()}, "ends with nothing"),
        ({"nodes": ("a", "x", "root")}, "no question of that video"),
        ({"nodes": ("a", "a", "root")}, "'a' more than once"),
        ({"edges": (Edge(3, "And", (0, 1)),)}, "nodes are 0 to 2"),
        ({"edges": (Edge(2, "Or", (0, 1)),)}, "rule 'Or' at 'root'. Rules are"),
        ({"edges": (Edge(2, "And", (0,)), Edge(2, "And", (1,)))}, "rule 'And' twice at 'root'"),
        ({"edges": (Edge(2, "And", ()),)}, "0 children. It needs at least one"),
        ({"edges": (Edge(2, "Xor", (0,)),)}, "1 children. It needs two"),
        ({"edges": (Edge(2, "Equals", (0, 1, 1)),)}, "3 children. It needs two"),
        ({"edges": (Edge(2, "Choose", (1,)),)}, "It needs two"),
        ({"edges": (Edge(0, "And", (1,)), Edge(1, "And", (0,)))}, "cycle, or not in order"),
        ({"edges": (Edge(1, "And", (1,)),)}, "cycle"),
        ({"edges": (Edge(1, "And", (-1,)),)}, "cycle"),
        ({"video_id": "v2"}, "about video 'v1'"),
    ],
)
def test_what_is_no_graph_is_refused(change: dict[str, Any], message: str) -> None:
    questions = {"a": ("Interaction", "yes"), "b": ("Interaction", "no"), "root": ("And", "no")}
    video = one_graph(questions, [("root", "And", ["a", "b"])])
    graph: Graph = replace(video.graphs[0], **change)
    with pytest.raises(InputError, match="graph 'root'") as caught:
        check_graph(graph, video.nodes)
    assert message in str(caught.value)


def test_an_unknown_kind_is_refused() -> None:
    video = one_graph({"a": ("Interactions", "yes")})
    with pytest.raises(InputError, match=r"'a' of kind 'Interactions'\. Kinds are Object Exists"):
        check_graph(video.graphs[0], video.nodes)


def test_every_question_that_is_scored_needs_a_prediction_and_every_prediction_a_question() -> None:
    nodes = list(figure_one().nodes.values())
    good = constant_predictions(nodes)
    check_predictions(good, nodes)
    check_predictions(good | {"other": "yes"}, nodes, frozenset({"other"}))
    check_predictions(good | {"what": "phone"}, nodes)  # of a banned kind: allowed, not needed
    with pytest.raises(InputError, match=r"1 of 10 questions have no prediction \(phone\)\. Every question"):
        check_predictions({key: text for key, text in good.items() if key != "phone"}, nodes)
    with pytest.raises(InputError, match=r"1 keys are of no question \(other\)"):
        check_predictions(good | {"other": "yes"}, nodes)
    with pytest.raises(InputError, match=r"8 of 10 .*, …\); 1 keys"):
        check_predictions({"other": "yes"}, nodes)


def test_a_constant_model_answers_all_alike() -> None:
    nodes = list(choice().nodes.values())
    assert Counter(constant_predictions(nodes).values()) == {"yes": 6}
    assert set(constant_predictions(nodes, "no").values()) == {"no"}


def test_the_most_common_answer_is_that_of_the_kind() -> None:
    first = one_graph({"a": ("Interaction", "no"), "b": ("Interaction", "no"), "c": ("Interaction", "yes")})
    second = one_graph(
        {
            "d": ("Choose", "phone"),
            "e": ("Choose", "dish"),
            "f": ("Exists After", None),
            "g": ("Object", "phone"),
            "h": ("Interaction", None),
        },
        video="v2",
    )
    found = most_common_predictions([*first.nodes.values(), *second.nodes.values(), first.nodes["c"], first.nodes["c"]])
    assert found == {"a": "no", "b": "no", "c": "no", "d": "dish", "e": "dish", "f": "yes", "h": "no"}


def test_kinds_groups_and_rules_are_those_that_questions_are_taken_apart_by() -> None:
    vocabulary = load_agqa()
    assert {name: kind.group for name, kind in vocabulary.kinds.items()} == dict(GROUP_OF)
    assert {name for name, kind in vocabulary.kinds.items() if kind.banned} == set(BANNED)
    assert set(vocabulary.rules) == set(RULES)
