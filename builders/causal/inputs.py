"""From the files of a CausalChaos build to what it is planned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...annotations.causalchaos import (
    VIDEO_FOLDERS,
    CausalRow,
    first_by_id,
    read_causalchaos,
    read_fps_map,
    read_offsets,
)
from ...core.files import sha256_file
from ...language.cast import derive_cast
from ...language.embeddings import sbert_files
from ...language.tagger import load_tagger
from ...language.words import TaggerKind
from ...negatives.cast import join_casts, read_cast
from ...negatives.confuser import Confuser
from ...negatives.settings import strict
from .plan import Timing, table_hashes
from .settings import CausalSettings


@dataclass(frozen=True)
class CausalFiles:
    """What a build reads besides videos.

    Attributes:
        annotations: `Annotations.csv`, or another of its kind.
        columns: Names of columns that are called otherwise.
        offsets: See `read_offsets`.
        released_offsets: Its reference.
        fps_map: See `read_fps_map`.
        cast: See `read_cast`.
    """

    annotations: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    offsets: Path | None = None
    released_offsets: Path | None = None
    fps_map: Path | None = None
    cast: Path | None = None


@dataclass(frozen=True)
class CausalInputs:
    """What was read.

    Attributes:
        everything: The rows of the annotations, which the cast is found in.
        rows: Those that are built.
        timing: Where annotated frames are in the files.
        hashes: SHA-256 of every file that decides the content, by name.
        counts: Counts from reading.
    """

    everything: Sequence[CausalRow]
    rows: Sequence[CausalRow]
    timing: Timing
    hashes: Mapping[str, str]
    counts: Mapping[str, int]


def read_inputs(files: CausalFiles, settings: CausalSettings, limit: int | None) -> CausalInputs:
    """Read the files of a build.

    Args:
        files: The files; what `settings` do not need is not read.
        settings: See `CausalSettings`.
        limit: Take only the first so many rows by id.

    Raises:
        InputError: A file is malformed.
    """
    read = read_causalchaos(files.annotations, files.columns)
    about_time = (files.offsets, files.released_offsets, files.fps_map) if settings.render else ()
    used = (*about_time, files.cast if settings.confuse or strict(settings) else None)
    return CausalInputs(
        read.rows,
        first_by_id(read.rows, limit),
        read_timing(files) if settings.render else Timing(),
        {**read.hashes, **{path.name: sha256_file(path) for path in used if path}},
        read.counts,
    )


def read_timing(files: CausalFiles) -> Timing:
    """Read where annotated frames are in the video files."""
    return Timing(
        read_offsets(files.offsets, files.released_offsets) if files.offsets else {},
        read_fps_map(files.fps_map) if files.fps_map else {},
    )


def make_confuser(rows: Sequence[CausalRow], cast_file: Path | None, tagger: TaggerKind) -> Confuser:
    """Find who acts in the annotations, add the cast file, and load the tagger."""
    cast = derive_cast(text for row in rows for text in (row.question, row.answer, row.explanation))
    if cast_file:
        cast = join_casts(cast, read_cast(cast_file))
    return Confuser(tagger=load_tagger(tagger), cast=cast)


def encoder_name(model: str | None = None) -> str:
    """Name the sentence encoder as `build.json` does.

    Raises:
        InputError: It is not installed.
    """
    identity = sbert_files(model).identity()
    return f"weights {identity['weights'][:12]} settings {identity['settings'][:12]}"


def causal_identity(
    version: str,
    tools: Mapping[str, str],
    hashes: Mapping[str, str],
    columns: Mapping[str, str] | None,
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what decides a build besides its settings, as `build.json` has it."""
    return {
        "dataset_version": version,
        "tools": dict(tools),
        "inputs": dict(hashes),
        "tables": table_hashes(),
        "columns": dict(columns or {}),
        "source": dict(source),
        "video_folders": list(VIDEO_FOLDERS),
    }
