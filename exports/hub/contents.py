"""List the files of an output that are published, and compute their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...builders.runtime.own_files import BUILD, CROISSANT, FIGURES, own_names
from ...core.card_file import CARD
from ...core.errors import InputError
from ...core.files import sha256_file
from ...core.fingerprint import FILE as UNITS
from ...core.inside import SIGNATURE
from ...core.output import FinishedOutput
from ...evaluation.metrics.text_shift import FILE as TEXT_SHIFT


@dataclass(frozen=True)
class File:
    """A file of an output. `name` is its path relative to the output, and also in the repository."""

    name: str
    path: Path
    size: int


@dataclass(frozen=True)
class HashedFile(File):
    """A file with the hashes by which the Hub identifies it: SHA-256 for large files, Git's SHA-1 for others."""

    sha256: str
    blob: str


def files_of(output: FinishedOutput) -> list[File]:
    """Return the files of an output to publish, sorted by name. Raise InputError if one is missing."""
    names = own_names(output)
    missing = [name for name in names if not (output.path / name).is_file()]
    if missing:
        raise InputError(f"{output.path} lacks {', '.join(missing[:5])}. Run `stressreel verify` for details.")
    return [File(name, output.path / name, (output.path / name).stat().st_size) for name in sorted(set(names))]


def hashed(file: File) -> HashedFile:
    """Compute the SHA-256 and Git's SHA-1 of a file."""
    with open(file.path, "rb") as handle:
        blob = hashlib.file_digest(handle, partial(hashlib.sha1, b"blob %d\0" % file.size, usedforsecurity=False))
    return HashedFile(file.name, file.path, file.size, sha256_file(file.path), blob.hexdigest())


def is_pushed(name: str, tables: Collection[str]) -> bool:
    """Return whether `stressreel push` may have written this file, given the names of the output's tables."""
    folder, _, file = name.rpartition("/")
    if folder == FIGURES:
        return file.endswith(".png")
    return name in (BUILD, CARD, CROISSANT, UNITS, TEXT_SHIFT, SIGNATURE) or (
        folder in tables and file.endswith(".parquet")
    )
