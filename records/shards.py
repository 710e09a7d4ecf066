"""Rows into Parquet shards, as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import OutputError
from .files import output_error, sync_and_rename, temporary_path
from .schema import Config, Row

SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 32_000_000
ROW_GROUP_ROWS = 10_000


def shard_path(config: str, split: str, index: int, count: int) -> str:
    """Name a shard relative to the output folder, as the Hub does."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def part_path(config: str, split: str, index: int) -> str:
    """Name a shard while it is not known how many there will be."""
    return f"{config}/{split}-{index:05d}.part"


class ShardWriter:
    """Writes one Parquet file, a row group at a time; it appears when it is finished.

    A row group closes at 32 MB or 10,000 rows, so memory stays bounded and a reader can stream; `flush` closes one
    sooner.
    """

    def __init__(self, path: Path, config: Config):
        """Write the rows of a table.

        Args:
            path: Where it appears.
            config: Its table.

        Raises:
            OutputError: The folder cannot be written.
        """
        self.path, self._schema = path, config.schema()
        self._temporary = temporary_path(path)
        self._held: list[Row] = []
        self.held_bytes = self.bytes = self.rows = 0
        videos = [column.name for column in config.columns if column.kind == "video"]
        plain = [name for name in _leaves(self._schema) if name.split(".")[0] not in videos]
        # Videos are compressed already, and PLAIN so that readers can seek in them.
        compression: Any = dict.fromkeys(plain, "zstd") if videos else "zstd"
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._writer = pq.ParquetWriter(
                    self._temporary, self._schema, compression=compression, use_dictionary=plain
                )
            except OSError:
                self._temporary.unlink(missing_ok=True)
                raise

    def add(self, row: Row, size: int) -> None:
        """Take in one row of storage values, of about so many bytes."""
        self._held.append(row)
        self.held_bytes += size
        self.bytes += size
        self.rows += 1
        if self.held_bytes >= ROW_GROUP_BYTES or len(self._held) >= ROW_GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Close the row group.

        Raises:
            OutputError: The disk is full.
        """
        if self._held:
            with self._explained():
                self._writer.write_table(pa.Table.from_pylist(self._held, schema=self._schema))
        self._held, self.held_bytes = [], 0

    def close(self) -> None:
        """Finish the file: sync it, and give it its name.

        Raises:
            OutputError: The disk is full.
        """
        self.flush()
        with self._explained():
            self._writer.close()
            sync_and_rename(self._temporary, self.path)

    def abandon(self) -> None:
        """Remove what was written, even where nothing more can be written."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _explained(self) -> _Explained:
        return _Explained(self.path)


class _Explained:
    """Turns the system's refusal to write into an OutputError."""

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise output_error(error, self._path) from error


def write_shard(path: Path, config: Config, rows: Iterable[tuple[Row, int]]) -> None:
    """Write one Parquet file at once, atomically.

    Args:
        path: Where it appears.
        config: Its table.
        rows: Storage rows with their size in bytes.

    Raises:
        OutputError: The folder cannot be written or the disk is full.
    """
    writer = ShardWriter(path, config)
    try:
        for row, size in rows:
            writer.add(row, size)
        writer.close()
    except BaseException:
        writer.abandon()
        raise


def _leaves(schema: pa.Schema) -> list[str]:
    names = []
    for item in schema:
        if pa.types.is_struct(item.type):
            names += [f"{item.name}.{child.name}" for child in item.type]
        elif pa.types.is_list(item.type):
            names.append(f"{item.name}.list.element")
        else:
            names.append(item.name)
    return names


def read_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read a shard's rows back, one row group in memory at a time."""
    with pq.ParquetFile(path) as file:
        for index in range(file.num_row_groups):
            yield from file.read_row_group(index, columns=columns).to_pylist()
