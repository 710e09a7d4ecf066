"""Rows into Parquet shards, as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError, OutputError
from .files import output_error, sync_and_rename, temporary_path
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
                    self._temporary,
                    self._schema,
                    compression=compression,
                    use_dictionary=plain,
                    write_page_index=True,  # so that the Hub's viewer reads the pages of a few rows, not row groups
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
    """Read a shard's rows back, one row group in memory at a time.

    Raises:
        ShardError: It cannot be read.
    """
    with open_shard(path) as file:
        for index in range(file.num_row_groups):
            yield from file.read_row_group(index, columns=columns, use_threads=False).to_pylist()


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
