"""Change the footer of a Parquet file: structs of Thrift's compact protocol, read and written."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

Struct = dict[int, tuple[int, Any]]
"""Fields by number, each with its type; the items of a list are a pair of their type and the values."""

TRUE, FALSE, BYTE, TEXT, LIST, STRUCT = 1, 2, 3, 8, 9, 12  # others are integers, which stay in zigzag code


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _read_varint(file: io.BytesIO) -> int:
    byte = file.read(1)[0]
    return byte & 127 | (_read_varint(file) << 7 if byte > 127 else 0)


def read_struct(file: io.BytesIO) -> Struct:
    fields: Struct = {}
    number = 0
    while head := file.read(1)[0]:
        number += head >> 4  # Parquet leaves out no 16 fields
        fields[number] = (head & 15, None if head & 15 in (TRUE, FALSE) else _read(file, head & 15))
    return fields


def _read(file: io.BytesIO, kind: int) -> Any:
    if kind in (TRUE, FALSE, BYTE):
        return file.read(1)
    if kind == TEXT:
        return file.read(_read_varint(file))
    if kind == LIST:
        head = file.read(1)[0]
        count = head >> 4 if head >> 4 < 15 else _read_varint(file)
        return head & 15, [_read(file, head & 15) for _ in range(count)]
    return read_struct(file) if kind == STRUCT else _read_varint(file)


def write_struct(fields: Struct) -> bytes:
    content, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        content += bytes([number - last << 4 | kind]) + (b"" if kind in (TRUE, FALSE) else _write(kind, value))
        last = number
    return content + b"\0"


def _write(kind: int, value: Any) -> bytes:
    if kind == TEXT:
        return _varint(len(value)) + bytes(value)
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
        return head + b"".join(_write(inner, item) for item in items)
    if kind == STRUCT:
        return write_struct(value)
    return bytes(value) if kind in (TRUE, FALSE, BYTE) else _varint(value)


def change_footer(path: Path, change: Callable[[Struct, bytes], bytes | None]) -> None:
    """Change a file's footer, given the bytes before it, which `change` may replace."""
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer, body = read_struct(io.BytesIO(content[end:])), content[:end]
    body = change(footer, body) or body
    new = write_struct(footer)
    path.write_bytes(body + new + len(new).to_bytes(4, "little") + content[-4:])
