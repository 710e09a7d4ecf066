"""Files that appear whole or not at all, and their hashes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import InputError, OutputError, TransientError

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Serialise to the one JSON text that equal values share (sorted keys, no spaces, ASCII)."""
    return _CANONICAL.encode(value)


def sha256_text(text: str) -> str:
    """SHA-256 of a text, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def regular(path: Path) -> Path:
    """Return a path that may be opened: a FIFO may never say anything, and a device never end.

    What is not there, is a folder or cannot be looked at, is left to the opening, which says why.

    Raises:
        InputError: It is a FIFO, a device or a socket.
    """
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):
        return path
    if kind in KINDS:
        raise InputError(f"{path} is {KINDS[kind]}; give a regular file.")
    return path


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as hex."""
    with open(regular(path), "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def user_cache() -> Path:
    """Return the user's cache folder, `$XDG_CACHE_HOME/stressreel` (default `~/.cache/stressreel`)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel"


PASSING = {getattr(errno, name) for name in ("ESTALE", "ETIMEDOUT", "EREMOTEIO") if hasattr(errno, name)}
"""What a network file system says when it was away for a moment."""

TEMPORARY = re.compile(r"\..+\.[0-9]+\.tmp(\.[^.]+)?")


def remove_temporaries(folder: Path) -> None:
    """Remove what writers that were killed left in a folder and below; only for whoever holds the folder."""
    for path in folder.rglob(".*"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def file_stamp(path: Path) -> str:
    """Return what a file looks like without reading it: its size and time of change; empty if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def temporary_path(path: Path) -> Path:
    """Return where a file is written before it gets its name; `remove_temporaries` knows it."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")


def sync_and_rename(temporary: Path, path: Path) -> None:
    """Make a finished file durable and give it its name."""
    with open(temporary, "rb+") as handle:
        os.fsync(handle.fileno())
    rename(temporary, path)


def rename(old: Path, new: Path) -> None:
    """Rename a file in its folder so that it stays renamed when the power fails."""
    os.replace(old, new)
    _sync_folder(new.parent)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Return a temporary path in the same folder; on success sync it and rename it to `path`.

    On any exception the temporary file is removed and `path` stays what it was.

    Raises:
        OutputError: The folder cannot be written or the disk is full.
    """
    temporary = temporary_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        sync_and_rename(temporary, path)
    except OSError as error:
        if isinstance(error, OutputError) or error.errno is None:
            raise
        raise output_error(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a whole small file by way of `atomic`."""
    with atomic(path) as temporary:
        # Half a character, such as of a file's name that is not UTF-8, is written as JSON escapes it.
        temporary.write_bytes(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file for people to read: indented, keys in the given order."""
    write_atomic(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def output_error(error: OSError, path: Path) -> OutputError:
    """Turn the operating system's refusal to write `path` into a paragraph that says what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OutputError(
            f"no space left while writing {path}. What was finished is kept: free some space and run the same "
            "command again to go on from here, or start over in another --out."
        )
    if error.errno in PASSING:
        return TransientError(
            f"{path} cannot be reached just now: {error.strerror or error}. What was finished is kept: run the same "
            "command again to go on from here."
        )
    return OutputError(f"cannot write {path}: {error.strerror or error}. Give an --out folder that you may write to.")


def _sync_folder(folder: Path) -> None:
    """Make a rename durable where the system lets a folder be synced (not on Windows)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
