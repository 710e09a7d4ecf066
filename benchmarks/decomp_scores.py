"""Time and memory of scoring question graphs: a million questions of videos, in graphs of eleven that share them.

python benchmarks/decomp_scores.py

Graphs are made one video at a time, as a reader would give them; their time is measured apart and taken off. Answers
are right four times of five.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator, Sequence

from stressreel.core.seeds import rng_for
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.evaluation.metrics.compositional_accuracy import count, measure, tables
from stressreel.evaluation.metrics.question_graphs import Edge, Graph, Node, VideoGraphs

OBJECTS = ("phone", "dish", "book", "door", "table", "laptop", "bag", "box")
SHAPE: Sequence[tuple[str, str, str, tuple[tuple[str, tuple[int, ...]], ...]]] = (
    ("Object Exists", "Does a {a} exist?", "objExists({a})", ()),
    ("Object Exists", "Does a {b} exist?", "objExists({b})", ()),
    ("Relation Exists", "Is the person {r} something?", "relExists({r})", ()),
    ("Interaction", "Is the person {t} something?", "interaction({t})", ()),
    ("Interaction", "Is the person {r} a {a}?", "interaction({r}, {a})", (("Interaction", (2, 0)),)),
    ("Exists After", "Is the person {r} something after {t} something?", "", (("After", (2, 3)),)),
    ("Object After", "What is the person {r} after {t} something?", "", (("Interaction", (5,)), ("After", (5, 3)))),
    ("First Object", "What is the first object that the person is {r} after {t}?", "", (("First", (6,)),)),
    ("Object Equals", "Is a {a} the first object {r} after {t}?", "equals({a}, f({r}))", (("Equals", (0, 7)),)),
    ("Object Equals", "Is a {b} the first object {r} after {t}?", "equals({b}, f({r}))", (("Equals", (1, 7)),)),
    ("Interaction After", "Is the person {r} a {a} after {t}?", "", (("Interaction", (5, 0)), ("After", (4, 3)))),
    ("Choose", "Is the {a} or the {b} the first object {r} after {t}?", "", (("Choose", (8, 9)),)),
)


def video(number: int, graphs: int, questions: int) -> tuple[VideoGraphs, dict[str, str]]:
    """Make a video's graphs, about `questions` different questions, and answers to them."""
    rng = rng_for(0, "question graphs", number)
    name = f"video{number}"
    by_text: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    made: dict[str, Graph] = {}
    said: dict[str, str] = {}
    words = max(2, questions // 24)
    while len(made) < graphs:
        a, b = (OBJECTS[int(place)] for place in rng.choice(len(OBJECTS), 2, replace=False))
        filled = {"a": a, "b": b, "r": f"doing{rng.integers(words)}", "t": f"act{rng.integers(words)}"}
        keys = []
        for kind, text, program, _ in SHAPE:
            asked = text.format(**filled)
            if asked not in by_text:
                key = by_text[asked] = f"{name}-{len(by_text)}"
                options = (a, b) if kind in ("First Object", "Choose") else ("yes", "no")
                answer = None if kind == "Object After" else options[int(rng.integers(2))]
                nodes[key] = Node(key, name, asked, kind, answer, program.format(**filled))
                said[key] = answer if answer and rng.random() < 0.8 else options[int(rng.integers(2))]
            keys.append(by_text[asked])
        edges = tuple(Edge(at, rule, children) for at, row in enumerate(SHAPE) for rule, children in row[3])
        made.setdefault(f"{keys[-1]}/{len(made)}", Graph(keys[-1], name, tuple(keys), edges))
    return VideoGraphs(name, nodes, list(made.values())), said


def videos(
    number: int, graphs: int, questions: int, said: dict[str, str], counted: list[float]
) -> Iterator[VideoGraphs]:
    """Make videos one by one, put answers into `said`, and add up seconds and questions in `counted`."""
    for at in range(number):
        started = time.process_time()
        made, answers = video(at, graphs, questions)
        said.clear()
        said.update(answers)
        counted[0] += time.process_time() - started
        counted[1] += len(made.nodes)
        counted[2] += sum(len(graph.nodes) for graph in made.graphs)
        yield made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=1800)
    parser.add_argument("--graphs", type=int, default=140, help="graphs of a video")
    parser.add_argument("--questions", type=int, default=280, help="about how many different questions of a video")
    arguments = parser.parse_args()
    print(f"{'':10}{'questions':>11}{'in graphs':>11}{'graphs':>9}{'CPU s':>8}{'s / million':>13}{'peak MB':>9}")
    for released in (False, True):
        made, said = [0.0, 0.0, 0.0], dict[str, str]()
        started = time.process_time()
        rows = videos(arguments.videos, arguments.graphs, arguments.questions, said, made)
        counted, asked = count(rows, said, released=released)
        seconds = time.process_time() - started - made[0]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{'released' if released else 'default':10}{made[1]:11,.0f}{made[2]:11,.0f}{asked.graphs:9,}{seconds:8.1f}"
            f"{seconds / made[1] * 1e6:13.1f}{memory:9.0f}"
        )
    started = time.process_time()
    tables(counted, estimates(counted, measure(counted.cells)))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"intervals and tables: {time.process_time() - started:.1f} s, {memory:.0f} MB")


if __name__ == "__main__":
    main()
