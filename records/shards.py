"""Rows into Parquet shards, and the fingerprint of a dataset's content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError, OutputError
from .files import atomic, canonical_json, output_error
from .schema import Config, Row

SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 32_000_000
ROW_GROUP_ROWS = 10_000
MOST_ROWS, MOST_BYTES = 1_000_000, 2_000_000_000  # of a row group that is read; one video may be large

PARQUET_FAULTS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    NotImplementedError,
    MemoryError,
    pa.ArrowException,
)
"""What pyarrow raises on files that are damaged or hostile."""


class ShardError(InputError):
    """A Parquet file of an output cannot be read."""

    def __init__(self, path: Path, error: Exception):
        """Name the file, by its table, and the reason."""
        self.what = f"{path.parent.name}/{path.name} cannot be read"
        reason = " ".join(str(error).split()).rstrip(".")
        super().__init__(
            f"{self.what} ({reason or type(error).__name__}): it is damaged or no "
            "shard of this build. Fetch it again, or build again with --fresh."
        )


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
    """Read a shard's rows back, one row group in memory at a time.

    Raises:
        ShardError: It cannot be read.
    """
    with open_shard(path) as file:
        for index in range(file.num_row_groups):
            yield from file.read_row_group(index, columns=columns).to_pylist()


def read_columns_of(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    """Read some columns of a shard.

    Raises:
        ShardError: As `read_rows`.
    """
    with open_shard(path) as file:
        table = file.read(columns=list(names))
        return {name: table.column(name).to_pylist() for name in names}


def read_footer(path: Path) -> Any:
    """Read a shard's metadata (pyarrow's `FileMetaData`).

    Raises:
        ShardError: As `read_rows`.
    """
    with open_shard(path) as file:
        return file.metadata


@contextmanager
def open_shard(path: Path) -> Iterator[Any]:
    """Open a shard as pyarrow's `ParquetFile`; what goes wrong with it inside the `with` block names the file.

    Raises:
        ShardError: It cannot be read, or claims row groups that no shard has.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_size(file.metadata)
            yield file
    except PARQUET_FAULTS as error:
        raise ShardError(path, error) from error


def _check_size(metadata: Any) -> None:
    """Refuse what a few bytes can claim: row groups that would not fit in memory.

    Raises:
        ValueError: There is one.
    """
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)  # not its columns: pyarrow ends the process on some that are damaged
        if group.num_rows > MOST_ROWS or group.total_byte_size > MOST_BYTES:
            raise ValueError(
                f"row group {index} has {group.num_rows:,} rows and {group.total_byte_size:,} bytes; a shard has "
                f"at most {MOST_ROWS:,} and {MOST_BYTES:,}"
            )
