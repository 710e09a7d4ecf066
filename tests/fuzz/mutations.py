"""Damage to files, by what they contain: bytes, JSON, CSV, text, Parquet, MP4; and links and pipes in their place."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Rng = np.random.Generator

ROOT = Path(tempfile.gettempdir()) / f"stressreel-fuzz-{os.getpid()}"
SECRET = ROOT / "watched" / "secret.txt"  # its text must never be written, printed or sent
PORT = 47123  # of the listener on loopback: a connection means that an address from a file was followed
URL = f"http://127.0.0.1:{PORT}"
LONG = 8_000_000  # characters of a text that rows share
MANY = 10_000_000  # entries of a list in a cell

TEXTS = (
    *("", " ", "nan", "None", "null", "true", "-1", "0", "1e999", "1e300", "-0.0", "9" * 20, "9" * 5000, "²", "½"),
    *("../../etc/passwd", "/", "a/b", "a\\b", "..", "CON", "~", "-rf", "--help", "x" * 300, "w" * 5_000_000),
    *("\x00", "\ud800", "\u202e", "é" * 200, '"', "'", ",", ";", "\n", "\r", "=cmd()", "{", "[[[[", "{{7*7}}", "%s%n"),
    *("\ufeff", "<think>" * 500, "(A) " * 500, "0.0 0.0", "c000 1 2", "c999 1 2;c000 2 1", "a##b", "1/0", "1:2:3"),
    *("2001-99-99", "0x" + "f" * 5000, "\x1b[2J\x1b]0;owned\x07", "a\x9b2Jb\x85c\u2028d", "x\nError: line\r\x08"),
    *(f"../{SECRET.name}", f"../../{SECRET.name}", str(SECRET), f"file://{SECRET}", f"concat:{SECRET}|{SECRET}"),
    *(f"{URL}/x", f"{URL}/%05d.mp4", f"hf://datasets/x/y@{'0' * 40}/z", "test-00000-of-00001.parquet", "</script><!--"),
    *("<script>alert(1)</script><img src=x onerror=alert(1)>", "](javascript:alert(1)) `x` |a|b| {{ env }} $(id)"),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, ["a", "b"], [["c000", "0", "1"]] * 3, {"id": 1}),
)
TOKENS = (b'"', b",", b"\n", b"{", b"}", b"[", b"]", b":", b"\\u0000", b"\\ud800", b"1e999", b"&a *a", b"\t", b"---\n")
YAML = (
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b]\n",
    "x: !!python/object/apply:os.system ['touch owned']\n",
    f"x: {'[' * 3000}{']' * 3000}\n",
    "license: other\nlicense: mit\n? [a, b]\n: c\n<<: 3\n",
)
INTEGERS = (-1, 0, 1, 99, 127, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
NOT_VIDEOS = (
    *(b"", b"\x00", f"ffconcat version 1.0\nfile {SECRET}\nduration 5\n".encode(), f"{URL}/a.mp4".encode()),
    f"ffconcat version 1.0\nfile '{URL}/a.mp4'\n".encode(),
    f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{URL}/a.ts\n#EXT-X-ENDLIST\n".encode(),
    f"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:5,\nfile://{SECRET}\n#EXT-X-ENDLIST\n".encode(),
    b"P6\n100000 100000\n255\n" + bytes(100),
    b"RIFF\xff\xff\xff\xffAVI LIST\xff\xff\xff\x7fhdrlavih" + b"\xff" * 200,
    b"\x1aE\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xfe" + b"B\x82\x88matroska" + b"\xff" * 100,
)
NAMES = (
    *("extra.txt", "test-more.parquet", "a\nb", "\x1b[2J", "a\\..\\b", "\udcff", "x" * 250, " ", "<img src=x>.md"),
    *(".x.1.tmp", "out.py", "test-0-of-1.parquet", "dataset_infos.json", "metadata.csv", "é\u202e.parquet", "-rf", "*"),
)
BOXES = b"moov trak mdia minf stbl udta edts dinf".split()


class Unchanged(Exception):
    """The draw cannot be applied to this file."""


def pick(rng: Rng, choices: Any) -> Any:
    """Draw one of several."""
    choices = list(choices)
    if not choices:
        raise Unchanged
    return choices[int(rng.integers(len(choices)))]


def damage(place: Path, rng: Rng) -> str:
    """Damage a file, or one of the files in a folder, or the folder's entries; describe the change."""
    while True:
        with suppress(Unchanged, pa.ArrowException):
            if place.is_dir() and rng.random() < 0.15:
                return _entry(place, rng)
            files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
            ending = pick(rng, sorted({path.suffix for path in files}))
            path = pick(rng, [path for path in files if path.suffix == ending])
            before = path.read_bytes()
            after = mutate(before, rng)
            if after != before:
                path.write_bytes(after)
                return f"{len(before)} bytes of {path.name} became {len(after)}"


def mutate(content: bytes, rng: Rng) -> bytes:
    """Change content; half the changes are in the terms of its format."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        change = pick(rng, (format_of(content), pick(rng, BYTES)))
        try:
            content = change(content, rng)
        except (ValueError, LookupError, csv.Error, RecursionError, OverflowError, TypeError, OSError):
            content = flip(content, rng)  # no longer of its format
    return content


def format_of(content: bytes) -> Callable[[bytes, Rng], bytes]:
    """Return the mutation for a format, recognised by the content."""
    if content[:4] == b"PAR1":
        return parquet
    if content[4:8] == b"ftyp":
        return mp4
    if b"\x00" in content[:1000]:
        return flip
    if content[:1] in (b"{", b"["):
        return json_value
    first = content.split(b"\n")[0]
    return csv_field if first.count(b",") > 1 or b"\t" in first else words


# Bytes


def flip(content: bytes, rng: Rng) -> bytes:
    """Change a few bits."""
    changed = bytearray(content)
    for place in rng.integers(0, len(changed), rng.integers(1, 9)) if changed else ():
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def overwrite(content: bytes, rng: Rng) -> bytes:
    """Write zeros, ones, large or negative numbers."""
    start, length = _span(content, rng, 16)
    return content[:start] + bytes([pick(rng, (0, 1, 0x7F, 0x80, 0xFF))]) * length + content[start + length :]


def truncate(content: bytes, rng: Rng) -> bytes:
    """Cut off the end or the beginning."""
    place = int(rng.integers(0, len(content) + 1))
    return content[:place] if rng.random() < 0.8 else content[place:]


def insert(content: bytes, rng: Rng) -> bytes:
    """Insert random bytes, tokens of formats or a hostile text."""
    place = int(rng.integers(0, len(content) + 1))
    tokens = pick(rng, TOKENS) * int(rng.choice([1, 1, 2, 100, 3000]))
    return content[:place] + pick(rng, (rng.bytes(20), tokens, _bytes(pick(rng, TEXTS)))) + content[place:]


def splice(content: bytes, rng: Rng) -> bytes:
    """Delete a piece, or copy it over or before another."""
    start, length = _span(content, rng, max(len(content) // 2, 1))
    target, kind = int(rng.integers(0, len(content) + 1)), rng.integers(3)
    if kind == 0:
        return content[:start] + content[start + length :]
    return content[:target] + content[start : start + length] + content[target + length * int(kind == 1) :]


BYTES: tuple[Callable[[bytes, Rng], bytes], ...] = (flip, overwrite, truncate, insert, splice)


def _span(content: bytes, rng: Rng, longest: int) -> tuple[int, int]:
    return int(rng.integers(0, len(content) + 1)), int(rng.integers(1, longest + 1))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# JSON, CSV, text


def json_value(content: bytes, rng: Rng) -> bytes:
    """Replace, rename, double or remove a value anywhere in JSON, or in a line of JSON lines."""
    text = content.decode("utf-8-sig")
    lines = text.split("\n") if "\n{" in text.rstrip() and not text.startswith("{\n") else [text]
    at = pick(rng, [number for number, line in enumerate(lines) if line.strip()])
    value = json.loads(lines[at])
    if rng.random() < 0.1:
        value = _value(rng)
    inner = value
    while isinstance(inner, dict | list) and inner:
        key = pick(rng, inner if isinstance(inner, dict) else range(len(inner)))
        if isinstance(inner[key], dict | list) and inner[key] and rng.random() < 0.8:
            inner = inner[key]
            continue
        kind = rng.integers(5)
        if kind == 0:
            del inner[key]
        elif kind == 1 and isinstance(inner, dict):
            inner[pick(rng, TEXTS)] = inner.pop(key)
        elif kind == 1:
            inner.append(inner[key])
        else:
            inner[key] = _value(rng)
        break
    lines[at] = json.dumps(value, ensure_ascii=False)
    return _bytes("\n".join(lines))


def _value(rng: Rng) -> Any:
    deep: Any = 1
    for _ in range(int(rng.choice([40, 60, 900]))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    value = deepcopy(pick(rng, VALUES))  # further mutations change it in place
    return pick(rng, (pick(rng, TEXTS), pick(rng, TEXTS), value, deep))


def csv_field(content: bytes, rng: Rng) -> bytes:
    """Replace, exchange, add or remove a field, or double a row."""
    text = content.decode("utf-8-sig")
    tab = "\t" if "\t" in text.split("\n")[0] else ","
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=tab) if row]
    row, kind = pick(rng, rows), rng.integers(6)
    place, other = (int(rng.integers(len(row))) for _ in range(2))
    if kind == 0:
        row[place], row[other] = row[other], row[place]
    elif kind == 1:
        row.insert(place, pick(rng, TEXTS))
    elif kind == 2:
        del row[place]
    elif kind == 3:
        rows.append(list(row))
    else:
        row[place] = pick(rng, TEXTS)
    target = io.StringIO()
    csv.writer(target, delimiter=tab, escapechar="\\").writerows(rows)
    return _bytes(target.getvalue())


def words(content: bytes, rng: Rng) -> bytes:
    """Replace a word of a text by a hostile one, or extend its front matter."""
    if content.startswith(b"---\n") and rng.random() < 0.5:
        return b"---\n" + pick(rng, YAML).encode() + content[4:]
    parts = re.split(rb"([ \n])", content)
    parts[2 * int(rng.integers((len(parts) + 1) // 2))] = _bytes(pick(rng, TEXTS))
    return b"".join(parts)


# Parquet


def parquet(content: bytes, rng: Rng) -> bytes:
    """Change cells, types, columns, rows or metadata of a table, or its footer."""
    if rng.random() < 0.25:
        return _footer(content, rng)
    table = pick(rng, (_cells, _cells, _type, _columns, _rows, _large, _metadata))(
        pq.read_table(io.BytesIO(content)), rng
    )
    target = io.BytesIO()
    write = pick(rng, ({"compression": "zstd", "dictionary_pagesize_limit": 2**30}, {"use_dictionary": False}))
    pq.write_table(table, target, store_schema=bool(rng.random() < 0.8), **write)
    return target.getvalue()


def _cells(table: pa.Table, rng: Rng) -> pa.Table:
    at = int(rng.integers(table.num_columns))
    field, values = table.schema.field(at), table.column(at).to_pylist()
    for row in range(len(values)) if rng.random() < 0.3 else [int(rng.integers(len(values)))]:
        values[row] = _cell(field.type, values[row], rng)
    return table.set_column(at, field.with_nullable(True), pa.array(values, field.type))


def _cell(kind: Any, value: Any, rng: Rng) -> Any:
    if rng.random() < 0.1:
        return None
    if pa.types.is_string(kind):
        return pick(rng, TEXTS)
    if pa.types.is_binary(kind):
        return pick(rng, (pick(rng, NOT_VIDEOS), mp4(value, rng)))
    if pa.types.is_floating(kind):
        return pick(rng, (float("nan"), float("inf"), -1.0, 1e300, 5e-324, 0.0))
    if pa.types.is_integer(kind):
        return pick(rng, INTEGERS)
    if pa.types.is_list(kind):
        return [_cell(kind.value_type, None, rng) for _ in range(int(rng.choice([0, 1, 2, 1000])))]
    if pa.types.is_struct(kind):  # a video: loaders open paths where there are no bytes
        changed = pick(rng, list(kind)).name
        return {field.name: _cell(field.type, value[field.name], rng) for field in kind if field.name == changed} | {
            field.name: pick(rng, (None, value[field.name])) for field in kind if field.name != changed
        }
    return bool(rng.integers(2))


def _type(table: pa.Table, rng: Rng) -> pa.Table:
    at, count = int(rng.integers(table.num_columns)), table.num_rows
    invalid = pa.py_buffer(b"\xed\xa0\x80\xff" * count)
    offsets = pa.py_buffer(np.arange(0, 4 * count + 4, 4, dtype=np.int32).tobytes())
    made = (
        *(pa.StringArray.from_buffers(count, offsets, invalid), pa.array([b"\xff"] * count), pa.nulls(count)),
        *(pa.array(range(count)), pa.array([float("nan")] * count), pa.array([True] * count)),
        *(pa.array([[{"a": [1]}]] * count), pa.array([{"a": 1, "b": {"c": None}}] * count)),
        *(pa.array([{"bytes": b"x", "path": str(SECRET)}] * count), pa.array([2**31 - 1] * count, pa.date32())),
        *(pa.array([2**63 - 1] * count, pa.timestamp("ns")), pa.array(["a"] * count).dictionary_encode()),
        *(pa.array([1] * count, pa.duration("s")), pa.array([[("k", 1)]] * count, pa.map_(pa.string(), pa.int64()))),
    )
    return table.set_column(at, table.column_names[at], pick(rng, made))


def _columns(table: pa.Table, rng: Rng) -> pa.Table:
    at, names, kind = int(rng.integers(table.num_columns)), table.column_names, rng.integers(4)
    name = pick(rng, ("extra", "", names[0], names[at].upper(), "__index_level_0__", "video", "a.b", "\x1b[2J"))
    if kind == 0:
        return table.remove_column(at)
    if kind == 1:
        return table.append_column(name, table.column(at))
    if kind == 2:
        names[at] = name
        return table.rename_columns(names)
    return table.select([int(number) for number in rng.permutation(table.num_columns)])


def _rows(table: pa.Table, rng: Rng) -> pa.Table:
    count = table.num_rows
    many = pa.concat_tables([table] * (2000 if table.nbytes < 50_000 else 3))
    return pick(rng, (table.slice(0, 0), table.slice(0, count - 1), many, table.take(rng.permutation(count))))


def _large(table: pa.Table, rng: Rng) -> pa.Table:
    """Encode gigabytes in a few kilobytes: rows that share a long text, or a list of millions of zeros."""
    at, count = int(rng.integers(table.num_columns)), table.num_rows
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array(["w" * LONG]))
    offsets = pa.array(np.minimum(np.arange(count + 1), 3) * MANY, pa.int64())
    zeros = pa.LargeListArray.from_arrays(offsets, pa.array(np.zeros(offsets[-1].as_py(), np.int8)))
    return table.set_column(at, table.column_names[at], pick(rng, (shared, zeros)))


class _Touch:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, (f"touch {SECRET.parent / 'owned'}",)


def _metadata(table: pa.Table, rng: Rng) -> pa.Table:
    """Change the features of datasets, the index of pandas or the extension type that a schema states."""
    kind, metadata = rng.integers(3), dict(table.schema.metadata or {})
    if kind == 0:
        metadata[b"pandas"] = pick(rng, (b"{", b'{"index_columns": ["x"], "columns": 3}', b"w" * 1_000_000))
    elif kind == 1:
        features = metadata.get(b"huggingface", b'{"info": {"features": {"a": {"_type": "Value"}}}}')
        metadata[b"huggingface"] = pick(rng, (json_value(features, rng), b"{", b"[" * 100_000, b"null"))
    else:
        at = int(rng.integers(table.num_columns))
        marks = {"ARROW:extension:name": pick(rng, ("arrow.py_extension_type", "datasets.features.features", "x"))}
        field = table.schema.field(at).with_metadata({**marks, "ARROW:extension:metadata": pickle.dumps(_Touch())})
        return table.cast(table.schema.set(at, field))
    return table.replace_schema_metadata(metadata)


def _footer(content: bytes, rng: Rng) -> bytes:
    """Change bits of the footer, its length, or a number that it states, such as of rows or bytes."""
    size = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - size], content[-8 - size : -8]
    kind = rng.integers(3)
    if kind == 0:
        size = pick(rng, (0, 1, size - 1, size + 1, 2**31 - 1, 2**32 - 1))
        return body + footer + size.to_bytes(4, "little") + b"PAR1"
    if kind == 1:
        changed = flip(footer, rng)
    else:
        metadata = pq.read_metadata(io.BytesIO(content))
        chunk = metadata.row_group(0).column(int(rng.integers(metadata.num_columns)))
        stated = (metadata.num_rows, chunk.total_compressed_size, chunk.total_uncompressed_size, chunk.data_page_offset)
        new = pick(rng, (-1, 0, 999_999, 2**31 - 1, 2**31, 2**40, 2**62))
        changed = footer.replace(_varint(pick(rng, stated)), _varint(new), 1)
    return body + changed + len(changed).to_bytes(4, "little") + b"PAR1"


def _varint(number: int) -> bytes:
    """Encode a number as Thrift does."""
    value = ((number << 1) ^ (number >> 63)) & (2**64 - 1)
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


# MP4


def boxes(content: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    """List the boxes of an MP4 file that contain no others: name, and start and end of the content."""
    end = len(content) if end is None else end
    while start + 8 <= end:
        size, name = struct.unpack(">I4s", content[start : start + 8])
        stop = start + size if size >= 8 else end
        if name in BOXES:
            yield from boxes(content, start + 8, min(stop, end))
        elif name not in (b"free", b"skip"):
            yield name, start + 8, min(stop, end)
        start = stop


def mp4(content: bytes, rng: Rng) -> bytes:
    """Change an MP4 file where it is read: sizes and counts of boxes, the size of pictures, the stream."""
    found = [box for box in boxes(content) if box[2] > box[1]]
    _, start, end = pick(rng, [box for box in found if box[0] == pick(rng, sorted({box[0] for box in found}))] or found)
    changed, kind = bytearray(content), rng.integers(4)
    number = int(pick(rng, (0, 1, 65535, 2**24, 2**30, 2**31 - 1, 2**32 - 1))).to_bytes(4, "big")
    if kind == 0:
        width = 4 * int(rng.integers(max((end - start) // 4, 1)))
        changed[start + width : start + width + 4] = number[: end - start - width]
    elif kind == 1:
        changed[start - 8 : start - 4] = number
    elif kind == 2 and (place := content.find(b"avc1") + 28) >= 28:
        changed[place : place + 4] = pick(rng, (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x40\x00\x40\x00"))
    else:
        for at in rng.integers(start, end, int(rng.choice([1, 4, 200]))):
            changed[int(at)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


# Entries of folders


def _entry(folder: Path, rng: Rng) -> str:
    """Put a link, pipe, folder or file in the place of an entry, or remove, rename or add one."""
    path = pick(rng, sorted(folder.rglob("*")))
    kind = pick(rng, ("link", "link", "hard link", "pipe", "other kind", "missing", "renamed", "added", "added link"))
    good = ROOT / "good" / path.relative_to(folder.parent)
    name = path.parent / pick(rng, NAMES)
    if kind == "added link":
        name.symlink_to(pick(rng, (SECRET, SECRET.parent, "/dev/zero", "nowhere")))
    elif kind == "renamed":
        path.rename(name)
    elif kind == "added" and path.is_file():
        shutil.copy(path, name)
    elif kind in ("link", "pipe", "missing", "other kind") or path.is_file():
        directory = path.is_dir()
        shutil.rmtree(path) if directory else path.unlink()
        if kind == "link":
            path.symlink_to(
                pick(rng, (SECRET, SECRET.parent, good, good, f"../{SECRET.name}", "/dev/zero", path, folder))
            )
        elif kind == "hard link":
            path.hardlink_to(good)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "other kind":
            path.write_text("x") if directory else path.mkdir()
    else:
        raise Unchanged
    return f"{kind} {path.relative_to(folder)}"
