"""A finished output, opened for reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .schema import Row
from .shards import read_rows


@dataclass(frozen=True)
class FinishedOutput:
    """A finished output.

    Attributes:
        path: The folder.
        info: The content of `build.json`.
    """

    path: Path
    info: dict[str, Any]

    def shards(self, config: str, split: str | None = None) -> list[Path]:
        """List the shards of a table, in order."""
        found = (self.path / config).glob(f"{split or '[!.]*'}-*-of-*.parquet")  # not what a killed writer left
        return sorted(found)

    def splits(self, config: str) -> list[str]:
        """Name the splits of a table, as `build.json` has them."""
        return list(self.info["counts"].get(config, {}))

    def rows(self, config: str, columns: Sequence[str] | None = None, split: str | None = None) -> Iterator[Row]:
        """Read the rows of a table, all splits in the order of `build.json` unless one is named."""
        for name in [split] if split else self.splits(config):
            for path in self.shards(config, name):
                yield from read_rows(path, columns)

    def whole(self, config: str, columns: Sequence[str] | None = None, split: str | None = None) -> Iterator[Row]:
        """Read rows as `rows` does, for those who rely on them all being there.

        Raises:
            InputError: A shard cannot be read, or rows are missing.
        """
        import pyarrow as pa

        for name in [split] if split else self.splits(config):
            found = 0
            try:
                for row in self.rows(config, columns, name):
                    found += 1
                    yield row
            except (OSError, pa.ArrowException) as error:
                raise InputError(f"{self.path}, table {config}: {error}. `stressreel verify` says more.") from error
            self.check_count(config, name, found)

    def check_count(self, config: str, split: str, found: int) -> None:
        """Compare the rows that were found with those that were built.

        Raises:
            InputError: They differ.
        """
        built = self.info["counts"].get(config, {}).get(split, 0)
        if found != built:
            raise InputError(
                f"{self.path}, table {config}, split {split}: {found:,} rows are there, {built:,} were built. Files "
                "are missing or of another build; `stressreel verify` says more."
            )


def open_output(path: Path) -> FinishedOutput:
    """Open the output of a build.

    Raises:
        InputError: There is none, or it was not finished.
    """
    file = path / "build.json"
    if not file.is_file():
        started = (path / ".build").is_dir()
        raise InputError(
            f"{path} holds a build that was not finished: run the same build command again to go on."
            if started
            else f"{path} is not the output of a build: it has no build.json. Give the folder that --out named."
        )
    try:
        info = json.loads(file.read_text(encoding="utf-8"))
        return FinishedOutput(path, {**info, "counts": dict(info["counts"]), "builder": str(info["builder"])})
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file} is damaged ({type(error).__name__}: {error}). Build again with --fresh.") from error
