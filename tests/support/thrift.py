"""Read and write structs of Thrift's compact protocol, so that the footer of a Parquet file can be changed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

Struct = dict[int, tuple[int, Any]]
"""Fields by number, each with its type; the items of a list are a pair of their type and the values."""

TEXT, LIST, STRUCT = 8, 9, 12


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _integer(number: int) -> bytes:
    return _varint((number << 1) ^ (number >> 63))


def _read_varint(file: io.BytesIO) -> int:
    number = shift = 0
    while True:
        byte = file.read(1)[0]
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number


def read_struct(file: io.BytesIO) -> Struct:
    fields: Struct = {}
    number = 0
    while head := file.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _signed(_read_varint(file))
        fields[number] = (head & 15, None if head & 15 in (1, 2) else _read(file, head & 15))
    return fields


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def _read(file: io.BytesIO, kind: int) -> Any:
    if kind in (1, 2, 3):
        return file.read(1)
    if kind in (4, 5, 6):
        return _signed(_read_varint(file))
    if kind == TEXT:
        return file.read(_read_varint(file))
    if kind == LIST:
        head = file.read(1)[0]
        count = head >> 4 if head >> 4 < 15 else _read_varint(file)
        return head & 15, [_read(file, head & 15) for _ in range(count)]
    assert kind == STRUCT
    return read_struct(file)


def write_struct(fields: Struct) -> bytes:
    content, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        step = number - last
        content += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + _integer(number)
        content += b"" if kind in (1, 2) else _write(kind, value)
        last = number
    return content + b"\0"


def _write(kind: int, value: Any) -> bytes:
    if kind in (1, 2, 3):
        return bytes(value)
    if kind in (4, 5, 6):
        return _integer(value)
    if kind == TEXT:
        return _varint(len(value)) + bytes(value)
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
        return head + b"".join(_write(inner, item) for item in items)
    return write_struct(value)


def change_footer(path: Path, change: Callable[[Struct, bytes], bytes | None]) -> None:
    """Change a file's footer, given the bytes before it, which `change` may replace."""
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = read_struct(io.BytesIO(content[-8 - length : -8]))
    body = content[: -8 - length]
    body = change(footer, body) or body
    new = write_struct(footer)
    path.write_bytes(body + new + len(new).to_bytes(4, "little") + content[-4:])
