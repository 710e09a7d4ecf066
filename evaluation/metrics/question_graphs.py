"""Represent graphs of sub-questions, and parse the answers to them.

AGQA-Decomp (Gandhi et al. 2022, "Measuring Compositional Consistency for Video Question Answering") decomposes a
compositional question into a directed acyclic graph of sub-questions. An edge is a composition rule that forms a parent
from its children; a parent can have several edges. Categories, groups and rules are named as in the authors' released
scorer and defined in `templates/agqa.yaml`.

Answers are parsed in one of two modes. *Released* reproduces that scorer: answers are compared verbatim, and a question
is identified by its text within a video. *Default*, ours, differs as follows:

* Answers are normalized. Yes/no answers are parsed by `answers.read_answer`, and all others count as unreadable and
  incorrect; for other categories, case, surrounding punctuation, lead-ins such as "Answer:", and articles are ignored.
* A question is identified by its key, so that questions with equal text and different meanings are distinct.
* The option of a Choose is identified by the object in its program. The released scorer searches its text for "<answer>
  exist", which finds a table in "Does a vegetable exist?".
* The first child of an Equals is interpreted by its category rather than by the presence of children: the program
  `objExists(o)` names the object of the comparison, a question about an object supplies its answer, and other questions
  are not checked.

In both modes, a question without a prediction is excluded together with everything that depends on its answer; the
released scorer stops at such a question.
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
"""Kinds of questions in each group."""
BANNED = frozenset(name for name, kind in _KINDS.items() if kind.banned)
"""Kinds that are neither scored nor asked, because they can have several correct answers."""
SCORED_GROUPS = tuple(group for group, kinds in GROUPS.items() if not BANNED.issuperset(kinds))
ANSWERED_YES_NO = frozenset(name for name, kind in _KINDS.items() if kind.answer == "yes/no")
EXISTENCE = ANSWERED_YES_NO - {*GROUPS["Equals"]}
"""Kinds whose yes/no answers are compared with that of a parent."""
OBJECT_VALUED = frozenset(name for name, kind in _KINDS.items() if kind.answer == "object")
RULES = tuple(sorted(load_agqa().rules, key=lambda rule: rule in TIMES))
TWO_CHILDREN = frozenset({"Equals", "Xor", "Choose"})

ARTICLES = frozenset({"a", "an", "the", "some"})
NAMED = re.compile(r"(?:objExists\(([^(),]+)\)|equals\(([^(),]+),.*\))$", re.DOTALL)
CUT = (10, -1)
"""Slice of a program such as `objExists(phone)` that the released scorer treats as the object."""


@dataclass(frozen=True, slots=True)
class Node:
    """A question in a graph.

    Attributes:
        key: Key of the prediction, which all nodes of a video share if they are the same question.
        kind: Category, a key of `GROUP_OF`.
        answer: The correct answer, or None if unknown.
        program: Meaning, such as `equals(phone, firstObject(touching, video))`, which names the object of Object Exists
            and Object Equals.
    """

    key: str
    video_id: str
    text: str
    kind: str
    answer: str | None
    program: str = ""


class Edge(NamedTuple):
    """A composition rule that forms a parent from its children. All are given as indices in the graph."""

    parent: int
    rule: str
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionGraph:
    """A compositional question with its graph of sub-questions.

    Attributes:
        nodes: Keys of all questions, with children before parents and the root last.
        edges: Composition rules. The order of children matters for Equals, Choose and Xor. An isolated question,
            without edges, only counts for accuracy.
    """

    root: str
    video_id: str
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class VideoGraphs:
    """All graphs about a video, and their questions by key."""

    video_id: str
    nodes: Mapping[str, Node]
    graphs: Sequence[QuestionGraph]


def check_graph(graph: QuestionGraph, nodes: Mapping[str, Node]) -> None:
    """Raise InputError if a graph is cyclic or unordered, or has an unknown question, category or rule."""
    known = [nodes.get(key) for key in graph.nodes]
    if fault := _fault(graph, known):
        raise InputError(f"graph {graph.root!r} of video {graph.video_id!r} {fault}")


def _fault(graph: QuestionGraph, nodes: Sequence[Node | None]) -> str:
    if not graph.nodes or graph.nodes[-1] != graph.root:
        last = repr(graph.nodes[-1]) if graph.nodes else "nothing"
        return f"ends with {last}. The last node must be the root."
    for key, node in zip(graph.nodes, nodes, strict=True):
        if node is None:
            return f"has the node {key!r}, which is not a question of that video. Pass the questions of all nodes."
        if node.kind not in GROUP_OF:
            return f"has {key!r} of kind {node.kind!r}. Kinds are {', '.join(GROUP_OF)}."
        if node.video_id != graph.video_id:
            return f"has {key!r}, which is about video {node.video_id!r}. All nodes of a graph must be about one video."
    if len(set(graph.nodes)) < len(graph.nodes):
        twice = next(key for key, times in Counter(graph.nodes).items() if times > 1)
        return f"has {twice!r} more than once. A question must be one node, even with several parents."
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
                f"has an edge from node {parent} ({key!r}) to {list(children)}: a cycle, or not in order. Children "
                "must come before their parents."
            )
    return ""


def named_object(program: str) -> str | None:
    """Return the object that a program such as `objExists(phone)` names, or None if it names none directly."""
    found = NAMED.match(program.strip())
    return (found[1] or found[2]).strip() if found else None


@lru_cache(maxsize=1 << 16)
def open_answer(text: str) -> str | None:
    """Normalize an answer other than yes or no, or return None if it has no words."""
    said = plain(LEAD.sub("", plain(FRAME.sub(" ", THOUGHT.sub("", text)))))
    words = said.split()
    kept = [word for word in words if word not in ARTICLES]
    return " ".join(kept or words) or None


@lru_cache(maxsize=1 << 16)
def comparable(text: str, kind: str) -> str | None:
    """Normalize an answer to a question of this kind, or return None if the answer is unreadable."""
    if kind not in ANSWERED_YES_NO:
        return open_answer(text)
    pick = read_answer(text, YES_NO)
    return None if pick is None else YES_NO[pick]


@dataclass(frozen=True)
class ReadAnswers:
    """Normalized answers to the questions of a video. All lists except the last two have one entry per question.

    Attributes:
        says: The predicted answers, or None if missing or unreadable.
        truths: The correct answers, or None if unknown.
        right: Whether the prediction is correct, or None if the question is not scored, because its category is
            excluded or one of the answers is missing.
        absent: Whether a prediction is required but missing.
        released: Whether answers were parsed as by the released scorer.
        missing: Keys of questions without a prediction.
        unreadable: Keys of questions with an unreadable prediction.
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


def read_answers(nodes: Iterable[Node], predictions: Mapping[str, str], *, released: bool = False) -> ReadAnswers:
    """Parse the predictions for questions of one video. Raise InputError if a correct answer is invalid."""
    found = ReadAnswers([], [], [], [], [], [], released, [], [])
    for node in nodes:
        banned = node.kind in BANNED
        given, truth = predictions.get(node.key), node.answer
        said = given
        if not released:
            said = None if given is None else comparable(given, node.kind)
            truth = None if truth is None else comparable(truth, node.kind)
            if truth is None and node.answer is not None and not banned:
                raise InputError(
                    f"question {node.key!r} of kind {node.kind!r} has the invalid correct answer {node.answer!r}: "
                    f"expected {'yes or no' if node.kind in ANSWERED_YES_NO else 'a text'}, or null if unknown."
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
    """Return the predictions of two constant baselines. Always answering yes is almost perfectly consistent.

    "commonest" is the most frequent correct answer in the question's category (the alphabetically first of several), or
    yes if no correct answer is known.
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
