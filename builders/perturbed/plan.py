"""MSRVTT-P and YouCook2-P: every clip under 18 visual perturbations at five severities; captions: `perturbed_text`.

Schiappa et al. 2022, "Robustness Analysis of Video-Language Models Against Visual and Language Perturbations" (arXiv
2207.02159), section 3.1 and appendix A.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...corruptions.registry import visual_corruptions
from ...corruptions.visual.engine import Recipe
from ...errors import InputError
from ...records.files import sha256_text
from ...records.plan import Plan, Unit
from ...sources.captions import CaptionedClip
from ...video.index import FrameIndex, index_frames
from .captions import text_tables, text_units
from .combinations import MULTIMODAL, Pair
from .settings import PerturbedSettings
from .tables import CLEAN, suite_configs


def plan_perturbed(
    clips: Sequence[CaptionedClip],
    settings: PerturbedSettings,
    *,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a suite, before any video is touched.

    A unit is a source video with all its clips, and all perturbations if its clips are whole videos. A source of which
    clips are cut may be long, so it gets one unit for each perturbation: a kill loses less, and the source is decoded
    once for each. Captions have units of their own, as they need no video; a combination belongs to its clip.

    Args:
        clips: The captioned clips.
        settings: See `PerturbedSettings`.
        limit: Plan only the first so many clips by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading.

    Raises:
        InputError: The name of a video makes two units one.
    """
    chosen = sorted(clips, key=lambda clip: clip.id)[:limit]
    sources: dict[tuple[str, str], list[CaptionedClip]] = {}
    for clip in chosen:
        sources.setdefault((clip.split, clip.source_id), []).append(clip)
    units = list(text_units(chosen, settings.text_perturbations))
    splits_of = Counter(source for _, source in sources)
    combined = {Pair.read(pair).visual for pair in settings.pairs}
    for (split, source), members in sorted(sources.items()):
        rows = [
            {"clip_id": c.id, "captions": list(c.captions), "start_s": c.start_s, "end_s": c.end_s} for c in members
        ]
        names = [CLEAN, *settings.perturbations]
        whole = all(clip.start_s is None for clip in members)
        for group in [names] if whole else [[name] for name in names]:
            unit_id = source if whole else f"{source}.{group[0]}"
            if splits_of[source] > 1:
                unit_id += f".{split}"
            filled = (*group, *([MULTIMODAL] if combined & set(group) else []))
            units.append(Unit(unit_id, split, source, {"clips": rows, "perturbations": group}, tables=filled))
    for unit_id, times in Counter(unit.id for unit in units).items():
        if times > 1:
            raise InputError(
                f"two pieces of work would both be named {unit_id!r}, as one video is named like a part of another "
                f"(video, perturbation or split, with dots between). Rename the video {unit_id}."
            )
    tables = text_tables(settings.text_perturbations)
    if settings.perturbations:
        table = sha256_text(repr([visual_corruptions()[name] for name in settings.perturbations]))
        tables = {"visual.yaml": table, **tables}
    return Plan(
        builder="perturbed",
        identity={**(identity or {}), "settings": asdict(settings), "limit": limit, "tables": tables},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=suite_configs(settings),
        noun="source video" if all(unit.id == unit.source_id for unit in units) else "unit",
        notes=dict(notes or {}),
    )


def source_frames(recipe: Recipe | None, wanted: Sequence[int], stretch: range) -> Sequence[int]:
    """Find the frames of the source that frames of a recipe are made from.

    A codec predicts frames from earlier ones, so it needs all of these; and no later ones, as it is fed frame by frame.

    Args:
        recipe: What is done; None for nothing.
        wanted: Numbers of frames, increasing.
        stretch: What is perturbed as a whole.

    Returns:
        What is shown at each of the wanted ones, or for a codec all from the beginning on.
    """
    if recipe and recipe.corruption.scope == "index":
        first = stretch.start
        return [first + int(number) for number in recipe.index_map(len(stretch))[[n - first for n in wanted]]]
    if recipe and recipe.corruption.scope == "file":
        return range(stretch.start, wanted[-1] + 1)
    return wanted


Frames = int | slice | Sequence[int] | NDArray[np.integer[Any]] | None
"""Which frames of a clip: all; as many at equal distances; a slice; or positions."""


def positions_of(frames: Frames, count: int, clip_id: str) -> NDArray[np.int64]:
    """Find the frames that are chosen of a clip.

    Args:
        frames: See `load`.
        count: Frames of the clip, at least 1.
        clip_id: The clip.

    Returns:
        int64, shape (frames chosen,), from 0 to count - 1, as ordered.

    Raises:
        InputError: The clip has no such frame, or a slice has none.
    """
    every = np.arange(count, dtype=np.int64)
    if frames is None:
        return every
    if isinstance(frames, int):
        return np.arange(frames, dtype=np.int64) * (count - 1) // max(frames - 1, 1)
    if isinstance(frames, slice):
        if not len(every[frames]):
            raise InputError(f"frames={frames} chooses none of the {count} frames of clip {clip_id}.")
        return every[frames]
    positions = np.array(frames, np.int64)
    outside = positions[(positions < -count) | (positions >= count)]
    if len(outside):
        raise InputError(
            f"clip {clip_id} has no frame {outside[0]}: it has {count}, 0 to {count - 1} (or -{count} to -1, from the "
            "end). Give a number of frames, as frames=8, to choose them by the clip's length."
        )
    return positions % count


def check_frames(frames: Any) -> Frames:
    """Return a choice of frames that is one: NumPy's integers as Python's.

    Raises:
        InputError: It is no number from 1 on, slice, or positions.
    """
    if frames is None or (isinstance(frames, slice) and _is_sound(frames)):
        return cast(Frames, frames)
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool) and frames > 0:
        return int(frames)
    if isinstance(frames, (Sequence, np.ndarray)) and not isinstance(frames, (str, bytes)):
        with suppress(ValueError):  # lists of different lengths
            positions = np.asarray(frames)
            if positions.ndim == 1 and len(positions) and np.issubdtype(positions.dtype, np.integer):
                return positions.astype(np.int64)
    raise InputError(
        f"frames must be a number of frames from 1 on, a slice, or a list of positions, at least one; got {frames!r}"
    )


def _is_sound(chosen: slice) -> bool:
    try:
        chosen.indices(1)
    except (TypeError, ValueError):
        return False
    return True


@lru_cache(maxsize=256)
def _index_of(path: Path, size: int, changed_ns: int, decode: bool) -> FrameIndex:
    return index_frames(path, decode=decode)


def remembered_index(path: Path, *, decode: bool = False) -> FrameIndex:
    """List the frames of a video as `index_frames` does, once while the file does not change."""
    try:
        stat = path.stat()
    except OSError:
        return index_frames(path, decode=decode)
    return _index_of(path, stat.st_size, stat.st_mtime_ns, decode)
