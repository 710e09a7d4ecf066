"""Decompose a compositional question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..core.functions import public
from ..core.results import Result, Table

if TYPE_CHECKING:
    from ..builders.decomp.programs.decomposition import Step
    from ..builders.decomp.programs.wording import Wording


@dataclass(frozen=True)
class Decomposition(Result):
    """A question's graph of sub-questions.

    Attributes:
        steps: The questions: children before parents, the root last.
        question: Text of the root; None to generate it from the program.
        wording: Wording of the other questions.
    """

    steps: Sequence[Step]
    question: str | None = None
    wording: Wording = "ours"

    def as_tables(self) -> tuple[Table, ...]:
        """Return the questions, and the edges by question number."""
        found = self.as_json()
        nodes = tuple((number, *node.values()) for number, node in enumerate(found["nodes"]))
        edges = tuple((edge["parent"], edge["rule"], child) for edge in found["edges"] for child in edge["children"])
        return (
            Table("questions", "Questions", ("number", "question", "kind", "program"), nodes),
            Table("edges", "Edges", ("parent", "rule", "child"), edges),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the questions in order, and the edges by question number."""
        from ..builders.decomp.programs.drawing import as_json

        return as_json(self.steps, self.question, self.wording)

    def __str__(self) -> str:
        from ..builders.decomp.programs.drawing import as_tree

        return as_tree(self.steps, self.question, self.wording)

    def render(self, form: str) -> str:
        """Format the graph as "text", "json", "markdown" or "dot" (for Graphviz)."""
        from ..builders.decomp.programs.drawing import as_dot

        return as_dot(self.steps, self.question, self.wording) if form == "dot" else super().render(form)


@public
def decompose(
    program: str, *, question: str | None = None, wording: Literal["ours", "engine"] = "ours"
) -> Decomposition:
    """Decompose a question, given by its `program` in the notation of AGQA 2.0, into its graph of sub-questions.

    Args:
        program: The question's program.
        question: Wording of the question; by default generated from the program.
        wording: Word sub-questions in our English, or like the engine of AGQA-Decomp's authors.

    Raises:
        InputError: The program cannot be parsed.
    """
    from ..builders.decomp.programs.decomposition import decompose as steps_of
    from ..builders.decomp.programs.parsing import parse_program

    return Decomposition(steps_of(parse_program(program)), question, wording)
