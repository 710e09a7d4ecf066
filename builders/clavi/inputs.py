"""From annotation files to the plan of a CLAVI build."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...annotations.actions import Action, AnnotatedVideo, Annotations
from ...annotations.charades import class_actions
from ...annotations.clavi import read_released
from ...core.errors import InputError, UsageError
from ...core.files import sha256_file
from ...core.plan import Plan
from ...language.embeddings import sbert_files
from ...negatives.embeddings_cache import embed
from ...templates import load_classes
from .plan import plan_clavi
from .sameness import Sameness, embedded
from .settings import ClaviSettings
from .sources import ALL_SPLITS, Given, collection_of, source_named


def read_plan(
    given: Given,
    *,
    pairs: Sequence[Path],
    limit: int | None,
    version: str,
    tools: Mapping[str, str],
    same_by: str = "lemmas",
) -> Plan:
    """Read the annotations and plan a build.

    Args:
        given: The annotations.
        pairs: Released pairs to rebuild; empty to select them anew.
        limit: Plan only the first so many pairs by id.
        version: Version of the dataset.
        tools: Versions of the tools, as `build.json` has them.
        same_by: "lemmas" or "sbert"; see `builders.clavi.sameness`.

    Raises:
        InputError: Something is missing or malformed.
    """
    settings, collection = given.settings, collection_of(given.settings)
    annotations = collection.read(given)
    inputs = dict(annotations.hashes)
    released = None
    if pairs:
        released = [pair for path in pairs for pair in read_released(path)]
        inputs |= {path.name: sha256_file(path) for path in pairs}
    source = source_named(settings, inputs)
    identity = {"dataset_version": version, "tools": dict(tools), "inputs": inputs, "source": source.as_json()}
    sameness = None
    if settings.collection != "charades":
        annotations = replace(annotations, videos=tuple(v for v in annotations.videos if v.split in given.splits))
        sameness = sameness_of(annotations, same_by)
        identity["sameness"] = sameness.identity()
    if collection.framed:
        identity["timing"] = given.timing.as_json()
    actions = class_actions(load_classes()) if not collection.free or pairs else {}
    return plan_clavi(
        annotations.videos,
        _controls(annotations, actions, free=collection.free),
        settings,
        released=released,
        actions=actions,
        limit=limit,
        identity=identity,
        notes=annotations.counts,
        sameness=sameness,
    )


def sameness_by(settings: ClaviSettings) -> str:
    """Return "lemmas" or "sbert": what was asked for, or of `auto` what can be had here."""
    if settings.same_by != "auto":
        return settings.same_by
    if importlib.util.find_spec("sentence_transformers") is None:
        return "lemmas"
    try:
        sbert_files()
    except InputError:
        return "lemmas"
    return "sbert"


def sameness_of(annotations: Annotations, by: str) -> Sameness:
    """Return what tells which phrases say the same."""
    if by == "lemmas":
        return Sameness()
    phrases = [segment.action.phrase for video in annotations.videos for segment in video.segments]
    return embedded(phrases, embed, sbert_files().name)


def splits_of(settings: ClaviSettings) -> tuple[str, ...]:
    """Return the splits to build.

    Raises:
        UsageError: The collection has no such split.
    """
    splits = collection_of(settings).splits
    if settings.split == "all":
        return splits
    if settings.split not in splits:
        raise UsageError(f"--split {settings.split}: there is no such split. Splits: {', '.join(splits)}, all.")
    return (settings.split,)


def _controls(annotations: Annotations, actions: Mapping[str, Action], *, free: bool) -> dict[str, list[Action]]:
    """Controls come from the classes, or from the same split's phrases, so that style gives none away."""
    if not free:
        usable = [action for action in actions.values() if action.usable]
        return dict.fromkeys(ALL_SPLITS, usable)
    return {split: _distinct(video for video in annotations.videos if video.split == split) for split in ALL_SPLITS}


def _distinct(videos: Iterable[AnnotatedVideo]) -> list[Action]:
    found: dict[str, Action] = {}
    for video in videos:
        for segment in video.segments:
            found.setdefault(segment.action.key, segment.action)
    return [found[key] for key in sorted(found)]
