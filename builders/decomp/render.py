"""Read the questions of a video, generate their rows, and copy the video without re-encoding it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...annotations.agqa import QuestionRow, read_rows
from ...annotations.agqa_graphs import GraphFile
from ...annotations.agqa_hierarchies import read_hierarchies
from ...annotations.scene_graphs import graph_from_json
from ...core.disputed import DISPUTED
from ...core.errors import InputError
from ...core.files import sha256_file
from ...core.plan import UNSEEN, Facts, Unit
from ...core.schema import Row
from ...video.decode import shape_of, with_index
from ..runtime.source_videos import SourceVideos
from .parsing import parse_program
from .settings import DecompSettings
from .tables import GRAPHS, QUESTIONS, VIDEOS
from .video_graphs import DecomposedVideo, PublishedGraphs, Root, graphs_of
from .wording import Wording


@dataclass(frozen=True)
class MadeReader:
    """Reads generated questions and the scene graph that are stored in the unit itself."""

    wording: Wording

    def read(self, unit: Unit) -> DecomposedVideo:
        """Return the questions of a video and their graphs."""
        rows = [row for row in unit.payload["roots"] if row["key"] not in unit.payload.get(DISPUTED, ())]
        roots = [Root(**row, question=parse_program(row["program"])) for row in rows]
        return graphs_of(unit.id, roots, graph_from_json(unit.id, unit.payload["graph"]), self.wording)


def root_as_json(root: Root) -> dict[str, Any]:
    """Return the part of a root question that is stored in the payload of a unit."""
    return {column.name: getattr(root, column.name) for column in fields(Root) if column.name != "question"}


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
        graphs = self.graphs.get(unit.split)
        roots = [root_of_row(row) for row in rows if row.id not in unit.payload.get(DISPUTED, ())]
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
        graphs = list(read_hierarchies(Path(path))) if path else []
        return PublishedGraphs(unit.id, graphs, unit.payload["isolated"], unit.payload.get(DISPUTED, ()))


Reader = MadeReader | AgqaReader | PublishedReader


@dataclass(frozen=True)
class DecompBuilder(SourceVideos):
    """Builds the question graphs of a plan. `videos` contains the path of each video by id."""

    settings: DecompSettings
    reader: Reader
    videos: Mapping[str, str] = field(default_factory=dict)

    def renders(self, unit: Unit) -> bool:
        """Return whether the videos are embedded in the output."""
        return self.settings.embed == "yes"

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Copy the video and measure its size and length; see `core.plan.Builder`."""
        path = self.source(unit)
        file = folder / f"video{path.suffix}"
        facts = with_index(path, shape_of)
        shutil.copyfile(path, file)
        return {**facts, "sha256": sha256_file(file), "files": {file.name: file.stat().st_size}}

    def look(self, unit: Unit) -> Facts:
        """Measure the video without copying it; see `core.plan.Builder`."""
        path = self.source(unit)
        return {**with_index(path, shape_of), "sha256": UNSEEN, "files": {f"video{path.suffix}": UNSEEN}}

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the questions of a video, their graphs and, if videos are embedded, the video."""
        graphs = self.reader.read(unit)
        yield from ((QUESTIONS.name, row) for row in graphs.rows())
        yield from ((GRAPHS.name, row) for row in graphs.graphs())
        if facts:
            (name,) = facts["files"]
            shape = {key: value for key, value in facts.items() if key != "files"}
            yield VIDEOS.name, {"video_id": unit.id, **shape, "video": name}
