"""Hand-made graphs of sub-questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stressreel.builders.decomp.question_graphs import Edge, Node, QuestionGraph, VideoGraphs

VIDEO = "v1"
Asked = tuple[str, str | None]  # kind and right answer
Rule = tuple[str, str, Sequence[str]]  # parent, rule, children


def one_graph(
    questions: Mapping[str, Asked],
    rules: Sequence[Rule] = (),
    *,
    texts: Mapping[str, str] | None = None,
    programs: Mapping[str, str] | None = None,
    video: str = VIDEO,
) -> VideoGraphs:
    """A video with one graph; questions are by key, children first."""
    keys = list(questions)
    nodes = {
        key: Node(key, video, (texts or {}).get(key, f"{key}?"), kind, answer, (programs or {}).get(key, ""))
        for key, (kind, answer) in questions.items()
    }
    edges = tuple(Edge(keys.index(parent), rule, tuple(map(keys.index, children))) for parent, rule, children in rules)
    return VideoGraphs(video, nodes, [QuestionGraph(keys[-1], video, tuple(keys), edges)])


def figure_one() -> VideoGraphs:
    """The paper's Figure 1: was a phone the first thing touched after taking a picture?"""
    questions: dict[str, Asked] = {
        "phone": ("Object Exists", "yes"),
        "touching": ("Relation Exists", "yes"),
        "photographing": ("Relation Exists", "yes"),
        "picture": ("Object Exists", "yes"),
        "taking": ("Interaction", "yes"),
        "touching after": ("Exists After", "yes"),
        "what": ("Object", None),
        "what after": ("Object After", None),
        "first": ("First Object", "phone"),
        "root": ("Object Equals", "yes"),
    }
    rules: list[Rule] = [
        ("taking", "Interaction", ["photographing", "picture"]),
        ("touching after", "After", ["touching", "taking"]),
        ("what", "Interaction", ["touching"]),
        ("what after", "Interaction", ["touching after"]),
        ("what after", "After", ["what", "taking"]),
        ("first", "First", ["what after"]),
        ("root", "Equals", ["phone", "first"]),
    ]
    texts = {
        "phone": "Does a phone exist?",
        "touching": "Is the person touching something?",
        "photographing": "Is the person photographing something?",
        "picture": "Does a picture exist?",
        "taking": "Is the person taking a picture of something?",
        "touching after": "Is the person touching something after taking a picture of something?",
        "what": "What is the person touching?",
        "what after": "What is the person touching after taking a picture of something?",
        "first": "What is the first object that the person is touching after taking a picture of something?",
        "root": "Was a phone the first thing they were touching after taking a picture of something?",
    }
    programs = {
        "phone": "objExists(phone)",
        "picture": "objExists(picture)",
        "root": "equals(phone, firstObject(touching, after(taking a picture of something)))",
    }
    return one_graph(questions, rules, texts=texts, programs=programs)


def choice() -> VideoGraphs:
    """Was it the phone or the dish? Two questions of Object Equals, on one first object."""
    questions: dict[str, Asked] = {
        "phone": ("Object Exists", "yes"),
        "dish": ("Object Exists", "yes"),
        "first": ("First Object", "phone"),
        "is phone": ("Object Equals", "yes"),
        "is dish": ("Object Equals", "no"),
        "root": ("Choose", "phone"),
    }
    rules: list[Rule] = [
        ("is phone", "Equals", ["phone", "first"]),
        ("is dish", "Equals", ["dish", "first"]),
        ("root", "Choose", ["is phone", "is dish"]),
    ]
    texts = {"phone": "Does a phone exist?", "dish": "Does a dish exist?"}
    programs = {
        "phone": "objExists(phone)",
        "dish": "objExists(dish)",
        "is phone": "equals(phone, firstObject(holding))",
        "is dish": "equals(dish, firstObject(holding))",
    }
    return one_graph(questions, rules, texts=texts, programs=programs)
