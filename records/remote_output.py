"""A finished output in object storage: what is read of it is copied to this machine first, whole files, once."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import user_cache
from .objects import Found, Objects
from .output import FinishedOutput

AT_ONCE = 4


@dataclass(frozen=True)
class RemoteOutput(FinishedOutput):
    """A finished output in object storage.

    Attributes:
        path: The folder of the user's cache that holds what was read so far.
        info: The content of `build.json`.
        objects: Where it is.
    """

    objects: Objects = field(default_factory=lambda: Objects(""))

    def shards(self, config: str, split: str | None = None) -> list[Path]:
        """List the shards of a table, in order; those that were not read before are copied first.

        Raises:
            InputError: They cannot be read.
        """
        found = [each for each in self.objects.list(config + "/") if _is_shard(each.key, split)]
        self._copy(found)
        return sorted(self.path / each.key for each in found)

    def complete(self) -> None:
        """Copy all of it to this machine.

        Raises:
            InputError: It cannot be read.
        """
        self._copy([found for found in self.objects.list() if not found.key.startswith(".build/")])

    def _copy(self, wanted: list[Found]) -> None:
        def one(found: Found) -> None:
            path, stamp = self.path / found.key, self.path / ".versions" / _name(found)
            if not (path.is_file() and stamp.is_file()):
                self.objects.fetch(found.key, path)
                stamp.parent.mkdir(parents=True, exist_ok=True)
                stamp.touch()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(one, wanted):
                pass


def open_remote(objects: Objects, info: dict[str, Any]) -> RemoteOutput:
    """Open an output in object storage: its small files are copied now, tables when they are read.

    Args:
        objects: Where it is.
        info: The content of its `build.json`.

    Raises:
        InputError: It cannot be read.
    """
    name = hashlib.sha256(f"{objects.url} {info.get('fingerprint')}".encode()).hexdigest()[:16]
    folder = user_cache() / "outputs" / name
    output = RemoteOutput(folder, info, objects)
    tables = tuple(f"{table}/" for table in (*info["counts"], ".build"))
    output._copy([found for found in objects.list() if not found.key.startswith(tables)])
    (folder / "from.json").write_text(json.dumps({"url": objects.url}) + "\n", encoding="utf-8")
    return output


def _is_shard(key: str, split: str | None) -> bool:
    name = key.rpartition("/")[2]
    return name.endswith(".parquet") and "-of-" in name and (split is None or name.startswith(f"{split}-"))


def _name(found: Found) -> str:
    return hashlib.sha256(f"{found.key} {found.size} {found.etag}".encode()).hexdigest()[:32]
