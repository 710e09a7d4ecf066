"""Where one answer goes wrong."""

import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.question_graphs import Edge
from stressreel.evaluation.metrics.question_paths import (
    RIGHT,
    UNANSWERED,
    UNASKED,
    UNKNOWN,
    WRONG,
    QuestionPath,
    question_path,
    question_path_text,
)
from sub_questions import figure_one, one_graph

RIGHT_BUT = {
    "phone": "yes",
    "touching": "yes",
    "photographing": "yes",
    "picture": "no",
    "taking": "no",
    "touching after": "no",
    "first": "dish",
    "root": "no",
}


def keys(path: QuestionPath, places: object) -> set[str]:
    return {path.steps[place].node.key for place in places}  # type: ignore[attr-defined]


def test_the_error_path_leads_from_the_root_through_wrong_answers_to_where_they_begin() -> None:
    path = question_path(figure_one(), "root", RIGHT_BUT)
    edges = {(path.steps[a].node.key, path.steps[b].node.key) for a, b in path.error_edges}
    assert edges == {
        ("root", "first"),
        ("first", "what after"),  # not scored itself, and wrong below
        ("what after", "touching after"),
        ("what after", "taking"),
        ("touching after", "taking"),
        ("taking", "picture"),
    }
    assert keys(path, path.origins) == {"picture"}
    verdicts = {step.node.key: step.verdict for step in path.steps}
    assert (verdicts["phone"], verdicts["root"], verdicts["what after"]) == (RIGHT, WRONG, UNASKED)
    assert path.contradictions == frozenset()


def test_contradictions_are_those_of_consistency() -> None:
    path = question_path(figure_one(), "root", RIGHT_BUT | {"taking": "yes", "root": "yes"})
    found = {(path.steps[place].node.key, rule) for place, rule in path.contradictions}
    assert found == {("taking", "Interaction"), ("root", "Equals")}
    assert path.error_edges == frozenset()  # the root is right
    assert path.origins == ()
    assert not any(step.on_path for step in path.steps)


def test_questions_without_a_right_answer_or_a_prediction() -> None:
    video = one_graph({"a": ("Interaction", None), "b": ("And", "yes")}, [("b", "And", ["a"])])
    path = question_path(video, "b", {"a": "yes"})
    assert [step.verdict for step in path.steps] == [UNKNOWN, UNANSWERED]
    assert [step.prediction for step in path.steps] == ["yes", None]
    assert path.edges == (Edge(1, "And", (0,)),)
    text = question_path_text(path)
    assert "b? [And] → not answered" in text
    assert not path.error_edges
    assert "a? [Interaction] → 'yes', correct answer unknown" in text


def test_a_path_is_written_as_a_tree() -> None:
    said = RIGHT_BUT | {"root": "yes"} | {"touching after": "yes"}
    text = question_path_text(question_path(figure_one(), "root", said | {"root": "maybe"}))
    after = "after taking a picture of something?"
    assert text.splitlines() == [
        f"✗ Was a phone the first thing they were touching {after} [Object Equals] → 'maybe', wrong: yes",
        "└─ Equals ↯ contradicts these answers",
        "   ├─ Does a phone exist? [Object Exists] → 'yes', right",
        f"   └─ ✗ What is the first object that the person is touching {after} [First Object] → 'dish', wrong: phone",
        "      └─ First",
        f"         └─ ✗ What is the person touching {after} [Object After] → not scored",
        "            ├─ Interaction",
        f"            │  └─ Is the person touching something {after} [Exists After] → 'yes', right",
        "            │     └─ After ↯ contradicts these answers",
        "            │        ├─ Is the person touching something? [Relation Exists] → 'yes', right",
        "            │        └─ Is the person taking a picture of something? [Interaction] → 'no', wrong: yes",
        "            │           └─ Interaction",
        "            │              ├─ Is the person photographing something? [Relation Exists] → 'yes', right",
        "            │              └─ ✗ Does a picture exist? [Object Exists] → 'no', wrong: yes",
        "            └─ After",
        "               ├─ What is the person touching? [Object] → not scored",
        "               │  └─ Interaction",
        "               │     └─ Is the person touching something? [Relation Exists] → 'yes', right",
        "               └─ ✗ Is the person taking a picture of something? [Interaction] → 'no', wrong: yes (see above)",
        "",
        "Error origins:",
        "  Does a picture exist?",
    ]


def test_a_deep_graph_is_written() -> None:
    questions = {f"q{n}": ("Interaction", "yes") for n in range(1200)}
    rules = [(f"q{n + 1}", "Interaction", [f"q{n}"]) for n in range(1199)]
    text = question_path_text(question_path(one_graph(questions, rules), "q1199", {}))
    assert text.count("\n") > 2390


def test_a_question_without_a_graph_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'phone' is not the root of a graph\. .* of video 'v1' \(1 in total\): 'root'\."
    ):
        question_path(figure_one(), "phone", {})
