"""Generate the rows for a video's questions and graphs, and copy the video without re-encoding it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...core.files import sha256_file
from ...core.plan import UNSEEN, Facts, Unit
from ...core.schema import Row
from ...video.decode import shape_of, with_index
from ..runtime.source_videos import SourceVideos
from .readers import Reader
from .settings import DecompSettings
from .tables import GRAPHS, QUESTIONS, VIDEOS


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
        found = self.reader.read(unit)
        yield from ((QUESTIONS.name, row) for row in found.rows())
        yield from ((GRAPHS.name, row) for row in found.graphs())
        if facts:
            (name,) = facts["files"]
            shape = {key: value for key, value in facts.items() if key != "files"}
            yield VIDEOS.name, {"video_id": unit.id, **shape, "video": name}
