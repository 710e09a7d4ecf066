"""Contradictions within a graph: every line of the table of counters, and what is not counted."""

from dataclasses import replace

import pytest
from stressreel.evaluation.metrics.internal_consistency import (
    CONSISTENCY,
    CONSISTENCY_OF_GROUP,
    COUNTERS,
    UNCOUNTED,
    Verdict,
    consistency,
    once,
)
from stressreel.evaluation.metrics.question_graphs import GROUPS, RULES, VideoGraphs, read_answers
from sub_questions import Asked, choice, figure_one, one_graph

RIGHT, WRONG, NOT = False, True, None
MISSING = ""


def judge(video: VideoGraphs, rule: str, said: dict[str, str], *, released: bool = True) -> Verdict:
    """Hold the root against its children; an answer of "" is not given."""
    graph = video.graphs[0]
    nodes = [video.nodes[key] for key in graph.nodes]
    answers = read_answers(nodes, {key: text for key, text in said.items() if text}, released=released)
    rules: dict[int, dict[str, tuple[int, ...]]] = {}
    for parent, name, children in graph.edges:
        rules.setdefault(parent, {})[name] = children
    return consistency(answers, rules, len(nodes) - 1, rule)


def small(rule: str, kind: str, *children: str) -> VideoGraphs:
    questions: dict[str, Asked] = {f"c{number}": (child, None) for number, child in enumerate(children, 1)}
    return one_graph(questions | {"p": (kind, None)}, [("p", rule, list(questions))])


def said(p: str, *children: str) -> dict[str, str]:
    return {"p": p} | {f"c{number}": child for number, child in enumerate(children, 1)}


def test_there_are_two_counters_for_each_of_nine_rules() -> None:
    assert len(COUNTERS) == 18
    assert set(RULES) - set(CONSISTENCY) == {"First", "Last", "Longer Choose", "Shorter Choose"}
    assert set(CONSISTENCY_OF_GROUP) < set(GROUPS)
    sizes = {group: len(rules) for group, rules in CONSISTENCY_OF_GROUP.items()}
    assert sizes["Interaction Temporal Localization"] == 5
    assert sizes["Exists Temporal Localization"] == 4
    assert sizes["Conjunction"] == 2


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize("rule", ["Interaction", "After", "Before", "While"])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("yes", "yes", "yes"), (RIGHT, NOT)),
        (("yes", "yes", "no"), (WRONG, WRONG)),  # a parent "yes" with a child "no": wrong in both
        (("yes", "yes", "maybe"), (WRONG, NOT)),
        (("yes", "yes", MISSING), UNCOUNTED),
        (("no", "yes", "no"), (NOT, RIGHT)),
        (("no", "no", "no"), (NOT, RIGHT)),
        (("no", "yes", "yes"), (NOT, NOT)),  # both can hold, and not together
        (("maybe", "yes", "yes"), (NOT, NOT)),
        (("maybe", "no", "yes"), (NOT, WRONG)),
        ((MISSING, "no", "yes"), UNCOUNTED),
    ],
)
def test_parts_that_a_whole_implies(rule: str, released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    video = small(rule, "Interaction After", "Interaction", "Interaction")
    assert judge(video, rule, said(*answers), released=released) == verdict


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize("rule", ["And", "Between"])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("yes", "yes", "yes"), (RIGHT, NOT)),
        (("yes", "yes", "no"), (WRONG, WRONG)),
        (("yes", "yes", "maybe"), (WRONG, NOT)),
        (("no", "yes", "yes"), (WRONG, WRONG)),
        (("no", "no", "yes"), (NOT, RIGHT)),
        (("no", "maybe", "yes"), (NOT, WRONG)),
        (("maybe", "yes", "yes"), (WRONG, NOT)),
        (("maybe", "no", "yes"), (NOT, WRONG)),
        (("maybe", "maybe", "yes"), (NOT, NOT)),
        ((MISSING, "yes", "yes"), UNCOUNTED),
    ],
)
def test_parts_that_make_a_whole(rule: str, released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    video = small(rule, "And", "Interaction", "Interaction")
    assert judge(video, rule, said(*answers), released=released) == verdict


@pytest.mark.parametrize("rule", ["Interaction", "And", "Between", "While"])
@pytest.mark.parametrize("kinds", [("Object", "Action After"), ("Object Equals", "First Object")])
def test_children_that_are_banned_or_no_question_of_existence_are_not_looked_at(
    rule: str, kinds: tuple[str, ...]
) -> None:
    assert judge(small(rule, "And", *kinds), rule, said("yes", "no", "no")) == UNCOUNTED
    assert judge(small(rule, "And", *kinds), rule, said("no", "no", "no")) == UNCOUNTED
    assert judge(small(rule, "And", *kinds, "Exists While"), rule, said("yes", "no", "no", "yes")) == (RIGHT, NOT)


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("yes", "yes", "no"), (RIGHT, NOT)),
        (("yes", "yes", "yes"), (WRONG, WRONG)),
        (("yes", "no", "no"), (WRONG, WRONG)),
        (("no", "yes", "no"), (WRONG, WRONG)),
        (("no", "yes", "yes"), (NOT, RIGHT)),
        (("no", "no", "yes"), (NOT, RIGHT)),
        (("no", "maybe", "no"), (NOT, RIGHT)),
        (("maybe", "yes", "no"), (WRONG, NOT)),
        (("maybe", "no", "no"), (NOT, WRONG)),
        (("yes", "yes", MISSING), UNCOUNTED),
    ],
)
def test_first_and_not_second(released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    video = small("Xor", "Xor", "Interaction", "Interaction")
    assert judge(video, "Xor", said(*answers), released=released) == verdict


@pytest.mark.parametrize("rule", ["Xor", "Equals", "Choose"])
def test_a_pair_with_a_banned_child_is_not_counted(rule: str) -> None:
    kind = {"Equals": "Object Equals"}.get(rule, rule)
    assert judge(small(rule, kind, "Interaction", "Object"), rule, said("yes", "yes", "no")) == UNCOUNTED
    assert judge(small(rule, kind, "Action", "Interaction"), rule, said("before", "yes", "no")) == UNCOUNTED


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("yes", "yes", "phone"), (RIGHT, NOT)),
        (("yes", "yes", "dish"), (WRONG, WRONG)),
        (("yes", "no", "phone"), (WRONG, WRONG)),
        (("yes", "no", "dish"), (WRONG, WRONG)),
        (("no", "yes", "phone"), (WRONG, WRONG)),
        (("no", "no", "phone"), (WRONG, WRONG)),
        (("no", "no", "dish"), (NOT, RIGHT)),
        (("no", "yes", "dish"), (NOT, RIGHT)),
        (("maybe", "yes", "phone"), (WRONG, NOT)),
        (("maybe", "no", "phone"), (WRONG, WRONG)),
        (("maybe", "yes", "dish"), (NOT, WRONG)),
        (("yes", "yes", MISSING), UNCOUNTED),
        ((MISSING, "yes", "phone"), UNCOUNTED),
    ],
)
def test_equals_with_an_object_that_is_named(released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    root, phone, first = answers
    assert judge(figure_one(), "Equals", {"root": root, "phone": phone, "first": first}, released=released) == verdict


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("yes", "phone", "phone"), (RIGHT, NOT)),
        (("yes", "phone", "dish"), (WRONG, WRONG)),
        (("no", "phone", "phone"), (WRONG, WRONG)),
        (("no", "phone", "dish"), (NOT, RIGHT)),
        (("maybe", "phone", "phone"), (WRONG, NOT)),
        (("maybe", "phone", "dish"), (NOT, WRONG)),
        (("yes", MISSING, MISSING), UNCOUNTED),
    ],
)
def test_equals_with_an_object_that_is_described(released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    video = one_graph(
        {
            "what": ("Object", None),
            "c1": ("First Object", None),
            "c2": ("Last Object", None),
            "p": ("Object Equals", None),
        },
        [("c1", "First", ["what"]), ("p", "Equals", ["c1", "c2"])],
    )
    assert judge(video, "Equals", said(*answers), released=released) == verdict


def test_equals_of_actions_is_not_counted() -> None:
    video = small("Equals", "Action Equals", "Interaction", "Longer Choose")
    assert judge(video, "Equals", said("yes", "no", "running")) == UNCOUNTED


def test_the_object_of_a_leaf_is_cut_out_of_its_program_by_the_released_scorer_alone() -> None:
    video = one_graph(
        {"c1": ("Object Exists", None), "c2": ("First Object", None), "p": ("Object Equals", None)},
        [("p", "Equals", ["c1", "c2"])],
        programs={"c1": "objExists(firstObject(holding))"},
    )
    answers = said("yes", "yes", "phone")
    assert judge(video, "Equals", answers, released=True) == (WRONG, WRONG)
    assert judge(video, "Equals", answers, released=False) == UNCOUNTED


def test_a_question_about_an_object_without_children_is_compared_by_its_answer_by_default() -> None:
    video = small("Equals", "Object Equals", "First Object", "Last Object")
    assert judge(video, "Equals", said("yes", "phone", "the phone"), released=False) == (RIGHT, NOT)
    assert judge(video, "Equals", said("yes", "phone", "phone"), released=True) == (WRONG, WRONG)


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("before", "yes", "no"), (RIGHT, NOT)),
        (("before", "yes", "yes"), (WRONG, NOT)),
        (("before", "no", "yes"), (WRONG, NOT)),
        (("after", "no", "yes"), (RIGHT, NOT)),
        (("after", "yes", "no"), (WRONG, NOT)),
        (("after", "no", MISSING), UNCOUNTED),
        (("yes", "yes", "no"), (NOT, NOT)),
        ((MISSING, "yes", "no"), UNCOUNTED),
    ],
)
def test_before_or_after(released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    video = small("Choose", "Choose", "Exists Before", "Exists After")
    assert judge(video, "Choose", said(*answers), released=released) == verdict


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("phone", "yes", "no"), (NOT, RIGHT)),
        (("phone", "yes", "yes"), (NOT, WRONG)),
        (("phone", "no", "no"), (NOT, WRONG)),
        (("dish", "no", "yes"), (NOT, RIGHT)),
        (("dish", "yes", "no"), (NOT, WRONG)),
        (("dish", "no", MISSING), UNCOUNTED),
        (("table", "no", "no"), (NOT, NOT)),  # neither option
        ((MISSING, "yes", "no"), UNCOUNTED),
    ],
)
def test_one_of_two_objects(released: bool, answers: tuple[str, ...], verdict: Verdict) -> None:
    said_of = dict(zip(("root", "is phone", "is dish"), answers, strict=True))
    assert judge(choice(), "Choose", said_of, released=released) == verdict


def test_an_option_is_found_by_a_part_of_its_text_by_the_released_scorer_alone() -> None:
    said_of = {"root": "hone", "is phone": "yes", "is dish": "no"}
    assert judge(choice(), "Choose", said_of, released=True) == (NOT, RIGHT)
    assert judge(choice(), "Choose", said_of, released=False) == (NOT, NOT)
    said_of["root"] = "The phone."
    assert judge(choice(), "Choose", said_of, released=True) == (NOT, NOT)
    assert judge(choice(), "Choose", said_of, released=False) == (NOT, RIGHT)


@pytest.mark.parametrize("released", [True, False])
def test_options_that_are_not_compared_with_anything_are_not_counted(released: bool) -> None:
    video = small("Choose", "Choose", "Object Equals", "Object Equals")
    assert judge(video, "Choose", said("phone", "yes", "no"), released=released) == UNCOUNTED


@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize("compared", ["is phone", "is dish"])
def test_both_options_have_to_be_compared_with_something(compared: str, released: bool) -> None:
    video = choice()
    graph = video.graphs[0]
    kept = tuple(edge for edge in graph.edges if graph.nodes[edge.parent] in (compared, "root"))
    video = replace(video, graphs=[replace(graph, edges=kept)])
    said_of = {"root": compared.removeprefix("is "), "is phone": "yes", "is dish": "no"}
    assert judge(video, "Choose", said_of, released=released) == UNCOUNTED


@pytest.mark.parametrize("rule", ["First", "Last", "Longer Choose", "Shorter Choose"])
def test_rules_without_counters(rule: str) -> None:
    assert judge(small(rule, "Choose", "Interaction"), rule, said("yes", "no")) == UNCOUNTED


@pytest.mark.parametrize(
    ("verdict", "rule", "answer", "single"),
    [
        ((WRONG, WRONG), "After", "yes", WRONG),
        ((RIGHT, NOT), "After", "yes", RIGHT),
        ((NOT, NOT), "After", "yes", NOT),
        ((WRONG, RIGHT), "And", "no", RIGHT),
        ((NOT, RIGHT), "After", "no", RIGHT),
        ((NOT, WRONG), "After", "maybe", WRONG),
        ((WRONG, NOT), "And", "maybe", WRONG),
        ((WRONG, WRONG), "Equals", None, WRONG),
        ((WRONG, NOT), "Choose", "before", WRONG),
        ((NOT, RIGHT), "Choose", "phone", RIGHT),
        ((NOT, RIGHT), "Choose", "no", RIGHT),
    ],
)
def test_a_graph_counts_each_rule_of_a_parent_once(
    verdict: Verdict, rule: str, answer: str | None, single: bool | None
) -> None:
    assert once(verdict, rule, answer) is single
