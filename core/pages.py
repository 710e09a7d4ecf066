"""Check the page headers of untrusted Parquet files, which could otherwise exhaust memory.

pyarrow trusts page headers over the footer, and a page of thirty bytes can claim a list of a billion numbers. This
module parses the headers, in a subset of Thrift's compact protocol, before pyarrow reads the pages, and rejects content
that pyarrow might parse differently. It does not use pyarrow's `FileMetaData`, because `row_group(i).column(j)` crashes
on some damaged footers.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

Chunk = tuple[int, int]
"""Start and end of a column's pages in a file."""

LARGEST_FOOTER = 10_000_000  # bytes
MOST_PAGES = 10_000  # per row group; a row group is closed at 10,000 rows or 32 MB
MOST_MORE = 30_000_000  # values in a row group beyond one per row and column, for lists
MOST = 2**31 - 1  # largest number in a header; pyarrow truncates larger ones to 32 bits
COUNTED = {0: 5, 2: 7, 3: 8}  # field with the number of values, by page type: data, dictionary, data version 2

STRUCT, DEEPEST = 12, 10
HEADER, INDEX = (0,), (-1,)  # paths of the structs beside the footer: page headers, and the indexes of pages
TYPES = {
    **dict.fromkeys(((2,), (4,), (5,), (7,), (4, 1), (4, 4), (4, 1, 3, 8), (4, 1, 3, 13)), STRUCT),
    **{(4, 1, 3, 2): 5, (4, 1, 3, 3): 8, (4, 1, 3, 16, 2): 6, (4, 1, 3, 16, 3): 6, (4, 1, 3, 17, 2): 5},
    (4, 1, 3, 11): 6,  # with another type, pyarrow would treat this optional field as absent
}
"""Types of list items in a footer, by field numbers: pyarrow expects these, whatever type a list declares."""


def chunks_of(path: Path) -> list[list[Chunk]]:
    """Return the byte range of every column in each row group.

    Raises:
        ValueError, TypeError, LookupError: The footer is damaged, or not that of a shard.
    """
    with open(path, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        if length > LARGEST_FOOTER:
            raise ValueError(f"its footer has {length:,} bytes; the limit is {LARGEST_FOOTER:,}")
        file.seek(size - 8 - length)
        footer = parse_struct(io.BytesIO(file.read(length)))
    if "parquet-mr" in str(footer.get(6)).lower():
        raise ValueError(
            "it was written by parquet-mr, early versions of which make readers read past the end of columns"
        )
    return [[_chunk(column[3], size) for column in group[1]] for group in footer[4]]


def _chunk(about: dict[int, Any], size: int) -> Chunk:
    start = min(about[9], about.get(11) or about[9])
    end = start + about[7]
    if not 0 <= start <= end <= size:
        raise ValueError("a column lies outside the file")
    return start, end


def check_pages(file: BinaryIO, chunks: Sequence[Chunk], rows: int, unpacked: int) -> None:
    """Check that the pages of a row group contain no more than the footer states.

    Raises:
        ValueError, LookupError, TypeError: The pages contain more, or are damaged.
    """
    most, pages, num_values = len(chunks) * rows + MOST_MORE, 0, 0
    for chunk in chunks:
        for values, size in _pages(file, *chunk):
            pages, num_values, unpacked = pages + 1, num_values + values, unpacked - size
            if unpacked < 0:
                raise ValueError("its pages decompress to more bytes than the footer states")
            if pages > MOST_PAGES or num_values > most:
                raise ValueError(
                    f"it has at least {num_values:,} values in {pages:,} pages, too many for {rows:,} rows"
                )


def _pages(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        file.seek(start)
        header = parse_struct(file, HEADER)
        unpacked, packed, values = sizes = header[2], header[3], header[COUNTED[header[1]]][1]
        if not 0 <= min(sizes) <= max(sizes) <= MOST:
            raise ValueError("a page is damaged")
        yield values, unpacked
        start = file.tell() + packed


def parse_struct(file: BinaryIO, path: tuple[int, ...] = ()) -> dict[int, Any]:
    """Parse a Thrift struct by field number; `path` lists the enclosing field numbers.

    Long texts are cut, unless `file` is in memory.
    """
    values: dict[int, Any] = {}
    field = 0
    while head := file.read(1)[0]:
        field = field + (head >> 4) if head >> 4 else _integer(file)
        if field in values or not 0 <= field < 2**15 or len(path) > DEEPEST:
            raise ValueError("a field is repeated or nested too deeply")
        values[field] = head & 15 == 1 if head & 15 in (1, 2) else _value(file, head & 15, (*path, field))
    return values


def _value(file: BinaryIO, kind: int, path: tuple[int, ...]) -> Any:
    if kind in (4, 5, 6) and kind == TYPES.get(path, kind):
        return _integer(file)
    if kind == 8:
        length = _varint(file)
        text = file.read(length if isinstance(file, io.BytesIO) else min(length, 100))
        file.seek(length - len(text), io.SEEK_CUR)
        return text
    if kind == 9:
        head = file.read(1)[0]
        length = head >> 4 if head >> 4 < 15 else _varint(file)
        if head & 15 in (9, 10) or head & 15 != TYPES.get(path, head & 15):
            raise ValueError("a list has items of an unexpected type")
        return [_value(file, head & 15, path) for _ in range(length)]
    if kind == STRUCT:
        return parse_struct(file, path)
    return file.read({1: 1, 2: 1, 3: 1, 7: 8}[kind])


def _integer(file: BinaryIO) -> int:
    value = _varint(file)
    return (value >> 1) ^ -(value & 1)


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise ValueError("a number takes more than ten bytes")
