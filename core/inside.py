"""Ensure that an untrusted output refers only to regular files inside its own folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .documents import shortened
from .errors import InputError
from .files import resolved

SIGNATURE = "model.sig"  # default of model-signing's command line
LEVELS = 3  # tables and their shards; in .build the folders of units, whose files are checked when read
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


def inside(folder: Path, name: str) -> Path:
    """Join a folder and a relative path that comes from an untrusted output.

    Raises:
        InputError: The name is not a relative path below the folder (after resolving links), or contains a backslash or
            a control character.
    """
    parts = name.split("/") if isinstance(name, str) and not FORBIDDEN.search(name) else [""]
    if {"", ".", ".."} & {*parts}:
        raise InputError(
            f"{shortened(name)} is not a valid file name in {folder}: expected a relative path without '..', "
            "backslashes or control characters. Run `stressreel verify` for details."
        )
    path = folder.joinpath(*parts)
    if not resolved(path).is_relative_to(resolved(folder)):
        raise InputError(f"{shortened(name)} is a link that leads outside {folder}. Remove the link.")
    return path


def foreign_entries(folder: Path) -> Iterator[str]:
    """Yield a line for each entry of an output that is neither a regular file nor a folder.

    In a snapshot of the Hugging Face cache, links to files in its `blobs` folder count as files.
    """
    snapshots = resolved(folder).parent
    blobs = snapshots.parent / "blobs" if snapshots.name == "snapshots" else None
    waiting = [(folder, 1)]
    while waiting:
        below, level = waiting.pop()
        entries: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(below) as found:  # a running build may remove folders
            entries = sorted(found, key=lambda one: one.name)
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                target = Path(os.path.realpath(path))
                if not (target.parent == blobs and target.is_file()):
                    yield f"{path.relative_to(folder).as_posix()} is a link"
            elif entry.is_dir():
                if level < LEVELS:
                    waiting.append((path, level + 1))
            elif not entry.is_file() and os.path.lexists(path):
                kind = stat.filemode(os.lstat(path).st_mode)[0]
                what = {"p": "a pipe", "s": "a socket"}.get(kind, "a device")
                yield f"{path.relative_to(folder).as_posix()} is {what}"


def refuse_foreign_entries(folder: Path) -> None:
    """Raise InputError if an output contains links or special files."""
    if found := next(foreign_entries(folder), None):
        raise InputError(
            f"{folder}: {shortened(found)}. Outputs of stressreel may contain only files and folders, because a link "
            "can point anywhere. Remove it, or copy the output with links resolved if you trust them."
        )
