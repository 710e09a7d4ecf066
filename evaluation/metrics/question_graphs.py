"""Graphs of sub-questions: what they are made of, and how answers to them are read.

AGQA-Decomp (Gandhi et al. 2022, "Measuring Compositional Consistency for Video Question Answering"): a
compositional question is taken apart into a directed acyclic graph of sub-questions. An edge is a composition rule that
makes a parent from its children; a parent can have several. Names of kinds, groups and rules are those of the authors'
released scorer.

There are two ways of reading. *Released* is that scorer's: answers are compared as they are given, and a question is
known by its text within a video. *Default*, ours, differs from it so:

* Answers are normalised. Kinds that are answered by yes or no are read by `answers.read_answer`; all others without
  case, marks around them, leads such as "Answer:", and articles. An answer that is no yes or no where one is asked is
  unreadable and wrong.
* A question is known by its key, so two questions of a video with one text and different meanings are two.
* The option of a Choose is known by the object that its program names, not by whether "<answer> exist" is in its text,
  which finds a table in "Does a vegetable exist?".
* The first child of an Equals is taken by what it asks, not by whether it has children: with a program `objExists(o)` o
  is the object compared with, a question about an object gives its own answer; neither gives no check.

In both a question without a prediction is left out, with all that its answer decides; the released scorer stops there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...core.errors import InputError
from ...templates.agqa import load_agqa
from .answers import FRAME, LEAD, THOUGHT, YES_NO, plain, read_answer

NO, YES = YES_NO
BEFORE, AFTER = "before", "after"
OVERALL = "Overall"
TIMES = ("After", "Before", "While", "Between")
_KINDS = load_agqa().kinds
GROUP_OF = {name: kind.group for name, kind in _KINDS.items()}
GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(kind for kind, its in GROUP_OF.items() if its == group) for group in dict.fromkeys(GROUP_OF.values())
}
"""The kinds of questions by group."""
BANNED = frozenset(name for name, kind in _KINDS.items() if kind.banned)
"""Kinds that are neither scored nor asked: they can have several answers."""
SCORED_GROUPS = tuple(group for group, kinds in GROUPS.items() if not BANNED.issuperset(kinds))
ANSWERED_YES_NO = frozenset(name for name, kind in _KINDS.items() if kind.answer == "yes/no")
EXISTENCE = ANSWERED_YES_NO - {*GROUPS["Equals"]}
"""Kinds whose answers count as yes or no when a parent is held against its children."""
OBJECT_VALUED = frozenset(name for name, kind in _KINDS.items() if kind.answer == "object")
RULES = tuple(sorted(load_agqa().rules, key=lambda rule: rule in TIMES))
TWO_CHILDREN = frozenset({"Equals", "Xor", "Choose"})

ARTICLES = frozenset({"a", "an", "the", "some"})
NAMED = re.compile(r"(?:objExists\(([^(),]+)\)|equals\(([^(),]+),.*\))$", re.DOTALL)
CUT = (10, -1)
"""What the released scorer takes of a program as its object: all of `objExists(phone)` but 10 characters and 1."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Node:
    """A question of a graph.

    Attributes:
        key: What predictions are given by; nodes of one video that are one question share it.
        video_id: The video that it is about.
        text: The question.
        kind: Its kind, one of those in `GROUPS`.
        answer: The right answer; None if it is not known.
        program: What it asks, canonically: `equals(phone, firstObject(touching, video))`. It is read for the object of
            Object Exists and Object Equals.
    """

    key: str
    video_id: str
    text: str
    kind: str
    answer: str | None
    program: str = ""


class Edge(NamedTuple):
    """A composition rule that makes a parent from its children, all by their position in the graph."""

    parent: int
    rule: str
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionGraph:
    """A question taken apart.

    Attributes:
        root: Key of the question.
        video_id: The video that it is about.
        nodes: Keys of all its questions, children before parents, the root last.
        edges: The rules; children are in their order, which Equals, Choose and Xor look at. Without edges the question
            is isolated: it counts for accuracy alone.
    """

    root: str
    video_id: str
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class VideoGraphs:
    """All graphs about one video, and their questions by key."""

    video_id: str
    nodes: Mapping[str, Node]
    graphs: Sequence[QuestionGraph]


def check_graph(graph: QuestionGraph, nodes: Mapping[str, Node]) -> None:
    """Check what the scores take for granted of a graph.

    Raises:
        InputError: It is cyclic or not in order, or names a question, kind or rule that there is not.
    """
    known = [nodes.get(key) for key in graph.nodes]
    if fault := _fault(graph, known):
        raise InputError(f"graph {graph.root!r} of video {graph.video_id!r} {fault}")


def _fault(graph: QuestionGraph, nodes: Sequence[Node | None]) -> str:
    """Describe what is wrong with a graph; empty if nothing is."""
    if not graph.nodes or graph.nodes[-1] != graph.root:
        last = repr(graph.nodes[-1]) if graph.nodes else "nothing"
        return f"ends with {last}. Its root has to be the last of its nodes."
    for key, node in zip(graph.nodes, nodes, strict=True):
        if node is None:
            return f"has the node {key!r}, which is no question of that video. Give the questions of all its nodes."
        if node.kind not in GROUP_OF:
            return f"has {key!r} of kind {node.kind!r}. Kinds are {', '.join(GROUP_OF)}."
        if node.video_id != graph.video_id:
            return f"has {key!r}, which is about video {node.video_id!r}. All nodes of a graph are about one video."
    if len(set(graph.nodes)) < len(graph.nodes):
        twice = next(key for key, times in Counter(graph.nodes).items() if times > 1)
        return f"has {twice!r} more than once. A question is one node, however many parents it has."
    seen = set[tuple[int, str]]()
    for parent, rule, children in graph.edges:
        if not 0 <= parent < len(nodes):
            return f"has an edge from node {parent}; its nodes are 0 to {len(nodes) - 1}."
        key = graph.nodes[parent]
        if rule not in RULES:
            return f"has rule {rule!r} at {key!r}. Rules are {', '.join(RULES)}."
        if (parent, rule) in seen:
            return f"has rule {rule!r} twice at {key!r}. Put all its children into one edge."
        seen.add((parent, rule))
        if not children or (rule in TWO_CHILDREN and len(children) != 2):
            wanted = "two children, in order" if rule in TWO_CHILDREN else "at least one child"
            return f"has rule {rule!r} at {key!r} with {len(children)} children. It needs {wanted}."
        if not 0 <= min(children) <= max(children) < parent:
            return (
                f"has an edge from node {parent} ({key!r}) to {list(children)}: that is a cycle, or not in order. "
                "Children have to stand before their parents."
            )
    return ""


def named_object(program: str) -> str | None:
    """Take the object that `objExists(phone)` or `equals(phone, …)` names; None if it is described instead."""
    found = NAMED.match(program.strip())
    return (found[1] or found[2]).strip() if found else None


@lru_cache(maxsize=1 << 16)
def open_answer(text: str) -> str | None:
    """Normalise an answer that is no yes or no: case, marks around it, leads and articles do not count.

    Returns:
        The words; None if there are none.
    """
    said = plain(LEAD.sub("", plain(FRAME.sub(" ", THOUGHT.sub("", text)))))
    words = said.split()
    kept = [word for word in words if word not in ARTICLES]
    return " ".join(kept or words) or None


@lru_cache(maxsize=1 << 16)
def yes_or_no(text: str) -> str | None:
    """Read an answer as yes or no; None if it is neither."""
    pick = read_answer(text, YES_NO)
    return None if pick is None else YES_NO[pick]


def comparable(text: str, kind: str) -> str | None:
    """Bring an answer to a question of a kind into the form that is compared by default."""
    return yes_or_no(text) if kind in ANSWERED_YES_NO else open_answer(text)


@dataclass(frozen=True)
class Answers:
    """What was answered to the questions of a video, in the form that is compared; all lists have one entry a question.

    Attributes:
        nodes: The questions.
        says: The answers; None if there is none, or none that can be read.
        truths: The right answers; None if not known.
        right: Whether the answer is right; None where that is not counted, for want of a right answer or of a
            prediction, or as the kind is banned.
        absent: Whether the question should have a prediction and has none.
        names: What a question is known by.
        released: Which way of reading it is.
        missing: Keys of the questions that are absent.
        unreadable: Keys of questions whose prediction could not be read.
    """

    nodes: list[Node]
    says: list[str | None]
    truths: list[str | None]
    right: list[bool | None]
    absent: list[bool]
    names: list[str]
    released: bool
    missing: list[str]
    unreadable: list[str]


def read_answers(nodes: Iterable[Node], predictions: Mapping[str, str], *, released: bool = False) -> Answers:
    """Look up and read the predictions on questions of one video.

    Args:
        nodes: The questions.
        predictions: Answers by key.
        released: Read as the released scorer does.
    """
    found = Answers([], [], [], [], [], [], released, [], [])
    for node in nodes:
        banned = node.kind in BANNED
        given, truth = predictions.get(node.key), node.answer
        said = given
        if not released:
            said = None if given is None else comparable(given, node.kind)
            truth = None if truth is None else comparable(truth, node.kind)
            if truth is None and node.answer is not None and not banned:
                raise InputError(
                    f"question {node.key!r} of kind {node.kind!r} has the right answer {node.answer!r}, which is none: "
                    f"{'yes or no' if node.kind in ANSWERED_YES_NO else 'a text'} is expected, or null if not known."
                )
        if said is None and not banned:
            (found.missing if given is None else found.unreadable).append(node.key)
        found.nodes.append(node)
        found.says.append(said)
        found.truths.append(truth)
        found.right.append(None if banned or truth is None or given is None else said == truth)
        found.absent.append(given is None and not banned)
        found.names.append(node.text if released else node.key)
    return found


def constant_answers(nodes: Sequence[Node]) -> dict[str, dict[str, str]]:
    """Return the answers of models that do not look, by name: who always says yes is nearly perfectly consistent.

    "commonest" answers every question by the most common right answer to its kind: of equally common ones by the first
    in the alphabet, and by yes where no right answer to the kind is known.
    """
    given: dict[str, Counter[str]] = {}
    for node in {(node.video_id, node.key): node for node in nodes}.values():
        if node.answer is not None:
            given.setdefault(node.kind, Counter())[node.answer] += 1
    best = {kind: min(counts, key=lambda answer: (-counts[answer], answer)) for kind, counts in given.items()}
    scored = [node for node in nodes if node.kind not in BANNED]
    return {
        "always yes": {node.key: YES for node in scored},
        "commonest": {node.key: best.get(node.kind, YES) for node in scored},
    }
