"""From Charades' annotation files to the plan of a CLAVI build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...records.files import sha256_file
from ...records.plan import Plan
from ...records.source import Source
from ...sources.actions import Action, AnnotatedVideo, Annotations
from ...sources.charades import CHARADES, SAMPLE, class_actions, read_charades
from ...sources.charades_sta import read_charades_sta
from ...sources.clavi import read_released
from ...templates import load_classes
from .plan import plan_clavi
from .settings import ClaviSettings


def read_plan(
    folder: Path,
    sta_folder: Path,
    settings: ClaviSettings,
    *,
    splits: Sequence[str],
    pairs: Sequence[Path],
    limit: int | None,
    version: str,
    tools: Mapping[str, str],
    source: Source = CHARADES,
) -> Plan:
    """Read the annotations and plan a build.

    Args:
        folder: The Charades annotations.
        sta_folder: The Charades-STA annotations, for `settings.source` "sta".
        settings: See `ClaviSettings`.
        splits: The splits to build.
        pairs: Released pairs to rebuild; empty to select them anew.
        limit: Plan only the first so many pairs by id.
        version: Version of the dataset.
        tools: Versions of the tools, as `build.json` has them.
        source: Whose annotations they are.

    Raises:
        InputError: Something is missing or malformed.
    """
    annotations = read_charades(folder, splits)
    actions = class_actions(load_classes())
    released = None
    inputs = dict(annotations.hashes)
    if settings.source == "sta":
        annotations = read_charades_sta(sta_folder, annotations, splits)
        inputs = dict(annotations.hashes)
    if pairs:
        released = [pair for path in pairs for pair in read_released(path)]
        inputs |= {path.name: sha256_file(path) for path in pairs}
    return plan_clavi(
        annotations.videos,
        _controls(annotations, actions, settings.source),
        settings,
        released=released,
        actions=actions,
        limit=limit,
        identity={"dataset_version": version, "tools": dict(tools), "inputs": inputs, "source": source.as_json()},
        notes=annotations.counts,
    )


def source_named(settings: ClaviSettings) -> Source:
    """Return whose annotations settings name."""
    return SAMPLE if settings.charades == "sample" else CHARADES


def _controls(annotations: Annotations, actions: Mapping[str, Action], source: str) -> dict[str, list[Action]]:
    """Controls come from the classes, or from the same split's sentences, so that style gives none away."""
    splits = ("train", "test")
    if source == "actions":
        usable = [action for action in actions.values() if action.usable]
        return dict.fromkeys(splits, usable)
    return {split: _distinct(video for video in annotations.videos if video.split == split) for split in splits}


def _distinct(videos: Iterable[AnnotatedVideo]) -> list[Action]:
    found: dict[str, Action] = {}
    for video in videos:
        for segment in video.segments:
            found.setdefault(segment.action.key, segment.action)
    return [found[key] for key in sorted(found)]
