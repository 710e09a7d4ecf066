"""Names and files that an output brings along: none leads out of it, none is anything but a file or a folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .documents import shortened
from .errors import InputError

SIGNATURE = "model.sig"  # as model-signing's own command line calls it
LEVELS = 3  # tables and their shards; in .build the folders of units, whose files are checked as they are read
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


def inside(folder: Path, name: str) -> Path:
    """Return the path of a name from an output, which has to lie below a folder.

    Args:
        folder: The folder.
        name: A path relative to it, with slashes.

    Raises:
        InputError: It is empty or absolute, is the folder itself, leads out of it (by `..`, or by a link), or holds a
            backslash or a control character.
    """
    parts = name.split("/") if isinstance(name, str) and not FORBIDDEN.search(name) else [""]
    if {"", ".", ".."} & {*parts}:
        raise InputError(
            f"{shortened(name)} is no name for a file in {folder}: expected a relative path without '..', backslashes "
            "or control characters. `stressreel verify` says more."
        )
    path = folder.joinpath(*parts)
    target = resolved(path)
    if target is None or not target.is_relative_to(folder.resolve()):
        raise InputError(f"{shortened(name)} leads out of {folder}, as a link on the way does. Remove the link.")
    return path


def resolved(path: Path) -> Path | None:
    """Return where a path leads, links followed; None if they lead in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # the latter up to Python 3.12
        return None


def foreign_entries(folder: Path) -> Iterator[str]:
    """Name what is neither a file nor a folder of its own in an output, and below: links, pipes, devices.

    The links of a snapshot in the Hugging Face cache lead to its own files in `blobs`, and are taken for these.
    """
    blobs = folder.resolve().parents[1] / "blobs" if folder.resolve().parent.name == "snapshots" else None
    waiting = [(folder, 1)]
    while waiting:
        below, level = waiting.pop()
        entries: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(below) as found:  # a process that builds here removes folders
            entries = sorted(found, key=lambda one: one.name)
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                target = resolved(path)
                if not (blobs and target and target.parent == blobs and target.is_file()):
                    yield f"{path.relative_to(folder).as_posix()} is a link"
            elif entry.is_dir():
                waiting += [(path, level + 1)] * (level < LEVELS)
            elif not entry.is_file() and os.path.lexists(path):
                kind = stat.filemode(os.lstat(path).st_mode)[0]
                what = {"p": "a pipe", "s": "a socket"}.get(kind, "a device")
                yield f"{path.relative_to(folder).as_posix()} is {what}"


def refuse_foreign_entries(folder: Path) -> None:
    """Refuse an output with links or special files in it, as these can lead anywhere.

    Raises:
        InputError: It has some.
    """
    if found := next(foreign_entries(folder), None):
        raise InputError(
            f"{folder}: {shortened(found)}. An output of stressreel holds files and folders alone; a link may lead "
            "anywhere. Remove it, or copy the output with its links resolved if you trust them."
        )
