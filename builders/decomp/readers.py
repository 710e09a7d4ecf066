"""Read the questions and annotations of one video, from a unit or from the dataset's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...annotations.agqa import QuestionRow, read_rows
from ...annotations.agqa_graphs import GraphFile
from ...annotations.agqa_hierarchies import read_hierarchies
from ...annotations.scene_graphs import graph_from_json
from ...core.errors import InputError
from ...core.plan import Unit
from .hierarchies import PublishedGraphs
from .programs.parsing import parse_program
from .programs.wording import Wording
from .video_graphs import DecomposedVideo, Root, graphs_of


@dataclass(frozen=True)
class MadeReader:
    """Reads generated questions and the scene graph that are stored in the unit itself."""

    wording: Wording

    def read(self, unit: Unit) -> DecomposedVideo:
        """Return the questions of a video and their graphs."""
        roots = [Root(**row, question=parse_program(row["program"])) for row in unit.payload["roots"]]
        return graphs_of(unit.id, roots, graph_from_json(unit.id, unit.payload["graph"]), self.wording)


def root_as_json(root: Root) -> dict[str, Any]:
    """Return the part of a root question that is stored in the payload of a unit."""
    return {each.name: getattr(root, each.name) for each in fields(Root) if each.name != "question"}


@dataclass(frozen=True)
class AgqaReader:
    """Reads AGQA questions from their files, at the positions stored in the unit.

    Attributes:
        files: File of each split.
        stamps: Size and time of these files when they were indexed.
        graphs: Scene graphs by split; may be empty.
    """

    files: Mapping[str, str]
    stamps: Mapping[str, str]
    graphs: Mapping[str, GraphFile]
    wording: Wording

    def read(self, unit: Unit) -> DecomposedVideo:
        """Return the questions of a video and their graphs."""
        spans = [(begin, end) for begin, end in unit.payload["spans"]]
        rows = read_rows(Path(self.files[unit.split]), spans, self.stamps[unit.split])
        graphs, roots = self.graphs.get(unit.split), [root_of_row(row) for row in rows]
        return graphs_of(unit.id, roots, graphs.read(unit.id) if graphs else None, self.wording)


def root_of_row(row: QuestionRow) -> Root:
    """Convert a row of AGQA to a root question. Raise InputError if its program cannot be parsed."""
    try:
        question = parse_program(row.program)
    except InputError as error:
        raise InputError(f"{row.id}: {error}") from error
    flags = row.flags
    return Root(
        row.id, row.question, question, row.answer, row.program, flags.get("novel_comp"), flags.get("more_steps")
    )


@dataclass(frozen=True)
class PublishedReader:
    """Reads published hierarchies. `files` are those of the videos, by split and id."""

    files: Mapping[str, str]

    def read(self, unit: Unit) -> PublishedGraphs:
        """Return the published graphs of a video."""
        path = self.files.get(f"{unit.split}/{unit.id}")
        return PublishedGraphs(unit.id, list(read_hierarchies(Path(path))) if path else [], unit.payload["isolated"])


Reader = MadeReader | AgqaReader | PublishedReader
