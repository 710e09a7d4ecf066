"""Check paths, write files atomically, and compute hashes of files and texts."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import DiskFullError, InputError, OutputError, TransientError, UsageError

ENDINGS = (".parquet", ".csv", ".jsonl")

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Serialize a value to canonical JSON, which has sorted keys, no spaces, and only ASCII characters."""
    return _CANONICAL.encode(value)


def sha256_text(text: str) -> str:
    """Return the SHA-256 of a text, encoded as UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def regular(path: Path) -> Path:
    """Return the path unchanged, or raise InputError for a FIFO, device or socket, which may block readers."""
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):
        return path
    if kind in KINDS:
        raise InputError(f"{path} is {KINDS[kind]}. Provide a regular file.")
    return path


def resolved(path: Path) -> Path:
    """Return the absolute path without links. Raise InputError if its links form a cycle."""
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            raise InputError(f"the links of {path} form a cycle. Remove them, or use another path.") from error
    return Path(os.path.realpath(path))


def broken_link(path: Path) -> str:
    """Describe the link that prevents a path, or a folder above it, from being opened; "" if there is none."""
    for link in (path, *path.parents):
        if os.path.islink(link):
            try:
                os.stat(link)
            except OSError as error:
                known = {errno.ENOENT: "does not exist", errno.ELOOP: "leads into a cycle of links"}
                why = known.get(error.errno or 0, f"cannot be opened ({error.strerror})")
                return f"{link} is a link to {os.readlink(link)}, which {why}."
    return ""


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(regular(path), "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def user_cache() -> Path:
    """Return the user's cache folder, `$XDG_CACHE_HOME/stressreel` (default `~/.cache/stressreel`)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel"


FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk, and of an exceeded quota."""

PASSING = {getattr(errno, name) for name in ("ESTALE", "ETIMEDOUT", "EREMOTEIO") if hasattr(errno, name)}
"""Error numbers of a network file system that is temporarily unavailable."""

SIGNATURE = "model.sig"
EVAL = "eval.yaml"  # see `data_cards.leaderboard`
"""File with the signature of an output; the default of model-signing's command line."""

TEMPORARY = re.compile(r"\..+\.[0-9]+\.tmp(\.[^.]+)?")


def remove_temporaries(folder: Path) -> None:
    """Remove temporary files that killed processes left behind. The caller must hold the folder's lock."""
    for path in folder.rglob(".*"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def file_stamp(path: Path) -> str:
    """Return the size and modification time of a file as a text, or "" if the file does not exist."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def temporary_path(path: Path) -> Path:
    """Return a temporary path beside a file, in a form that `remove_temporaries` recognizes."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")


def sync_and_rename(temporary: Path, path: Path) -> None:
    """Flush a finished temporary file to disk, and rename it to its final path."""
    with open(temporary, "rb+") as handle:
        os.fsync(handle.fileno())
    rename(temporary, path)


def rename(old: Path, new: Path) -> None:
    """Rename a file within its folder, and flush the folder to disk."""
    os.replace(old, new)
    _sync_folder(new.parent)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` on success and is removed on error.

    Raises:
        OutputError: The folder cannot be written, or the disk is full.
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
    """Write a small file atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(_encoded(content) if isinstance(content, str) else content)


def _encoded(text: str) -> bytes:
    """Encode a text, with lone surrogates, as in file names that are not UTF-8, escaped."""
    return text.encode("utf-8", "backslashreplace")


def as_json(value: Any) -> bytes:
    """Return the content of an indented JSON file, with the keys in their order."""
    return _encoded(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_json(path: Path, value: Any) -> None:
    """Write a value to an indented JSON file atomically, preserving the order of keys."""
    write_atomic(path, as_json(value))


def output_error(error: OSError, path: Path) -> OutputError:
    """Return an OutputError that explains why a file could not be written, and what to do."""
    if error.errno in FULL:
        other = "choose a folder on another disk"
        if path.is_relative_to(user_cache()):
            other = "set XDG_CACHE_HOME to a folder on another disk, as this one is in the cache"
        return DiskFullError(
            f"no space left while writing {path}. Finished work is kept: free some space and run the same command "
            f"again to continue, or {other}."
        )
    if error.errno in PASSING:
        return TransientError(
            f"{path} is temporarily unreachable: {error.strerror or error}. Finished work is kept: run the same "
            "command again to continue."
        )
    advice = "Choose a writable folder with --out."
    if path.is_relative_to(user_cache()):
        advice = "Set XDG_CACHE_HOME to a writable folder."
    return OutputError(f"cannot write {path}: {error.strerror or error}. {advice}")


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # Windows cannot sync a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_outside(folder: Path | str | None, out: Path, *, option: str = "--to") -> None:
    """Raise UsageError if a folder is inside an output, which may contain only files from its build."""
    if folder is not None and out.is_dir() and resolved(Path(folder)).is_relative_to(resolved(out)):
        raise UsageError(f"{folder} is inside the output. Choose another folder with {option}.")


def check_place(
    path: Path, out: Path, read: Sequence[Path] = (), *, option: str, endings: Sequence[str] = ENDINGS
) -> None:
    """Check the path of a file to be written, before anything is computed.

    Args:
        path: The path.
        out: The output or file with questions that is read.
        read: Other files that are read.
        option: The option for the path.
        endings: Allowed extensions.

    Raises:
        OutputError: The folder is not writable.
        UsageError: The path is in `out` or would overwrite an input, or its extension is not allowed.
    """
    if path.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{path} must end in {allowed}. Choose another file name with {option}.")
    for input_path in (out, *read):
        if resolved(path).is_relative_to(resolved(input_path)):
            what = "is inside the output" if input_path.is_dir() else "is an input file and would be overwritten"
            raise UsageError(f"{path} {what}. Choose another path with {option}.")
    check_writable(path, option=option)


def check_writable(path: Path, *, option: str) -> None:
    """Raise OutputError if a file cannot be written because of its folder."""
    parent_folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not (parent_folder.is_dir() and os.access(parent_folder, os.W_OK)):
        why = "may not be written to" if parent_folder.is_dir() else "is a file"
        raise OutputError(f"cannot write {path}: {parent_folder} {why}. Choose another path with {option}.")


def write_table(path: Path, columns: dict[str, list[object]]) -> str:
    """Write a table in the format of the file extension, and return a message such as "Wrote a.csv".

    Raises:
        OutputError: The file cannot be written.
    """
    import csv

    import pyarrow as pa
    import pyarrow.parquet as pq

    done = f"Overwrote {path}" if path.exists() else f"Wrote {path}"
    with atomic(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pq.write_table(pa.table(columns), temporary, compression="zstd")
            return done
        with open(temporary, "w", encoding="utf-8", newline="") as handle:
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
            if path.suffix.lower() == ".jsonl":
                handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(handle, list(columns))
                writer.writeheader()
                writer.writerows(rows)
    return done
