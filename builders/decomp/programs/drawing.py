"""Show a graph of sub-questions as a text tree, as JSON, or as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .decomposition import Step
from .questions import Question, notation, template_of
from .wording import Wording, word


def texts_of(steps: Sequence[Step], root: str | None, wording: Wording = "ours") -> dict[Question, str]:
    """Return the text of every question. If `root` is set, it is the text of the root."""
    texts = {step.question: word(step.question, wording) for step in steps}
    if root:
        texts[steps[-1].question] = root
    return texts


def as_tree(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> str:
    """Format a graph as a text tree. A question with several parents is expanded only where it first occurs."""
    texts = texts_of(steps, root, wording)
    by_question = {step.question: step for step in steps}
    number = {step.question: place for place, step in enumerate(steps)}
    lines: list[str] = []
    shown: set[Question] = set()

    def show(question: Question, indent: str, rule: str) -> None:
        step = by_question[question]
        first = question not in shown
        shown.add(question)
        seen = "" if first or not step.rules else "  (above)"
        lines.append(f"{indent}{rule}[{number[question]}] {texts[question]}  <{step.kind}>{seen}")
        if first:
            for name, children in step.rules:
                for child in children:
                    show(child, indent + "  ", f"{name}: ")

    show(steps[-1].question, "", "")
    count = len(steps) - 1
    lines.append(f"{count} sub-question{'s' * (count != 1)}")
    return "\n".join(lines)


def as_json(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> dict[str, Any]:
    """Return a graph as JSON values: its template, the questions in order, and edges between question numbers."""
    texts = texts_of(steps, root, wording)
    number = {step.question: place for place, step in enumerate(steps)}
    return {
        "template": template_of(steps[-1].question),
        "nodes": [
            {"question": texts[step.question], "kind": step.kind, "program": notation(step.question)} for step in steps
        ],
        "edges": [
            {"parent": number[step.question], "rule": rule, "children": [number[child] for child in children]}
            for step in steps
            for rule, children in step.rules
        ],
    }


def as_dot(steps: Sequence[Step], root: str | None = None, wording: Wording = "ours") -> str:
    """Format a graph in DOT, the language of Graphviz."""
    texts = texts_of(steps, root, wording)
    number = {step.question: place for place, step in enumerate(steps)}
    lines = ["digraph questions {", "  node [shape=box, style=rounded];"]
    for step in steps:
        label = "\\n".join(_quoted(text) for text in (texts[step.question], step.kind))
        lines.append(f'  n{number[step.question]} [label="{label}"];')
    for step in steps:
        for rule, children in step.rules:
            for child in children:
                lines.append(f'  n{number[step.question]} -> n{number[child]} [label="{rule}"];')
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
