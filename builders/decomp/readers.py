"""Readers of what a unit is about: its video's questions, and what is annotated of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...programs.parsing import parse_program
from ...records.plan import Unit
from ...sources.agqa_hierarchies import read_hierarchies
from ...sources.scene_graphs import graph_from_json
from .hierarchies import PublishedGraphs
from .video_graphs import Root, VideoGraphs, graphs_of


@dataclass(frozen=True)
class MadeReader:
    """Reads questions that were made; a unit holds them, and the scene graph."""

    def read(self, unit: Unit) -> VideoGraphs:
        """Return the questions and graphs of a unit's video."""
        roots = [root_of_json(row) for row in unit.payload["roots"]]
        return graphs_of(unit.id, roots, graph_from_json(unit.id, unit.payload["graph"]))


def root_of_json(row: Mapping[str, Any]) -> Root:
    """Return a root from a unit's payload."""
    return Root(**row, question=parse_program(row["program"]))


@dataclass(frozen=True)
class PublishedReader:
    """Reads published hierarchies.

    Attributes:
        files: The file of each video that has one, by its split and id.
    """

    files: Mapping[str, str]

    def read(self, unit: Unit) -> PublishedGraphs:
        """Return the questions and graphs of a unit's video."""
        path = self.files.get(f"{unit.split}/{unit.id}")
        return PublishedGraphs(unit.id, list(read_hierarchies(Path(path))) if path else [], unit.payload["isolated"])
