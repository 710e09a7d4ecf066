"""Decompose a compositional question into sub-questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..core.functions import public
from ..core.results import Result, Table

if TYPE_CHECKING:
    from ..builders.decomp.decomposition import Step
    from ..builders.decomp.wording import Wording


@dataclass(frozen=True)
class Decomposition(Result):
    """A question decomposed into a graph of sub-questions.

    Attributes:
        steps: The questions, with children before parents and the root last.
        question: Text of the root question, or None to generate it from the program.
        wording: Wording of the other questions.
        dot: Whether to print the graph for Graphviz.
    """

    steps: Sequence[Step]
    question: str | None = None
    wording: Wording = "ours"
    dot: bool = False

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the questions, and a table of the edges between question numbers."""
        graph = self.as_json()
        nodes = tuple((index, *node.values()) for index, node in enumerate(graph["nodes"]))
        edges = tuple((edge["parent"], edge["rule"], child) for edge in graph["edges"] for child in edge["children"])
        return (
            Table("questions", "Questions", ("number", "question", "kind", "program"), nodes),
            Table("edges", "Edges", ("parent", "rule", "child"), edges),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the questions in order, and the edges between question numbers."""
        from ..builders.decomp.decomposition import as_json

        return as_json(self.steps, self.question, self.wording)

    def __str__(self) -> str:
        from ..builders.decomp.decomposition import as_dot, as_tree

        return (as_dot if self.dot else as_tree)(self.steps, self.question, self.wording)

    def render(self, form: str) -> str:
        """Format the graph as "text", "json", "markdown" or, for Graphviz, "dot"."""
        from ..builders.decomp.decomposition import as_dot

        return as_dot(self.steps, self.question, self.wording) if form == "dot" else super().render(form)


@public
def decompose(
    program: str, *, question: str | None = None, wording: Literal["ours", "engine"] = "ours", dot: bool = False
) -> Decomposition:
    """Decompose a compositional question into sub-questions.

    The question is given by its `program` in the notation of AGQA 2.0, and the sub-questions form a graph.

    For example::

        stressreel decompose "Exists(phone, Iterate(video, Filter(frame, [objects])))"

    Args:
        program: The question's program.
        question: Wording of the question; by default generated from the program.
        wording: Whether sub-questions are worded as in stressreel (ours) or as by the engine of AGQA-Decomp (engine).
        dot: Print the graph in the language of Graphviz.

    Raises:
        InputError: The program cannot be parsed.
    """
    from ..builders.decomp.decomposition import decompose as steps_of
    from ..builders.decomp.parsing import parse_program

    return Decomposition(steps_of(parse_program(program)), question, wording, dot)
