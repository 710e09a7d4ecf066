"""Where the files of finished units wait for their shards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...core.inside import inside


class Store(Protocol):
    """A place that workers put files to, and that packing takes them from. Instances are pickled to the workers."""

    def scratch(self, unit_id: str) -> Path:
        """Return an empty folder on the worker's own machine for a unit's files."""

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Make the files of a unit durable, after which its receipt may be written.

        Args:
            unit_id: The unit.
            files: Sizes in bytes of the files in its scratch folder, by name.
        """

    def discard(self, unit_id: str) -> None:
        """Remove whatever there is of a unit."""

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Whether files of these sizes are there."""

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of a file, by its name or its hash; nothing if it is not there."""

    def remove(self, unit_id: str, name: str) -> None:
        """Remove a file that a shard holds now."""


@dataclass(frozen=True)
class FolderStore:
    """A folder that all workers see.

    Attributes:
        path: The folder; each unit has one of its own in it.
    """

    path: Path

    def scratch(self, unit_id: str) -> Path:
        """Return an empty folder for a unit's files: the one that they stay in."""
        self.discard(unit_id)
        folder = inside(self.path, unit_id)
        folder.mkdir(parents=True)
        return folder

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Sync the files of a unit."""
        for name in files:
            with open(inside(self.path, f"{unit_id}/{name}"), "rb+") as handle:
                os.fsync(handle.fileno())

    def discard(self, unit_id: str) -> None:
        """Remove whatever there is of a unit."""
        shutil.rmtree(inside(self.path, unit_id), ignore_errors=True)

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Whether files of these sizes are there."""
        paths = {inside(self.path, f"{unit_id}/{name}"): size for name, size in files.items()}
        return all(_is_there(path) and path.stat().st_size == size for path, size in paths.items())

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of a file by its name; nothing if it is not there."""
        path = inside(self.path, f"{unit_id}/{name}")
        return path.read_bytes() if _is_there(path) else b""

    def remove(self, unit_id: str, name: str) -> None:
        """Remove a file, and the unit's folder with its last."""
        folder = inside(self.path, unit_id)
        inside(self.path, f"{unit_id}/{name}").unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _is_there(path: Path) -> bool:
    """Return whether a file is there, and no link, which a stranger may have put in its place."""
    return path.is_file() and not path.is_symlink()
