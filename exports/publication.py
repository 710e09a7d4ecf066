"""List the files of an output that are published, and decide whether its licence allows that."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..core.errors import InputError, UsageError
from ..core.files import SIGNATURE, sha256_file
from ..core.fingerprint import FILE as UNITS
from ..core.output import FinishedOutput
from ..core.output_files import BUILD, CARD, CROISSANT, EVAL, FIGURES, TEXT_SHIFT, own_names
from ..core.source import Source


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
    return name in (BUILD, CARD, CROISSANT, UNITS, EVAL, TEXT_SHIFT, SIGNATURE) or (
        folder in tables and file.endswith(".parquet")
    )


def permission(source: Source, *, videos: bool, confirmed: str | None) -> str:
    """Return the reason why an output may be published.

    Videos are never published if their licence forbids it. Annotations from such a source, and anything from a source
    with an unknown licence, require `confirmed`, the user's reason.

    Raises:
        UsageError: The reason is empty.
        InputError: The output may not be published, or requires a confirmation.
    """
    statement = None if confirmed is None else " ".join(confirmed.split())
    if statement == "":
        raise UsageError("--licence-confirmed is empty. State why you may publish this; your statement is recorded.")
    name = source.license.get("license_name") or source.license.get("license", "unknown")
    stated = f"{source.name}: {name}" + (f" ({source.terms})" if source.terms else "")
    if videos and source.redistributable is False:
        raise InputError(
            f"the videos may not be published. They come from {source.name}, whose terms are: {source.terms}. Push "
            "an output without videos, or share the command and the fingerprint in build.json: anyone with the source "
            "videos can build the same output."
        )
    if source.redistributable is None and statement is None:
        raise InputError(
            f"stressreel does not know whether this may be published. Its source is {stated}. If you may publish "
            'it, state why: --licence-confirmed "…". The statement is recorded in the commit message.'
        )
    if not source.redistributable and statement is None:
        raise InputError(
            f"questions and annotations are derived from {source.name}, whose terms are: {source.terms}. If "
            'you may publish them, state why: --licence-confirmed "…". It is recorded in the commit message.'
        )
    return stated + (f'. Confirmed by the uploader: "{statement}"' if statement else "")
