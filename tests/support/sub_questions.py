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


Said = tuple[str, str | None, str, str]  # kind, right answer, text, program


def said_graph(questions: Mapping[str, Said], rules: Sequence[Rule]) -> VideoGraphs:
    texts, programs = ({key: said[place] for key, said in questions.items()} for place in (2, 3))
    return one_graph({key: said[:2] for key, said in questions.items()}, rules, texts=texts, programs=programs)


def figure_one() -> VideoGraphs:
    """The paper's Figure 1: was a phone the first thing touched after taking a picture?"""
    after, asked = "after taking a picture of something?", "Is the person"
    first = "What is the first object that the person is touching"
    program = "equals(phone, firstObject(touching, after(taking a picture of something)))"
    questions: dict[str, Said] = {
        "phone": ("Object Exists", "yes", "Does a phone exist?", "objExists(phone)"),
        "touching": ("Relation Exists", "yes", f"{asked} touching something?", ""),
        "photographing": ("Relation Exists", "yes", f"{asked} photographing something?", ""),
        "picture": ("Object Exists", "yes", "Does a picture exist?", "objExists(picture)"),
        "taking": ("Interaction", "yes", f"{asked} taking a picture of something?", ""),
        "touching after": ("Exists After", "yes", f"{asked} touching something {after}", ""),
        "what": ("Object", None, "What is the person touching?", ""),
        "what after": ("Object After", None, f"What is the person touching {after}", ""),
        "first": ("First Object", "phone", f"{first} {after}", ""),
        "root": ("Object Equals", "yes", f"Was a phone the first thing they were touching {after}", program),
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
    return said_graph(questions, rules)


def choice() -> VideoGraphs:
    """Was it the phone or the dish? Two questions of Object Equals, on one first object."""
    questions: dict[str, Said] = {
        "phone": ("Object Exists", "yes", "Does a phone exist?", "objExists(phone)"),
        "dish": ("Object Exists", "yes", "Does a dish exist?", "objExists(dish)"),
        "first": ("First Object", "phone", "first?", ""),
        "is phone": ("Object Equals", "yes", "is phone?", "equals(phone, firstObject(holding))"),
        "is dish": ("Object Equals", "no", "is dish?", "equals(dish, firstObject(holding))"),
        "root": ("Choose", "phone", "root?", ""),
    }
    rules: list[Rule] = [(f"is {thing}", "Equals", [thing, "first"]) for thing in ("phone", "dish")]
    return said_graph(questions, [*rules, ("root", "Choose", ["is phone", "is dish"])])
