"""Rows into Parquet shards, and the fingerprint of a dataset's content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import OutputError
from .files import atomic, canonical_json, output_error
from .schema import Config, Row

SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 32_000_000
ROW_GROUP_ROWS = 10_000


@dataclass
class Fingerprint:
    """Hash of row content, in row order, independent of Parquet, shard and row-group borders.

    Embedded video bytes are not hashed: their `sha256` column stands for them.
    """

    _hashes: dict[str, Any] = field(default_factory=dict)

    def add(self, config: Config, split: str, row: Row) -> None:
        """Take in one row of storage values."""
        key = f"{config.name}/{split}"
        plain = {name: row[name] for name in (c.name for c in config.columns if c.kind != "video")}
        self._hashes.setdefault(key, hashlib.sha256()).update((canonical_json(plain) + "\n").encode())

    def parts(self) -> dict[str, str]:
        """Hash of every table, by "config/split"."""
        return {key: self._hashes[key].hexdigest() for key in sorted(self._hashes)}

    def hexdigest(self) -> str:
        """Hash of the whole dataset."""
        return hashlib.sha256(canonical_json(self.parts()).encode()).hexdigest()


def shard_path(config: str, split: str, index: int, count: int) -> str:
    """Name a shard relative to the output folder, as the Hub does."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def cut_into_shards(sizes: Sequence[int], limit: int = SHARD_BYTES) -> list[range]:
    """Group rows into shards of at most `limit` bytes (a larger row gets one of its own), in order."""
    shards, start, total = [], 0, 0
    for index, size in enumerate(sizes):
        if index > start and total + size > limit:
            shards.append(range(start, index))
            start, total = index, 0
        total += size
    shards.append(range(start, len(sizes)))
    return shards


def write_shard(path: Path, config: Config, rows: Iterable[tuple[Row, int]]) -> None:
    """Write one Parquet file atomically.

    Args:
        path: Where it appears.
        config: Its table.
        rows: Storage rows with their size in bytes; a row group closes at 32 MB or 10,000 rows, so memory stays
            bounded and a reader can stream.

    Raises:
        OutputError: The folder cannot be written or the disk is full.
    """
    schema = config.schema()
    videos = [column.name for column in config.columns if column.kind == "video"]
    compression: Any = "zstd"
    if videos:  # compressed already, and PLAIN so that readers can seek in them
        compression = {name: "zstd" for name in _leaves(schema) if name.split(".")[0] not in videos}
    dictionary = [name for name in _leaves(schema) if name.split(".")[0] not in videos]
    try:
        with (
            atomic(path) as temporary,
            pq.ParquetWriter(temporary, schema, compression=compression, use_dictionary=dictionary) as writer,
        ):
            for group in _groups(rows):
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise output_error(error, path) from error


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


def _groups(rows: Iterable[tuple[Row, int]]) -> Iterator[list[Row]]:
    group: list[Row] = []
    total = 0
    for row, size in rows:
        group.append(row)
        total += size
        if total >= ROW_GROUP_BYTES or len(group) >= ROW_GROUP_ROWS:
            yield group
            group, total = [], 0
    if group:
        yield group


def read_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read a shard's rows back, one row group in memory at a time."""
    with pq.ParquetFile(path) as file:
        for index in range(file.num_row_groups):
            yield from file.read_row_group(index, columns=columns).to_pylist()
