"""Represent graphs of sub-questions, parse the answers to them, and count contradictions between the answers.

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

*Contradictions* are counted between predictions, not with correct answers. Each of nine rules has two counters, whose
conditions are exactly those of the released scorer (commit "Corrected IC score computation"; the paper mentions ten
rules, in a table of its supplement). First, Last, Longer Choose and Shorter Choose have no counters. A rule does not
apply to a parent if a required prediction is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...core.errors import InputError
from ...evaluation.metrics.answers import FRAME, LEAD, THOUGHT, YES_NO, plain, read_answer
from ...templates.agqa import load_agqa

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


def children_by_rule(edges: Iterable[Edge]) -> dict[int, dict[str, tuple[int, ...]]]:
    """Return the children of each parent by rule."""
    rules: dict[int, dict[str, tuple[int, ...]]] = {}
    for parent, rule, children in edges:
        rules.setdefault(parent, {})[rule] = tuple(children)
    return rules


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
    match = NAMED.match(program.strip())
    return (match[1] or match[2]).strip() if match else None


@lru_cache(maxsize=1 << 16)
def open_answer(text: str) -> str | None:
    """Normalize an answer other than yes or no, or return None if it has no words."""
    answer = plain(LEAD.sub("", plain(FRAME.sub(" ", THOUGHT.sub("", text)))))
    words = answer.split()
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
    answers = ReadAnswers([], [], [], [], [], [], released, [], [])
    for node in nodes:
        banned = node.kind in BANNED
        verbatim, truth = predictions.get(node.key), node.answer
        prediction = verbatim
        if not released:
            prediction = None if verbatim is None else comparable(verbatim, node.kind)
            truth = None if truth is None else comparable(truth, node.kind)
            if truth is None and node.answer is not None and not banned:
                raise InputError(
                    f"question {node.key!r} of kind {node.kind!r} has the invalid correct answer {node.answer!r}: "
                    f"expected {'yes or no' if node.kind in ANSWERED_YES_NO else 'a text'}, or null if unknown."
                )
        if prediction is None and not banned:
            (answers.missing if verbatim is None else answers.unreadable).append(node.key)
        answers.nodes.append(node)
        answers.says.append(prediction)
        answers.truths.append(truth)
        answers.right.append(None if banned or truth is None or verbatim is None else prediction == truth)
        answers.absent.append(verbatim is None and not banned)
        answers.names.append(node.text if released else node.key)
    return answers


def constant_answers(nodes: Sequence[Node]) -> dict[str, dict[str, str]]:
    """Return the predictions of two constant baselines. Always answering yes is almost perfectly consistent.

    "commonest" is the most frequent correct answer in the question's category (the alphabetically first of several), or
    yes if no correct answer is known.
    """
    truths: dict[str, Counter[str]] = {}
    for node in {(node.video_id, node.key): node for node in nodes}.values():
        if node.answer is not None:
            truths.setdefault(node.kind, Counter())[node.answer] += 1
    best = {kind: min(counts, key=lambda answer: (-counts[answer], answer)) for kind, counts in truths.items()}
    scored = [node for node in nodes if node.kind not in BANNED]
    return {
        "always yes": {node.key: YES for node in scored},
        "commonest": {node.key: best.get(node.kind, YES) for node in scored},
    }


Verdict = tuple[bool | None, bool | None]
"""Whether a parent is inconsistent by each of a rule's two counters, or None if the counter does not apply."""
RulesOfGraph = Mapping[int, Mapping[str, Sequence[int]]]
"""Children by parent and rule, as positions among the answers; see `children_by_rule`."""

CONSISTENCY: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("Interaction", "Equals", "And", "Xor"), ("Yes", "No")),
    "Choose": ("Temporal", "Object"),
    **dict.fromkeys(TIMES, ("Yes", "No")),
}
"""The counters of each rule."""
COUNTERS = tuple((rule, counter) for rule, both in CONSISTENCY.items() for counter in both)
CONSISTENCY_OF_GROUP: Mapping[str, tuple[str, ...]] = {
    "Relation Exists": ("Interaction",),
    "Interaction": ("Interaction",),
    "Interaction Temporal Localization": ("Interaction", *TIMES),
    "Exists Temporal Localization": TIMES,
    "Conjunction": ("And", "Xor"),
    "Choose": ("Choose",),
    "Equals": ("Equals",),
}
"""Rules whose counters are averaged for the consistency of a group. Other groups have no consistency."""

UNCOUNTED: Verdict = (None, None)


def consistency(answers: ReadAnswers, rules: RulesOfGraph, parent: int, rule: str) -> Verdict:
    """Check whether the answer to a parent is consistent with the answers to its children, by one rule.

    Returns:
        Whether the answers are inconsistent by the first counter ("Yes" or "Temporal") and by the second ("No" or
            "Object").
    """
    if rule not in CONSISTENCY:
        return UNCOUNTED
    says, children = answers.says, rules[parent][rule]
    answer = says[parent]
    if rule == "Interaction" or rule in TIMES or rule == "And":
        existence = [child for child in children if answers.nodes[child].kind in EXISTENCE]
        if not existence or _lacking(answers, parent, existence):
            return UNCOUNTED
        below = [says[child] for child in existence]
        all_yes, some_no = all(answer_below == YES for answer_below in below), NO in below
        if rule in ("And", "Between"):
            return _both(answer, all_yes, some_no)
        return (not all_yes) if answer == YES else None, answer != NO if some_no else None
    if any(answers.nodes[child].kind in BANNED for child in children) or _lacking(answers, parent, children):
        return UNCOUNTED
    first, second = (says[child] for child in children)
    if rule == "Xor":
        return _both(answer, first == YES and second == NO, not (first == YES and second == NO))
    if rule == "Equals":
        return _equals(answers, rules, parent, children)
    if answer in (BEFORE, AFTER):
        return (first, second) != ((YES, NO) if answer == BEFORE else (NO, YES)), None
    option = _option(answers, rules, answer, children)
    return None, None if option is None else (first, second) != ((YES, NO), (NO, YES))[option]


def single_verdict(verdict: Verdict, rule: str, answer: str | None) -> bool | None:
    """Reduce a verdict to one of its counters, for the correlation of consistency and accuracy.

    The counter is "Yes" if the answer to the parent is yes, "No" if it is no, and otherwise the one that applies.
    """
    first, second = verdict
    if rule != "Choose" and answer == YES:
        return first
    if rule != "Choose" and answer == NO:
        return second
    return second if first is None else first


def _lacking(answers: ReadAnswers, parent: int, children: Sequence[int]) -> bool:
    return any(answers.absent[node] for node in (parent, *children))


def _both(answer: str | None, yes: bool, no: bool) -> Verdict:
    return _one(answer == YES, yes, yes), _one(answer == NO, no, no)


def _one(is_said: bool, agreed: bool, demanded: bool) -> bool | None:
    """Evaluate a counter: children must support the parent's answer, and an answer they imply must be given."""
    if is_said:
        return not agreed
    return True if demanded else None


def _equals(answers: ReadAnswers, rules: RulesOfGraph, parent: int, children: Sequence[int]) -> Verdict:
    """Compare the answer to "is it o?" with the answers about o and about the object that is compared with o."""
    if answers.nodes[parent].kind != "Object Equals":
        return UNCOUNTED
    answer, first, second = (answers.says[node] for node in (parent, *children))
    asks = answers.nodes[children[0]]
    if answers.released:
        compared = None if children[0] in rules else asks.program[slice(*CUT)]
        two_answers = children[0] in rules
    else:
        name = named_object(asks.program) if asks.kind == "Object Exists" else None
        compared = None if name is None else open_answer(name)
        two_answers = asks.kind in OBJECT_VALUED
    if two_answers:
        same = first is not None and first == second
        return _both(answer, same, not same)
    if compared is None:
        return UNCOUNTED
    named, there = second == compared, first == YES
    return _one(answer == YES, named and there, named), _one(answer == NO, not named, not (named and there))


def _option(answers: ReadAnswers, rules: RulesOfGraph, answer: str | None, children: Sequence[int]) -> int | None:
    """Return the option that an answer selects, or None if it selects neither or the options are not objects."""
    if answer is None:
        return None
    compared = [rules.get(child, {}).get("Equals") for child in children]
    for option, (child, below) in enumerate(zip(children, compared, strict=True)):
        if below is None or None in compared:
            return None
        if answers.released:
            is_named = f"{answer} exist" in answers.nodes[below[0]].text
        else:
            names = (named_object(answers.nodes[node].program) for node in (child, below[0]))
            is_named = answer in [open_answer(name) for name in names if name is not None]
        if is_named:
            return option
    return None
