"""From annotation files to the plan of a build of question graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...records.plan import Plan, Unit
from ...records.source import Source
from ...records.versions import tool_versions
from ...samples.cache import cached_sample
from ...sources.agqa_hierarchies import SPLITS, find_hierarchies, folder_hashes, read_isolated
from ...sources.charades import CHARADES, read_charades
from ...sources.charades import SAMPLE as CHARADES_SAMPLE
from ...sources.scene_graphs import SceneGraph, graph_as_json
from .plan import plan_decomp, unit_of
from .readers import MadeReader, PublishedReader
from .render import Reader
from .settings import SAMPLE, DecompSettings


@dataclass(frozen=True)
class Inputs:
    """What a build starts from.

    Attributes:
        plan: Its plan.
        reader: Reads what a unit is about.
        source: Whose videos and questions they are.
        places: Where videos may lie.
        warnings: What the user has to know before work starts.
    """

    plan: Plan
    reader: Reader
    source: Source
    places: Sequence[Path]
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class _Found:
    """What was read of a collection."""

    units: Sequence[Unit]
    reader: Reader
    source: Source
    places: Sequence[Path]
    hashes: Mapping[str, str]
    notes: Mapping[str, int]
    warnings: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


def read_inputs(settings: DecompSettings, tools: Mapping[str, str] | None = None) -> Inputs:
    """Read questions and annotations, and plan a build.

    Args:
        settings: As `decided`.
        tools: Versions of the tools, as an earlier build's `build.json` has them; by default those that are here.

    Raises:
        UsageError: There is no such split.
        InputError: Something is missing or malformed.
    """
    found = _READERS[settings.collection](settings)
    plan = plan_decomp(
        found.units,
        settings,
        limit=settings.limit,
        identity={
            "dataset_version": settings.version,
            "tools": dict(tools or tool_versions(render=settings.embed == "yes")),
            "inputs": dict(found.hashes),
            "source": found.source.as_json(),
            "split": settings.split,
        },
        notes=found.notes,
    )
    return Inputs(plan, found.reader, found.source, found.places, found.warnings)


def splits_of(settings: DecompSettings) -> tuple[str, ...]:
    """Return the splits to build."""
    return SPLITS if settings.split == "all" else (settings.split,)


def _of_hierarchies(settings: DecompSettings) -> _Found:
    folder = settings.release_hierarchies
    assert folder is not None
    hashes: dict[str, str] = {}
    files: dict[str, str] = {}
    units, notes = [], Counter[str]()
    for found in find_hierarchies(folder):
        if found.split not in splits_of(settings):
            continue
        hashes |= folder_hashes(found)
        isolated: dict[str, list[Mapping[str, Any]]] = {}
        for row in read_isolated(found.isolated) if found.isolated else []:
            isolated.setdefault(str(row.get("video_id") or str(row["key"]).rpartition("-")[0]), []).append(row)
        files |= {f"{found.split}/{video}": str(path) for video, path in found.files.items()}
        for video in sorted({*found.files, *isolated}):
            alone = isolated.get(video, [])
            notes["isolated_roots"] += len(alone)
            units.append(unit_of(video, found.split, {"isolated": alone}, settings, 1.0))
    if not units:
        raise UsageError(f"--split {settings.split}: {folder} holds no hierarchies of that split.")
    return _Found(units, PublishedReader(files), AGQA_DECOMP, [folder], hashes, notes)


_READERS = {"charades": _of_charades, "agqa": _of_agqa, "release_hierarchies": _of_hierarchies}
