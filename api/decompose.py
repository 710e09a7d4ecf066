"""Take a compositional question apart."""

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
        steps: Its questions: children before parents, the root last.
        question: The root's own words; None if they are made from the program.
        wording: How the others are worded.
    """

    steps: Sequence[Step]
    question: str | None = None
    wording: Wording = "ours"

    def as_tables(self) -> tuple[Table, ...]:
        """Return the questions, and the edges, by the numbers of their questions."""
        found = self.as_json()
        nodes = tuple((number, *node.values()) for number, node in enumerate(found["nodes"]))
        edges = tuple((edge["parent"], edge["rule"], child) for edge in found["edges"] for child in edge["children"])
        return (
            Table("questions", "Questions", ("number", "question", "kind", "program"), nodes),
            Table("edges", "Edges", ("parent", "rule", "child"), edges),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the template, the questions in order, and the edges by their numbers."""
        from ..builders.decomp.programs.drawing import as_json

        return as_json(self.steps, self.question, self.wording)

    def __str__(self) -> str:
        from ..builders.decomp.programs.drawing import as_tree

        return as_tree(self.steps, self.question, self.wording)

    def render(self, form: str) -> str:
        """Write the graph as "text", "json", "markdown" or "dot", for Graphviz."""
        from ..builders.decomp.programs.drawing import as_dot

        return as_dot(self.steps, self.question, self.wording) if form == "dot" else super().render(form)


@public
def decompose(
    program: str, *, question: str | None = None, wording: Literal["ours", "engine"] = "ours"
) -> Decomposition:
    """Take one question apart, whose `program` is written as in AGQA 2.0, and show its graph of sub-questions.

    Args:
        program: The question's program.
        question: The question's own words; by default they are made from the program.
        wording: Word sub-questions in our English, or as the engine of AGQA-Decomp's authors does.

    Raises:
        InputError: It is no program.
    """
    from ..builders.decomp.programs.decomposition import decompose as take_apart
    from ..builders.decomp.programs.parsing import parse_program

    return Decomposition(take_apart(parse_program(program)), question, wording)
