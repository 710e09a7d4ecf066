"""Prepare a build of question graphs: load the inputs, plan the build, and find the videos."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...core.plan import noted
from ...video.source_files import video_folder
from ..base import Prepared
from ..runtime.source_videos import find_sources
from .inputs import read_inputs
from .readers import Reader
from .render import DecompBuilder
from .settings import DecompSettings, decided


@dataclass(frozen=True)
class PreparedDecomp(Prepared):
    """A planned build of question graphs, which `reader` reads from units."""

    reader: Reader = field(kw_only=True)

    def describe(self) -> str:
        """Return the text of a dry run. This requires decomposing every question."""
        plan = self.plan
        lines = ["Plan (nothing was written):"]
        width = max(map(len, [*plan.splits, "all"])) + 1
        roots, below = Counter[str](), Counter[str]()
        for split in plan.splits:
            units, before = [unit for unit in plan.units if unit.split == split], roots.total()
            for graph in (graph for unit in units for graph in self.reader.read(unit).graphs()):
                roots[graph["template"]] += 1
                below[graph["template"]] += len(graph["nodes"]) - 1
            lines.append(f"  {split:<{width}}{len(units):>7,} videos, {roots.total() - before:,} questions")
        lines.append("  sub-questions for each question (the paper has 11.49):")
        rows = [(name, roots[name], below[name]) for name in sorted(roots)]
        for name, count, total in (*rows, ("all", roots.total(), below.total())):
            lines.append(f"    {name:<26}{count:>10,}  {total / max(1, count):6.2f}")
        lines += [f"  {line}" for line in noted(plan)]
        if self.settings.embed == "no":
            return "\n".join([*lines, "  the dataset contains the videos' ids, not the videos (--embed no)"])
        return "\n".join([*lines, *self.videos()])


def prepare(settings: DecompSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load or generate the questions, plan the build and find the videos.

    Raises:
        UsageError: Options are incompatible.
        InputError: Questions or annotations cannot be read.
    """
    settings = decided(settings)
    plan, collection = read_inputs(settings)
    found: Mapping[str, Path] = {}
    places = [video_folder(Path(settings.videos))] if settings.videos else collection.places
    if settings.embed == "yes":
        found = find_sources(plan, places, collection.source.video_folders)

    videos = {name: str(path) for name, path in found.items()}
    builder = DecompBuilder(settings, collection.reader, videos)
    folders = collection.source.video_folders
    return PreparedDecomp(
        plan, builder, settings, found, places, folders, warnings=collection.warnings, reader=collection.reader
    )
