"""Compare a Parquet file with what this package writes of its rows, so that other programs read the same rows from it.

Programs other than pyarrow may skip row groups or pages because of statistics, page indexes or Bloom filters, take
types or an index from the metadata, or start at other offsets. A file is therefore decomposed into a form that depends
neither on compression nor on offsets, and compared with the form of its rows written again, one row group at a time.
Every byte of the file must belong to that form.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from .pages import HEADER, INDEX, LARGEST_FOOTER, parse_struct
from .shards import PARQUET_FAULTS, open_shard, whole

MAGIC = b"PAR1"
LONGEST_HEADER = 100_000  # bytes
WRITER = re.compile(rb"parquet-cpp-arrow version [0-9]+\.[0-9]+\.[0-9]+")
CODECS = {0: None, 6: "zstd"}
DATA_PAGE, DICTIONARY_PAGE = 0, 2
EXACT = (7, 8)  # in statistics: the maximum and the minimum were not shortened
NULLS, INDEXED_NULLS = 3, 5  # numbers of null values in statistics, and in the index of a column
SHAPE = "its structure is not that of a written file"
FILE_PARTS = {1: "version", 2: "schema", 3: "number of rows", 5: "metadata", 7: "order of values"}
GROUP_PARTS = {2: "size", 3: "number of rows", 4: "sorting columns"}
COLUMN_PARTS = {1: "name of another file", 2: "offset"}
ABOUT_PARTS = {4: "codec", 5: "number of values", 8: "metadata", 12: "statistics", 13: "encodings", 14: "Bloom filter"}

Struct = dict[Any, Any]


OpenWriter = Callable[[Any, pa.Schema], Any]
"""Opens a Parquet file (a path or stream) for writing, given its schema."""


def unlike_written(path: Path, schema: pa.Schema, writer: OpenWriter) -> Iterator[str]:
    """Yield how a Parquet file differs from what a writer writes of its rows.

    Raises:
        ShardError: The file cannot be read.
    """
    with open_shard(path) as shard, open(path, "rb") as file:
        try:
            footer, groups = _decomposed(file)
        except PARQUET_FAULTS as error:
            yield f"{SHAPE} ({error})"
            return
        rows = 0
        empty_footer = _written(pa.Table.from_batches([], schema), writer)[0]
        for index in range(shard.num_row_groups):
            table = whole(shard, [index]).cast(schema).combine_chunks()
            rows += len(table)
            _, expected = _written(table, writer)
            try:
                group_found = next(groups)
            except PARQUET_FAULTS as error:
                yield f"row group {index}: {SHAPE} ({error})"
                return
            if group_found != (group := next(expected)):
                yield f"row group {index}{_difference(group_found, group)}"
        if names := _differing(footer, {**empty_footer, 3: rows}, FILE_PARTS):
            yield f"the file differs in {', '.join(names)}"


def _written(table: pa.Table, writer: OpenWriter) -> tuple[Struct, Iterator[Struct]]:
    sink = pa.BufferOutputStream()
    with writer(sink, table.schema) as file:
        if len(table):
            file.write_table(table, row_group_size=len(table))
    return _decomposed(io.BytesIO(sink.getvalue()))


def _decomposed(file: BinaryIO) -> tuple[Struct, Iterator[Struct]]:
    """Return the footer of a file without its row groups, and the form of each row group.

    Raises:
        ValueError, LookupError, TypeError: The file has bytes that belong to no part, or is damaged.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(size - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    end = size - 8 - length
    if tail[4:] != MAGIC or length > LARGEST_FOOTER:
        raise ValueError("its end is damaged")
    footer = _struct_at(file, end, length)
    groups = footer.pop(4)
    columns = [column for group in groups for column in group[1]]
    spans = [_span(column) for column in columns]
    for offset, extent in ((6, 7), (4, 5)):
        spans += [(column[offset], column[offset] + column[extent]) for column in columns if offset in column]
    if not WRITER.fullmatch(footer.pop(6)):
        raise ValueError("it names another writer")
    footer[5] = [_decoded(entry) for entry in footer.get(5, ())]
    place = len(MAGIC)
    file.seek(0)
    if file.read(place) != MAGIC:
        raise ValueError("its beginning is damaged")
    for first, last in [*spans, (end, end)]:
        if first != place or last < first:
            raise ValueError(f"its bytes {place:,} to {first:,} are not where its parts are")
        place = last
    return footer, (_group(file, group) for group in groups)


def _span(column: Struct) -> tuple[int, int]:
    about = column[3]
    first = about.get(11, about[9])
    return first, first + about[7]


def _decoded(entry: Struct) -> Struct:
    if entry[1] != b"ARROW:schema":
        return entry
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(entry[2], validate=True)))
    return {**entry, 2: f"{schema.to_string(show_schema_metadata=True, truncate_metadata=False)}"}


def _struct_at(file: BinaryIO, offset: int, length: int, path: tuple[int, ...] = ()) -> Struct:
    """Parse a struct that takes exactly this many bytes."""
    if not 0 <= length <= LARGEST_FOOTER:
        raise ValueError("a part has an implausible length")
    file.seek(offset)
    content = io.BytesIO(file.read(length))
    fields = parse_struct(content, path)
    if content.tell() != length:
        raise ValueError("a part has bytes that belong to none of its fields")
    return fields


def _group(file: BinaryIO, group: Struct) -> Struct:
    columns = group[1]
    spans = [_span(column) for column in columns]
    if group.get(5, spans[0][0]) != spans[0][0] or group.get(6) != sum(last - first for first, last in spans):
        raise ValueError("its offset or size is wrong")
    return {
        **{field: value for field, value in group.items() if field not in (5, 6)},
        1: [_column(file, column, *span) for column, span in zip(columns, spans, strict=True)],
    }


def _column(file: BinaryIO, column: Struct, place: int, end: int) -> Struct:
    """Return the form of a column in a row group: its description, its indexes, and the hash of each page."""
    about = column[3]
    indexes: Struct = {
        name: _struct_at(file, column[offset], column[extent], INDEX)
        for name, offset, extent in (("offset index", 4, 5), ("column index", 6, 7))
        if offset in column
    }
    for field in EXACT if 12 in about else ():
        if about[12].get(field) is True:  # not written by pyarrow 21
            del about[12][field]
    if len(about[3]) > 2:  # of lists, whose null values pyarrow 21 counts differently; filters do not use them
        about.get(12, {}).pop(NULLS, None)
        indexes.get("column index", {}).pop(INDEXED_NULLS, None)
    pages: list[tuple[Struct, str]] = []
    places: dict[int, list[int]] = {DATA_PAGE: [], DICTIONARY_PAGE: []}
    locations = []
    while place < end:
        file.seek(place)
        head = io.BytesIO(file.read(min(LONGEST_HEADER, end - place)))
        header = parse_struct(head, HEADER)
        file.seek(place + head.tell())
        places[header[1]].append(place)
        body = file.read(header[3])
        codec = CODECS[about[4]]
        if codec:
            body = pa.decompress(body, header[2], codec, asbytes=True)
        if len(body) != header[2]:
            raise ValueError("a page has another size than it states")
        size = head.tell() + header.pop(3)
        if header[1] == DATA_PAGE:
            locations.append((place, size))
        pages.append((header, hashlib.sha256(body).hexdigest()))
        place += size
    dictionary = [about[11]] if 11 in about else []
    if place != end or [about[9]] != places[DATA_PAGE][:1] or dictionary != places[DICTIONARY_PAGE]:
        raise ValueError("its pages are not where the footer says")
    if "offset index" in indexes:
        stated = [(location.pop(1), location.pop(2)) for location in indexes["offset index"][1]]
        if stated != locations:
            raise ValueError("its pages are not where the index says")
    return {
        **{field: value for field, value in column.items() if field not in (3, 4, 5, 6, 7)},
        "about": {field: value for field, value in about.items() if field not in (7, 9, 11)},
        **indexes,
        "pages": pages,
    }


def _difference(found: Struct, expected: Struct) -> str:
    """Describe where two row groups differ."""
    if names := _differing({**found, 1: None}, {**expected, 1: None}, GROUP_PARTS):
        return f" differs in {', '.join(names)}"
    for column_found, column_expected in zip(found[1], expected[1], strict=False):
        if column_found != column_expected:
            names = _differing({**column_found, "about": None}, {**column_expected, "about": None}, COLUMN_PARTS)
            names += _differing(column_found["about"], column_expected["about"], ABOUT_PARTS)
            column = b".".join(column_found["about"][3]).decode("utf-8", "replace")
            return f", column {column} differs in {', '.join(names)}"
    return " has other columns"


def _differing(found: Struct, expected: Struct, names: Mapping[int, str]) -> list[str]:
    fields = (field for field in {**found, **expected} if found.get(field) != expected.get(field))
    return [field if isinstance(field, str) else names.get(field, f"field {field}") for field in fields]
