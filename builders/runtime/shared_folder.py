"""A store for several machines: units are rendered on a worker's own disk, and files are copied to it whole."""

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

from filelock import FileLock, Timeout

from ...core.files import output_error, sync_and_rename
from ...core.inside import inside
from .store import FolderStore

PREFIX, LOCK = "stressreel-render-", ".lock"
YOUNG_S = 60.0  # a lock file this young may not be held yet

_held: dict[str, tuple[Path, FileLock]] = {}  # scratch folders of this process, by unit


@dataclass(frozen=True)
class SharedFolderStore(FolderStore):
    """A folder that several machines see, such as one of NFS, laid out as `FolderStore` has it.

    A file appears in it whole or not at all, so that a unit which two workers render, because one was thought dead,
    ends as if one had.
    """

    def scratch(self, unit_id: str) -> Path:
        """Return an empty folder on this machine, in `TMPDIR`."""
        _sweep(tempfile.gettempdir())
        _leave(unit_id)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = FileLock(f"{folder}{LOCK}")
        lock.acquire()
        _held[unit_id] = (folder, lock)
        return folder

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Copy the files of a unit, sync them, and give them their names.

        Raises:
            OutputError: The folder cannot be written.
            TransientError: It cannot be reached just now.
        """
        scratch, folder = _held[unit_id][0], inside(self.path, unit_id)
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
        _leave(unit_id)

    def discard(self, unit_id: str) -> None:
        """Remove whatever there is of a unit, here and there."""
        _leave(unit_id)
        super().discard(unit_id)


def _leave(unit_id: str) -> None:
    """Remove the scratch folder of a unit, if this process has one."""
    if unit_id in _held:
        folder, lock = _held.pop(unit_id)
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


@cache
def _sweep(temporary: str) -> None:
    """Remove, once in a process, scratch folders of processes that were killed: those whose locks nobody holds."""
    for left in Path(temporary).glob(f"{PREFIX}*{LOCK}"):
        with suppress(OSError, Timeout):  # of another user, or of a process that lives
            if time.time() - left.stat().st_mtime > YOUNG_S:
                with FileLock(left, timeout=0):
                    shutil.rmtree(left.with_suffix(""), ignore_errors=True)
                    left.unlink(missing_ok=True)
