"""Store the files of finished units until they are packed into shards."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from ...core.files import output_error, sync_and_rename
from ...core.output import inside

PREFIX, LOCK = "stressreel-render-", ".lock"
YOUNG_S = 60.0  # a newer lock file may not have been locked yet

_held: dict[str, tuple[Path, FileLock]] = {}  # scratch folders of this process by unit


class Store(Protocol):
    """Interface of stores, to which workers deliver files that are later packed. Instances can be pickled."""

    def scratch(self, unit_id: str) -> Path:
        """Return an empty local folder for the files of a unit."""

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Store the files of a unit durably, before its receipt is written. `files` maps names to sizes in bytes."""

    def discard(self, unit_id: str) -> None:
        """Remove all files of a unit."""

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Return whether all files exist and have these sizes."""

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of a file by its name or hash, or b"" if it does not exist."""

    def remove(self, unit_id: str, name: str) -> None:
        """Remove a file that has been packed into a shard."""


@dataclass(frozen=True)
class FolderStore:
    """A folder that all workers can access, with a subfolder for each unit."""

    path: Path

    def scratch(self, unit_id: str) -> Path:
        """Return an empty folder for the files of a unit. They remain there."""
        self.discard(unit_id)
        folder = inside(self.path, unit_id)
        folder.mkdir(parents=True)
        return folder

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Sync the files of a unit to disk."""
        for name in files:
            with open(inside(self.path, f"{unit_id}/{name}"), "rb+") as handle:
                os.fsync(handle.fileno())

    def discard(self, unit_id: str) -> None:
        """Remove all files of a unit."""
        shutil.rmtree(inside(self.path, unit_id), ignore_errors=True)

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Return whether all files exist and have these sizes."""
        paths = {inside(self.path, f"{unit_id}/{name}"): size for name, size in files.items()}
        return all(_is_there(path) and path.stat().st_size == size for path, size in paths.items())

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of a file by its name, or b"" if it does not exist."""
        path = inside(self.path, f"{unit_id}/{name}")
        return path.read_bytes() if _is_there(path) else b""

    def remove(self, unit_id: str, name: str) -> None:
        """Remove a file, and also the folder of the unit if it is then empty."""
        folder = inside(self.path, unit_id)
        inside(self.path, f"{unit_id}/{name}").unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _is_there(path: Path) -> bool:
    """Return whether a file exists and is not a link, which someone may have planted."""
    return path.is_file() and not path.is_symlink()


@dataclass(frozen=True)
class SharedFolderStore(FolderStore):
    """A folder that several machines share, for example by NFS. It has the layout of `FolderStore`.

    Files appear atomically, so it is harmless if two workers render the same unit because one was presumed dead.
    """

    def scratch(self, unit_id: str) -> Path:
        """Return an empty local folder in `TMPDIR`."""
        return new_scratch(unit_id, tempfile.gettempdir())

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Copy the files of a unit, sync them to disk and rename them.

        Raises:
            OutputError: The folder cannot be written.
            TransientError: The folder is temporarily unreachable.
        """
        scratch, folder = scratch_of(unit_id), inside(self.path, unit_id)
        writer = f"{os.getpid()}{zlib.crc32(socket.gethostname().encode())}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in files:
                temporary = folder / f".{name}.{writer}.tmp"
                try:
                    shutil.copyfile(scratch / name, temporary)
                    sync_and_rename(temporary, folder / name)
                finally:
                    with suppress(OSError):
                        temporary.unlink(missing_ok=True)
        except OSError as error:
            raise output_error(error, folder) from error
        leave_scratch(unit_id)

    def discard(self, unit_id: str) -> None:
        """Remove all files of a unit from the scratch folder and the store."""
        leave_scratch(unit_id)
        super().discard(unit_id)


def new_scratch(unit_id: str, parent: str) -> Path:
    """Create an empty folder for the files of a unit, locked by this process."""
    _sweep(parent)
    leave_scratch(unit_id)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = FileLock(f"{folder}{LOCK}")
    lock.acquire()
    _held[unit_id] = (folder, lock)
    return folder


def scratch_of(unit_id: str) -> Path:
    """Return the folder that `new_scratch` created."""
    return _held[unit_id][0]


def leave_scratch(unit_id: str) -> None:
    """Remove the folder that `new_scratch` created, if any."""
    if unit_id in _held:
        folder, lock = _held.pop(unit_id)
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


@cache
def _sweep(temporary: str) -> None:
    """Remove the scratch folders of killed processes, whose locks are free. This happens once per process."""
    for left in Path(temporary).glob(f"{PREFIX}*{LOCK}"):
        with suppress(OSError, Timeout):  # it belongs to another user, or is still in use
            if time.time() - left.stat().st_mtime > YOUNG_S:
                with FileLock(left, timeout=0):
                    shutil.rmtree(left.with_suffix(""), ignore_errors=True)
                    left.unlink(missing_ok=True)
