"""Write Parquet shards, and read untrusted ones without exhausting memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .errors import InputError, OutputError
from .files import output_error, regular, sync_and_rename, temporary_path
from .pages import check_pages, chunks_of
from .schema import Config, Row

SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 32_000_000
ROW_GROUP_ROWS = 10_000
MOST_ROWS, MOST_BYTES = 1_000_000, 2_000_000_000  # per row group when reading; a single video may be large

# Limits for reading. A writer closes shards at `SHARD_BYTES` before compression, and row groups at the limits above.
LEAST_PACKED, PACKING = 100_000_000, 50  # dictionary-encoded bytes of a shard: base allowance, and factor of its size
MOST_UNPACKED = 2 * SHARD_BYTES  # decoded texts and numbers of a row group
LEAST_UNPACKED, UNPACKING = ROW_GROUP_BYTES, 200  # decoded texts and numbers of a shard: base allowance, and factor
LEAST_ROWS, ROWS_A_BYTE = 10_000, 10  # rows of a shard: base allowance, and factor
LARGEST_VALUE = 10_000_000  # bytes of a text, or values in a list
BATCH_BYTES = 250_000_000  # per batch of binary values, if each had the size of its row group

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
"""Exceptions that pyarrow raises on damaged or hostile files."""


class ShardError(InputError):
    """Raised when a Parquet file of an output cannot be read."""

    def __init__(self, path: Path, error: Exception):
        self.what = f"{path.parent.name}/{path.name} cannot be read"
        reason = " ".join(str(error).split()).rstrip(".")
        super().__init__(
            f"{self.what} ({reason or type(error).__name__}): it is damaged or not a shard of this build. Download it "
            "again, or build again with --fresh."
        )


def shard_path(config: str, split: str, index: int, count: int) -> str:
    """Return the relative path of a shard, named as on the Hugging Face Hub."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def part_path(config: str, split: str, index: int) -> str:
    """Return the relative path of a shard while the number of shards is still unknown."""
    return f"{config}/{split}-{index:05d}.part"


def is_full(shard_bytes: int, row_bytes: int) -> bool:
    """Return whether a row of this size no longer fits into the shard."""
    return shard_bytes > 0 and shard_bytes + row_bytes > SHARD_BYTES


def shard_writer(target: Any, schema: pa.Schema, videos: Sequence[str] = ()) -> Any:
    """Open a shard (a path or stream) for writing."""
    plain = [name for name in _leaves(schema) if name.split(".")[0] not in videos]
    # Videos are already compressed; PLAIN storage lets readers seek in them.
    compression: Any = dict.fromkeys(plain, "zstd") if videos else "zstd"
    # The page index lets the Hub's viewer read the pages of a few rows instead of row groups.
    return pq.ParquetWriter(target, schema, compression=compression, use_dictionary=plain, write_page_index=True)


class ShardWriter:
    """Writes a Parquet file, which appears under its name only when it is complete.

    Row groups are closed at 32 MB or 10,000 rows, or by `flush`, to bound memory and allow streaming. All methods
    except `abandon` raise OutputError if the file cannot be written.
    """

    def __init__(self, path: Path, config: Config, canary: str = ""):
        self.path, self._schema = path, config.schema(canary)
        self._temporary = temporary_path(path)
        self._held: list[Row] = []
        self.held_bytes = self.bytes = self.rows = 0
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._writer = shard_writer(self._temporary, self._schema, config.videos)
            except OSError:
                self._temporary.unlink(missing_ok=True)
                raise

    def add(self, row: Row, size: int) -> None:
        """Add a row of storage values, which take about `size` bytes."""
        self._held.append(row)
        self.held_bytes += size
        self.bytes += size
        self.rows += 1
        if self.held_bytes >= ROW_GROUP_BYTES or len(self._held) >= ROW_GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows added so far as a row group."""
        if self._held:
            with self._explained():
                self._writer.write_table(pa.Table.from_pylist(self._held, schema=self._schema))
        self._held, self.held_bytes = [], 0

    def close(self) -> None:
        """Complete the file, flush it to disk, and rename it to its final path."""
        self.flush()
        with self._explained():
            self._writer.close()
            sync_and_rename(self._temporary, self.path)

    def abandon(self) -> None:
        """Remove the unfinished file, ignoring errors."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OutputError:
            raise
        except OSError as error:
            raise output_error(error, self.path) from error


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
    """Yield the rows of a shard, reading one row group at a time. Raise ShardError if it cannot be read."""
    with open_shard(path) as file:
        for index in range(file.num_row_groups):
            yield from group_rows(file, index, columns)


def chosen_rows(paths: Iterable[Path], key: str, wanted: AbstractSet[str]) -> Iterator[Row]:
    """Yield the rows whose value in column `key` is one of `wanted`."""
    for path in paths:
        with open_shard(path) as file:
            for group in range(file.num_row_groups):
                if not wanted.isdisjoint(row[key] for row in group_rows(file, group, [key])):
                    yield from (row for row in group_rows(file, group) if row[key] in wanted)


def row_reader(columns: Sequence[str]) -> Callable[[Path, int], Row]:
    """Return a function that reads a row of a shard by its number, and caches the last two row groups.

    The function raises ShardError if the shard cannot be read, and LookupError if it has no such row.
    """

    @lru_cache(maxsize=2)  # at most 32 MB each
    def group(path: Path, index: int) -> list[Row]:
        with open_shard(path) as file:
            return list(group_rows(file, index, columns))

    def read(path: Path, row_number: int) -> Row:
        footer, left = read_footer(path), row_number
        for index in range(footer.num_row_groups):
            rows = footer.row_group(index).num_rows
            if left < rows:
                return group(path, index)[left]
            left -= rows
        raise LookupError(f"{path.name} has no row {row_number}")

    return read


def read_columns_of(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of some columns of a shard, by column name."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    with open_shard(path) as file:
        for index in range(file.num_row_groups):
            for batch in _batches(file, index, names, use_threads=True):
                for name in names:
                    columns[name] += values(batch.column(name))
    return columns


def group_rows(file: Any, index: int, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a row group in an open shard, or raise ValueError if it exceeds the limits."""
    for batch in _batches(file, index, columns):
        if not any(map(_holds_dictionary, batch.schema.types)):
            yield from batch.to_pylist()
            continue
        names = batch.schema.names
        for row in zip(*map(values, batch.columns), strict=True):
            yield dict(zip(names, row, strict=True))


def measure(path: Path, groups: int | None = None) -> None:
    """Check a shard against the limits before another library reads it. Raise ShardError if it exceeds them."""
    with open_shard(path) as file:
        for index in range(file.num_row_groups)[:groups]:
            for _ in _batches(file, index):
                pass


def whole(file: Any, groups: Iterable[int] | None = None) -> Any:
    """Read an open shard, or some of its row groups, as an Arrow table."""
    names = file.schema_arrow.names
    groups = range(file.num_row_groups) if groups is None else groups
    batches = [batch for index in groups for batch in _batches(file, index, names)]
    return pa.Table.from_batches(batches, None if batches else file.schema_arrow)


def _batches(
    file: Any, index: int, columns: Sequence[str] | None = None, *, use_threads: bool = False
) -> Iterator[Any]:
    """Yield a row group in batches that fit in memory, regardless of the decoded size.

    A small file can refer to one text in thousands of rows, or pack a thousand zeros into a byte. Texts are therefore
    read as dictionaries and measured before they are expanded; beyond the size of a written row group, they remain
    dictionaries. All row groups share an allowance derived from the shard's size. Batches with binary columns are
    limited so that they fit in memory even if each value had the size of the row group.
    """
    about = file.metadata.row_group(index)
    if about.num_rows <= 0:  # pyarrow writes no pages in this case
        return
    file.check_pages(index)
    size = max(about.num_rows, 1)
    if any(pa.types.is_binary(kind) for kind in _leaf_types(file.schema_arrow, columns)):
        size = max(1, min(size, BATCH_BYTES // max(about.total_byte_size, 1)))
    most = min(MOST_UNPACKED, file.room - sum(used for group, used in file.taken.items() if group != index))
    room = {"bytes": 2 * about.total_byte_size + LEAST_PACKED, "others": most}
    for batch in file.iter_batches(size, row_groups=[index], columns=columns, use_threads=use_threads):
        left = room["others"]
        for column in batch.columns:
            _measure(column, room)
        file.taken[index] = max(file.taken.get(index, 0), most - room["others"])
        if left - room["others"] <= ROW_GROUP_BYTES:
            batch = batch.cast(pa.schema([(field.name, _plain(field.type)) for field in batch.schema]))
        yield batch


def _measure(array: Any, room: dict[str, int]) -> None:
    """Subtract the size of an array from the remaining allowance, or raise ValueError if it does not fit."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        lengths = pc.fill_null(pc.binary_length(array.dictionary), 0)
        if (pc.max(lengths).as_py() or 0) > LARGEST_VALUE:
            raise ValueError(f"a text has more than {LARGEST_VALUE:,} bytes")
        room["others"] -= 4 * len(array) + (pc.sum(lengths.cast(pa.int64()).take(array.indices)).as_py() or 0)
    elif pa.types.is_struct(kind):
        for inner in array.flatten():
            _measure(inner, room)
    elif pa.types.is_list(kind):
        if (pc.max(pc.list_value_length(array)).as_py() or 0) > LARGEST_VALUE:
            raise ValueError(f"a list has more than {LARGEST_VALUE:,} values")
        room["others"] -= 4 * len(array)
        _measure(array.flatten(), room)
    else:
        room["bytes" if pa.types.is_binary(kind) else "others"] -= array.nbytes
    if min(room.values()) < 0:
        raise ValueError("its uncompressed size is implausible for a file of this size")


def _plain(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind


def _holds_dictionary(kind: Any) -> bool:
    return not kind.equals(_plain(kind))


def values(array: Any) -> list[Any]:
    """Convert an Arrow array to a list as `to_pylist` does, but share one object among equal texts."""
    kind = array.type
    if not _holds_dictionary(kind):
        objects: list[Any] = array.to_pylist()
        return objects
    if pa.types.is_dictionary(kind):
        words = array.dictionary.to_pylist()
        return [None if at is None else words[at] for at in array.indices.to_pylist()]
    if pa.types.is_list(kind):
        inner = values(array.values)
        ends = array.offsets.to_pylist()
        valid_rows = array.is_valid().to_pylist()
        return [
            inner[first:last] if valid else None
            for first, last, valid in zip(ends, islice(ends, 1, None), valid_rows, strict=False)
        ]
    names = [field.name for field in kind]
    columns = [values(array.field(index)) for index in range(kind.num_fields)]
    valid_rows = array.is_valid().to_pylist()
    return [
        dict(zip(names, row, strict=True)) if valid else None
        for row, valid in zip(zip(*columns, strict=True), valid_rows, strict=True)
    ]


def unpacked_bytes(metadata: Any) -> int:
    """Return the total uncompressed size of a shard's row groups in bytes."""
    return sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))


def read_footer(path: Path) -> Any:
    """Return a shard's metadata (pyarrow's `FileMetaData`)."""
    with open_shard(path) as file:
        return file.metadata


@contextmanager
def open_shard(path: Path) -> Iterator[Any]:
    """Open a shard as a `pyarrow.parquet.ParquetFile`. Read errors in the `with` block become ShardError."""
    try:
        size = regular(path).stat().st_size
        with pq.ParquetFile(path) as file:
            metadata = file.metadata
            _check_size(metadata, size)
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=text_columns(metadata.schema)) as file:
            file.check_pages = _pages_of(path, metadata)
            file.room, file.taken = LEAST_UNPACKED + UNPACKING * size, {}  # allowance, and its consumption by row group
            yield file
    except PARQUET_FAULTS as error:
        raise ShardError(path, error) from error


def _pages_of(path: Path, metadata: Any) -> Callable[[int], None]:
    chunks = cache(partial(chunks_of, path))

    def check(index: int) -> None:
        about = metadata.row_group(index)
        with open(path, "rb") as file:
            check_pages(file, chunks()[index], about.num_rows, about.total_byte_size)

    return check


def _check_size(metadata: Any, size: int) -> None:
    packed = 0
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)  # not its columns: pyarrow crashes the process on some damaged ones
        if group.num_rows > MOST_ROWS or group.total_byte_size > MOST_BYTES:
            raise ValueError(
                f"row group {index} has {group.num_rows:,} rows and {group.total_byte_size:,} bytes; a shard has "
                f"at most {MOST_ROWS:,} and {MOST_BYTES:,}"
            )
        packed += max(group.total_byte_size, 0)
    check_claims(metadata.num_rows, packed, size)


def check_claims(rows: int, packed: int, size: int) -> None:
    """Raise ValueError if the stated rows and uncompressed bytes are implausible for the size of the shards."""
    if rows > LEAST_ROWS + ROWS_A_BYTE * size or packed > LEAST_PACKED + PACKING * size:
        raise ValueError(
            f"it states {rows:,} rows and {packed:,} bytes of data, which is implausible for {size:,} bytes"
        )


def text_columns(schema: Any) -> list[str]:
    """Return the names of all text columns, including those nested in lists and records."""
    columns = map(schema.column, range(len(schema)))
    return [column.path for column in columns if column.converted_type == "UTF8"]


def _leaf_types(schema: pa.Schema, columns: Sequence[str] | None) -> Iterator[pa.DataType]:
    def below(kind: pa.DataType, path: str) -> Iterator[tuple[str, pa.DataType]]:
        if pa.types.is_nested(kind):
            for index in range(kind.num_fields):
                yield from below(kind.field(index).type, f"{path}.{kind.field(index).name}")
        else:
            yield path, kind

    for field in schema:
        for path, kind in below(field.type, field.name):
            if columns is None or any(path == name or path.startswith(f"{name}.") for name in columns):
                yield kind
