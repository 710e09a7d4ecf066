"""Locate the error in an answer within the graph of sub-questions.

In Figure 1 of AGQA-Decomp (Gandhi et al. 2022), the error path (pink) leads from an incorrect answer down through
incorrect answers to sub-questions. Contradictions (blue) are answers to a parent and its children that cannot all be
true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors import InputError
from .question_graphs import BANNED, Edge, Node, VideoGraphs, check_graph, children_by_rule, consistency, read_answers

RIGHT, WRONG, UNKNOWN, UNASKED = "right", "wrong", "correct answer unknown", "not scored"
UNANSWERED = "not answered"


@dataclass(frozen=True)
class JudgedQuestion:
    """A question of a graph with the verdict on its answer.

    Attributes:
        prediction: The predicted answer verbatim, or None if missing.
        verdict: One of the verdicts above, `UNASKED` for excluded categories.
        on_path: Whether the question is on the error path.
    """

    node: Node
    prediction: str | None
    verdict: str
    on_path: bool


@dataclass(frozen=True)
class QuestionPath:
    """The graph of a question, with the verdicts on all answers.

    Attributes:
        steps: All questions of the graph, with children before parents and the root last.
        edges: The rules, by index in `steps`.
        error_edges: Pairs of parent and child on the error path. The path starts at the root if its answer is
            incorrect. It continues to every child whose answer is incorrect, or is not judged and leads to an incorrect
            one.
        contradictions: Parents, with the rule by which their answers contradict those to their children.
    """

    root: str
    steps: tuple[JudgedQuestion, ...]
    edges: tuple[Edge, ...]
    error_edges: frozenset[tuple[int, int]]
    contradictions: frozenset[tuple[int, str]]

    @property
    def origins(self) -> tuple[int, ...]:
        """Indices of the questions at which error paths end, whose sub-questions have no incorrect answers."""
        going_on = {parent for parent, _ in self.error_edges}
        return tuple(index for index, step in enumerate(self.steps) if step.on_path and index not in going_on)


def question_path(
    video: VideoGraphs, root: str, predictions: Mapping[str, str], *, released: bool = False
) -> QuestionPath:
    """Judge every answer in the graph of a question.

    Raises:
        InputError: The question has no graph in the video, or the graph is invalid.
    """
    graph = next((candidate for candidate in video.graphs if candidate.root == root), None)
    if graph is None:
        known = ", ".join(repr(candidate.root) for candidate in video.graphs[:5]) + ", …" * (len(video.graphs) > 5)
        raise InputError(
            f"question {root!r} is not the root of a graph. Roots of graphs of video {video.video_id!r} "
            f"({len(video.graphs)} in total): {known or 'none'}."
        )
    check_graph(graph, video.nodes)
    nodes = [video.nodes[key] for key in graph.nodes]
    answers = read_answers(nodes, predictions, released=released)
    rules = children_by_rule(graph.edges)
    contradictions = frozenset(
        (parent, rule)
        for parent, by_rule in rules.items()
        if nodes[parent].kind not in BANNED
        for rule in by_rule
        if True in consistency(answers, rules, parent, rule)
    )
    verdicts = [
        UNANSWERED if absent else _verdict(node, right)
        for node, right, absent in zip(nodes, answers.right, answers.absent, strict=True)
    ]
    below = [{child for children in rules.get(index, {}).values() for child in children} for index in range(len(nodes))]
    leads: list[bool] = []
    for verdict, under in zip(verdicts, below, strict=True):
        passes = verdict in (UNKNOWN, UNASKED, UNANSWERED) and any(leads[child] for child in under)
        leads.append(verdict == WRONG or passes)
    on_path = [False] * len(nodes)
    on_path[-1] = verdicts[-1] == WRONG
    error_edges = set[tuple[int, int]]()
    for index in reversed(range(len(nodes))):
        if on_path[index]:
            for child in below[index]:
                if leads[child]:
                    on_path[child] = True
                    error_edges.add((index, child))
    return QuestionPath(
        root=root,
        steps=tuple(
            JudgedQuestion(node, predictions.get(node.key), verdict, on)
            for node, verdict, on in zip(nodes, verdicts, on_path, strict=True)
        ),
        edges=tuple(Edge(*edge) for edge in graph.edges),
        error_edges=frozenset(error_edges),
        contradictions=contradictions,
    )


def _verdict(node: Node, right: bool | None) -> str:
    if node.kind in BANNED:
        return UNASKED
    return UNKNOWN if right is None else RIGHT if right else WRONG


def question_path_json(path: QuestionPath) -> dict[str, Any]:
    """Convert the graph and verdicts of a question to JSON values. Edges refer to indices in `nodes`."""
    contradictory = {parent for parent, _ in path.contradictions}
    return {
        "root": path.root,
        "nodes": [
            {
                "key": step.node.key,
                "question": step.node.text,
                "kind": step.node.kind,
                "answer": step.node.answer,
                "prediction": step.prediction,
                "verdict": step.verdict,
                "contradictory": index in contradictory,
                "on_error_path": step.on_path,
            }
            for index, step in enumerate(path.steps)
        ],
        "edges": [
            {
                "parent": parent,
                "rule": rule,
                "children": list(children),
                "contradictory": (parent, rule) in path.contradictions,
            }
            for parent, rule, children in path.edges
        ],
        "goes_wrong_at": [path.steps[index].node.key for index in path.origins],
    }


def step_text(step: JudgedQuestion) -> str:
    """Format a question, the prediction and the correct answer on one line."""
    if step.prediction is None:
        judged = step.verdict
    elif step.verdict == WRONG:
        judged = f"{step.prediction!r}, wrong: {step.node.answer}"
    else:
        judged = f"{step.prediction!r}, {step.verdict}"
    return f"{step.node.text} [{step.node.kind}] → {judged}"


def question_path_text(path: QuestionPath) -> str:
    """Format the graph of a question as a tree with answers and verdicts.

    A question with several parents is expanded only below the first. "✗" marks the error path, and "↯" a rule by which
    the answer to the parent contradicts those to its children.
    """
    rules = children_by_rule(path.edges)
    lines: list[str] = []
    written = set[int]()
    # Each stack entry has its position in the tree; the stack is explicit because graphs can be deep.
    waiting: list[tuple[int, str, str, tuple[int, int] | None]] = [(len(path.steps) - 1, "", "", None)]
    while waiting:
        index, before, behind, edge = waiting.pop()
        if index < 0:
            lines.append(before)
            continue
        marked = path.steps[index].on_path if edge is None else edge in path.error_edges
        again = " (see above)" if index in written and index in rules else ""
        lines.append(f"{before}{'✗ ' if marked else ''}{step_text(path.steps[index])}{again}")
        if index in written:
            continue
        written.add(index)
        own_rules = list(rules.get(index, {}).items())
        entries: list[tuple[int, str, str, tuple[int, int] | None]] = []
        for position, (rule, children) in enumerate(own_rules):
            last = position == len(own_rules) - 1
            sign = " ↯ contradicts these answers" if (index, rule) in path.contradictions else ""
            entries.append((-1, f"{behind}{'└' if last else '├'}─ {rule}{sign}", "", None))
            inner = behind + ("   " if last else "│  ")
            for at, child in enumerate(children):
                final = at == len(children) - 1
                deeper = inner + ("   " if final else "│  ")
                entries.append((child, f"{inner}{'└' if final else '├'}─ ", deeper, (index, child)))
        waiting.extend(reversed(entries))
    if path.origins:
        lines += ["", "Error origins:", *(f"  {path.steps[index].node.text}" for index in path.origins)]
    return "\n".join(lines)
