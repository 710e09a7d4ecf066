"""Damage and malice for whole outputs: what a stranger could put into each of their files, and beside them."""

from __future__ import annotations

import base64
import json
import os
import pickle
import re
import shutil
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from mutations import TEXTS, Rng, flip, json_value, mutate

sys.path.append(str(Path(__file__).parents[1] / "support"))

PORT = 47123
"""Of the bait on loopback: whoever connects to it followed an address from an output."""
MANY = 10_000_000  # entries of a list in a cell
LONG = 8_000_000  # characters of a text that rows share
SHARING = 300  # rows that share it
TRIES = 40  # draws until something that is read changed


@dataclass(frozen=True)
class Bait:
    """What a hostile output could want.

    Attributes:
        secret: A file outside of the output whose text must show nowhere.
        folder: A folder outside, with such a file in it.
        plain: A folder with copies of the good output, which may be read and not changed.
    """

    secret: Path
    folder: Path
    plain: Path


class Unchanged(Exception):
    """A draw changed nothing that is read."""


def pick(rng: Rng, choices: Any) -> Any:
    """Draw one of several."""
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def hostile(rng: Rng, bait: Bait) -> str:
    """Draw a text that a terminal, a path, a page, a decoder or a loader could obey."""
    return str(
        pick(
            rng,
            (
                *TEXTS,
                "\x1b[2J\x1b]0;owned\x07",
                "a\x9b2Jb\x85c\u2028d",
                "line\nError: another line\r\x08",
                f"../{bait.secret.name}",
                f"../../{bait.folder.name}/{bait.secret.name}",
                str(bait.secret),
                f"file://{bait.secret}",
                f"http://127.0.0.1:{PORT}/x",
                f"hf://datasets/x/y@{'0' * 40}/z",
                f"http://127.0.0.1:{PORT}/%05d.mp4",
                f"concat:{bait.secret}|{bait.secret}",
                "<script>alert(1)</script><img src=x onerror=alert(1)>",
                "](javascript:alert(1)) `x` |a|b| {{ env }} ${HOME} $(id)",
                "</script><!--",
                "a\\..\\b",
                "CON",
                "~",
                "-rf",
                "--help",
                "test-00000-of-00001.parquet",
                "w" * 5_000_000,
            ),
        )
    )


# JSON


def json_files(out: Path) -> list[Path]:
    """List the JSON files of an output that are there."""
    names = ("build.json", "build.json", "build.json", "croissant.json", ".build/plan.json", ".build/journal.jsonl")
    return [out / name for name in names if (out / name).is_file()]


def change_json(out: Path, bait: Bait, rng: Rng) -> str:
    """Change values of build.json, croissant.json, the plan or the journal."""
    path = pick(rng, json_files(out))
    content = path.read_bytes()
    kind = rng.integers(6)
    for _ in range(int(rng.choice([1, 1, 2, 5])) if kind < 3 else 0):
        content = json_value(content, rng)
    if kind == 3:
        content = mutate(content, "json", rng)
    if kind > 3:
        content = _hostile_leaf(content, rng, bait)
    if _json_of(content) == _json_of(path.read_bytes()):
        raise Unchanged
    path.write_bytes(content)
    return path.relative_to(out).as_posix()


def _json_of(content: bytes) -> str:
    """Write JSON in one way, for comparing; as it is if it is none."""
    text = content.decode("utf-8", "backslashreplace")
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(text), sort_keys=True)
    return text


def _hostile_leaf(content: bytes, rng: Rng, bait: Bait) -> bytes:
    """Put a hostile text into values and names that are texts."""
    lines = content.decode().split("\n") if b"\n{" in content[:-1] and not content.startswith(b"{\n") else [""]
    at = int(pick(rng, [number for number, line in enumerate(lines) if line.strip()] or [0]))
    value = json.loads(lines[at] or content)
    places = list(_texts(value))
    for _ in range(int(rng.choice([1, 1, 4])) if places else 0):
        holder, key = pick(rng, places)
        text = hostile(rng, bait)
        if isinstance(holder, dict) and rng.random() < 0.3 and key in holder:
            holder[text] = holder.pop(key)
        elif isinstance(holder, list) or key in holder:
            holder[key] = text
    if not lines[at]:
        return json.dumps(value, indent=2).encode()
    lines[at] = json.dumps(value)
    return "\n".join(lines).encode()


def _texts(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from _texts(inner)
        if not isinstance(inner, list):
            yield value, key


# Cards

FRONT = (
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b]\n",
    "x: !!python/object/apply:os.system ['touch owned']\n",
    f"x: {'[' * 3000}{']' * 3000}\n",
    "license: other\nlicense: mit\n",
    "? [a, b]\n: c\n",
    "<<: 3\n",
    "x: !!binary '%%%'\nd: 2001-99-99\n",
)


def change_card(out: Path, bait: Bait, rng: Rng) -> str:
    """Change the card: its front matter, its text, the marks of its notes."""
    from stressreel.core.card_file import BEGIN, END

    path = out / "README.md"
    text = path.read_text(encoding="utf-8")
    kind = rng.integers(7)
    _, front, body = text.split("---\n", 2)
    if kind == 0:
        front = pick(rng, (pick(rng, FRONT) + front, front + pick(rng, FRONT), pick(rng, FRONT), "", "- a\n", "a"))
    elif kind == 1:
        lines = front.split("\n")
        at = int(rng.integers(len(lines)))
        lines[at] = re.sub(r"[^ :-][^:]*$", lambda _: json.dumps(hostile(rng, bait)), lines[at])
        front = "\n".join(lines)
    elif kind == 2:
        paths = (f"../{bait.secret.name}", str(bait.secret), f"http://127.0.0.1:{PORT}/x.parquet", "**", "hf://x/y")
        front = re.sub(r"path: \S+", lambda _: f"path: {json.dumps(pick(rng, paths))}", front)
    elif kind == 3:
        marks = (BEGIN, END)
        body = body.replace(pick(rng, marks), pick(rng, ("", *marks, BEGIN + BEGIN, END + BEGIN)))
        body += pick(rng, ("", BEGIN, END, BEGIN + hostile(rng, bait) + END))
    elif kind == 4:
        body = body.replace(BEGIN, BEGIN + "\n\n" + pick(rng, (hostile(rng, bait), "n" * 20_000_000, front)) + "\n\n")
    elif kind == 5:
        at = int(rng.integers(len(body)))
        body = body[:at] + hostile(rng, bait) + body[at:]
    content = f"---\n{front}---\n{body}".encode("utf-8", "surrogatepass")
    if kind == 6:
        content = mutate(content, "text", rng)
    if content == path.read_bytes():
        raise Unchanged
    path.write_bytes(content)
    return f"README.md, change {kind}"


# Tables


def tables(out: Path) -> list[Path]:
    """List the Parquet files of an output."""
    return sorted(path for path in out.rglob("*.parquet") if path.is_file() and not path.is_symlink())


def change_values(out: Path, bait: Bait, rng: Rng) -> str:
    """Change cells, types, columns, rows or the schema's metadata of a table."""
    path = pick(rng, tables(out))
    before = pq.read_table(path)
    change = pick(rng, VALUE_CHANGES)
    if not before.num_rows and change in (cells, typed, shared_text, long_list):
        raise Unchanged
    after = change(before, rng, bait)
    if after.schema.equals(before.schema, check_metadata=True) and after.equals(before):
        raise Unchanged
    write = {"use_dictionary": True, "compression": "zstd", "dictionary_pagesize_limit": 2**30}
    if rng.random() < 0.2:
        write = {"use_dictionary": False, "compression": pick(rng, ("none", "gzip", "snappy"))}
    written = path.with_suffix(".written")
    try:
        pq.write_table(after, written, store_schema=bool(rng.random() < 0.8), **write)
    except pa.ArrowException as error:
        written.unlink(missing_ok=True)
        raise Unchanged from error
    written.replace(path)
    if rng.random() < 0.7:
        _count(out, path, after.num_rows)
    return f"{path.relative_to(out).as_posix()}, {change.__name__}"


def _count(out: Path, path: Path, rows: int) -> None:
    """Have build.json state the rows that a table has now, as its author would."""
    file = out / "build.json"
    info = json.loads(file.read_text(encoding="utf-8"))
    splits = info["counts"].get(path.parent.name, {})
    if (split := path.name.split("-")[0]) in splits:
        splits[split] = rows
        file.write_text(json.dumps(info), encoding="utf-8")


def cells(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Replace a few cells by values of their type."""
    for _ in range(int(rng.choice([1, 1, 3]))):
        at = int(rng.integers(table.num_columns))
        kind, values = table.schema.field(at).type, table.column(at).to_pylist()
        rows = range(len(values)) if rng.random() < 0.3 else [int(rng.integers(len(values)))]
        new = _cell(kind, rng, bait)
        for row in rows:
            values[row] = new
        with suppress(pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
            field = table.schema.field(at).with_nullable(True)
            table = table.set_column(at, field, pa.array(values, kind))
    return table


def _cell(kind: Any, rng: Rng, bait: Bait) -> Any:
    if rng.random() < 0.1:
        return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return hostile(rng, bait)
    if pa.types.is_binary(kind):
        return pick(rng, VIDEO_TEXTS)(bait)
    if pa.types.is_floating(kind):
        return pick(rng, (float("nan"), float("inf"), -float("inf"), -1.0, 1e300, 5e-324, 0.0))
    if pa.types.is_boolean(kind):
        return bool(rng.integers(2))
    if pa.types.is_integer(kind):
        return pick(rng, (-1, 0, 1, 99, 127, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)))
    if pa.types.is_list(kind):
        return [_cell(kind.value_type, rng, bait) for _ in range(int(rng.choice([0, 1, 2, 1000])))]
    if pa.types.is_struct(kind):
        return {field.name: _cell(field.type, rng, bait) for field in kind}
    return None


def typed(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Change the type of a column."""
    at, count = int(rng.integers(table.num_columns)), table.num_rows
    surrogate = b"\xed\xa0\x80\xff"
    bad = pa.StringArray.from_buffers(
        count,
        pa.py_buffer(np.arange(0, 4 * count + 4, 4, dtype=np.int32).tobytes()),
        pa.py_buffer(surrogate * count),
    )
    new = pick(
        rng,
        (
            lambda: bad,
            lambda: pa.array([surrogate] * count),
            lambda: pa.nulls(count),
            lambda: pa.array(range(count)),
            lambda: pa.array([float(pick(rng, ("nan", "inf")))] * count),
            lambda: pa.array([True] * count),
            lambda: pa.array([[{"a": [1]}]] * count),
            lambda: pa.array([{"bytes": b"x", "path": hostile(rng, bait)}] * count),
            lambda: pa.array([{"a": 1, "b": {"c": None}}] * count),
            lambda: pa.array([2**63 - 1] * count, pa.timestamp(pick(rng, ("s", "ns")))),
            lambda: pa.array([2**31 - 1] * count, pa.date32()),
            lambda: pa.array(["a"] * count).dictionary_encode(),
            lambda: pa.array([1] * count, pa.duration("s")),
            lambda: pa.array([1] * count).cast(pa.decimal128(38, 3)),
            lambda: pa.array([[("k", 1)]] * count, pa.map_(pa.string(), pa.int64())),
        ),
    )()
    return table.set_column(at, table.column_names[at], new)


def columns(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Take, add, rename, double or reorder columns."""
    at, names = int(rng.integers(table.num_columns)), table.column_names
    kind = rng.integers(5)
    if kind == 0:
        return table.remove_column(at)
    if kind == 1:
        name = pick(rng, ("extra", "", names[at], "__index_level_0__", "video", "a.b", "\x1b[2J"))
        return table.append_column(name, pa.array(["x"] * table.num_rows))
    if kind == 2:
        names[at] = pick(rng, ("", "extra", names[0], names[at].upper(), names[at] + " ", "\x1b[2J"))
        return table.rename_columns(names)
    if kind == 3:
        return table.append_column(table.schema.field(at), table.column(at))
    return table.select([int(number) for number in rng.permutation(table.num_columns)])


def rows(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Double, reorder or take rows."""
    count = table.num_rows
    kind = rng.integers(5)
    if kind == 0:
        return table.slice(0, 0)
    if kind == 1:
        return table.slice(0, max(count - 1, 0))
    if kind == 2:
        return pa.concat_tables([table, table])
    if kind == 3:
        return pa.concat_tables([table] * int(rng.choice([3, 50, 2000])) if table.nbytes < 50_000 else [table] * 3)
    return table.take(rng.permutation(count))


def shared_text(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Let a few kilobytes stand for gigabytes: rows that share a long text in a dictionary."""
    texts = [
        at for at, field in enumerate(table.schema) if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    ]
    if not texts:
        raise Unchanged
    at = pick(rng, texts)
    repeated = table.take(np.arange(SHARING) % table.num_rows) if rng.random() < 0.7 else table
    content: Any = "w" * LONG
    values = pa.array([content]) if pa.types.is_string(table.schema.field(at).type) else pa.array([content.encode()])
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(repeated.num_rows, np.int32)), values)
    if rng.random() < 0.5 or repeated is table:
        return repeated.set_column(at, table.column_names[at], column)
    return repeated.append_column("more", column)


def long_list(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Put lists of ten million entries into cells."""
    at, count = int(rng.integers(table.num_columns)), table.num_rows
    length = MANY if rng.random() < 0.5 else 2 * MANY // 10
    offsets = np.minimum(np.arange(count + 1), 1 if rng.random() < 0.5 else count) * length
    if offsets[-1] > 3 * MANY:
        offsets = np.minimum(offsets, 3 * MANY)
    field = table.schema.field(at)
    values = np.zeros(int(offsets[-1]), np.int8)
    inner = pa.array(values)
    if pa.types.is_list(field.type) and pa.types.is_integer(field.type.value_type):
        inner = inner.cast(field.type.value_type)
    array = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), inner)
    return table.set_column(at, field.name, array)


def schema_metadata(table: pa.Table, rng: Rng, bait: Bait) -> pa.Table:
    """Change what a schema says about itself: for datasets, for pandas, of extension types."""
    metadata = dict(table.schema.metadata or {})
    kind = rng.integers(4)
    if kind == 0:
        features = json.loads(metadata.get(b"huggingface", b"{}")) or {"info": {"features": {"a": {"_type": "Value"}}}}
        text = _hostile_leaf(json.dumps(features).encode(), rng, bait)
        metadata[b"huggingface"] = pick(rng, (text, b"{", b"[" * 100_000, b"null", b"w" * 1_000_000))
    elif kind == 1:
        metadata[b"pandas"] = pick(rng, (b"{", b'{"index_columns": ["x"], "columns": 3}', b"w" * 1_000_000))
    elif kind == 2:
        metadata[hostile(rng, bait).encode("utf-8", "replace")] = b"x"
    else:
        at = int(rng.integers(table.num_columns))
        pickled = pickle.dumps(_Touch(bait.folder / "owned"))
        marks = {
            b"ARROW:extension:name": pick(rng, (b"arrow.py_extension_type", b"datasets.features.features", b"x")),
            b"ARROW:extension:metadata": pick(rng, (pickled, b"\xff" * 100)),
        }
        return table.cast(table.schema.set(at, table.schema.field(at).with_metadata(marks)))
    return table.replace_schema_metadata(metadata)


@dataclass
class _Touch:
    """Makes a file when it is unpickled."""

    path: Path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


def row_of_forger(out: Path, bait: Bait, rng: Rng) -> str:
    """Change rows as `forger` does: all hashes and counts are those of the changed rows."""
    names: list[str] = []

    def change(forged: Any) -> None:
        table = pick(rng, forged.tables)
        found = forged.rows(table)
        for _ in range(int(rng.choice([1, 3]))):
            row = pick(rng, found)
            column = pick(rng, row)
            if isinstance(row[column], str):
                row[column] = hostile(rng, bait)
            elif isinstance(row[column], dict):
                row[column] = {**row[column], "path": hostile(rng, bait)}
            elif isinstance(row[column], list):
                row[column] = row[column] * pick(rng, (0, 2, 1000))
            elif row[column] is not None:
                row[column] = type(row[column])(pick(rng, (0, 1, 127, 99)))
            names.append(f"{table}.{column}")

    _forge(out, change)
    return "forged " + ", ".join(names)


def _forge(out: Path, change: Callable[[Any], None]) -> None:
    import forger

    copy = out.with_name(out.name + "-forged")
    shutil.rmtree(copy, ignore_errors=True)
    forger._read.cache_clear()
    try:
        forger.forge(out, copy, change, card=False)
    except Exception as error:  # such a row cannot be written
        shutil.rmtree(copy, ignore_errors=True)
        raise Unchanged from error
    shutil.rmtree(out)
    copy.rename(out)


VALUE_CHANGES: tuple[Callable[[pa.Table, Rng, Bait], pa.Table], ...] = (
    *(cells, cells, cells, typed, typed, columns, rows, shared_text, long_list, schema_metadata),
)


def change_table(out: Path, bait: Bait, rng: Rng) -> str:
    """Change rows, with all that follows from them or without."""
    return (row_of_forger if rng.random() < 0.35 else change_values)(out, bait, rng)


def change_footer(out: Path, bait: Bait, rng: Rng) -> str:
    """Change bits of a Parquet footer, its length, or what its key-value metadata says."""
    path = pick(rng, tables(out))
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - size], content[-8 - size : -8]
    kind = rng.integers(5)
    if kind == 0:
        at = int(rng.integers(min(len(footer), 24)))  # version, the schema's beginning
        new = footer[:at] + bytes([footer[at] ^ 1 << int(rng.integers(8))]) + footer[at + 1 :]
    elif kind == 1:
        new = flip(footer, rng)
    elif kind == 2:
        new = _varint(footer, path, rng)
    elif kind == 3:
        size = int(pick(rng, (0, 1, size - 1, size + 1, 2**31 - 1, 2**32 - 1)))
        path.write_bytes(body + footer + size.to_bytes(4, "little") + content[-4:])
        return f"{path.relative_to(out).as_posix()}, its footer's length"
    else:
        new = footer
        place = footer.find(b"ARROW:schema")
        if place < 0:
            raise Unchanged
        start = place + len("ARROW:schema") + 4
        text = bytearray(footer[start : start + 400])
        for at in rng.integers(0, len(text), 6):
            text[int(at)] = int(pick(rng, base64.b64encode(bytes(range(48)))))
        new = footer[:start] + bytes(text) + footer[start + len(text) :]
    if new == footer:
        raise Unchanged
    path.write_bytes(body + new + len(new).to_bytes(4, "little") + content[-4:])
    return f"{path.relative_to(out).as_posix()}, footer, change {kind}"


def _varint(footer: bytes, path: Path, rng: Rng) -> bytes:
    """Replace a number that the footer states, such as of rows or bytes, by a huge or a negative one."""
    metadata = pq.read_metadata(path)
    stated = {metadata.num_rows}
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        chunks = [group.column(column) for column in range(group.num_columns)]
        stated |= {group.num_rows, group.total_byte_size}
        stated |= {number for one in chunks for number in (one.num_values, one.total_compressed_size)}
        stated |= {number for one in chunks for number in (one.total_uncompressed_size, one.data_page_offset)}
    number = pick(rng, sorted(stated))
    old = _zigzag(number)
    places = [match.start() for match in re.finditer(re.escape(old), footer)]
    if not places:
        raise Unchanged
    new = pick(rng, (-1, 0, number + 1, 2**31 - 1, 2**31, 2**40, 2**62, 999_999, 1_900_000_000))
    at = pick(rng, places)
    return footer[:at] + _zigzag(int(new)) + footer[at + len(old) :]


def _zigzag(number: int) -> bytes:
    value = (number << 1) ^ (number >> 63)
    value &= 2**64 - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


# Videos

VIDEO_TEXTS: tuple[Callable[[Bait], bytes], ...] = (
    lambda bait: b"",
    lambda bait: b"\x00",
    lambda bait: b"ffconcat version 1.0\nfile " + str(bait.secret).encode() + b"\nduration 5\n",
    lambda bait: b"ffconcat version 1.0\nfile 'http://127.0.0.1:%d/a.mp4'\n" % PORT,
    lambda bait: b"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:%d/a.ts\n#EXT-X-ENDLIST\n" % PORT,
    lambda bait: (
        b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:5,\nfile://%s\n#EXT-X-ENDLIST\n" % str(bait.secret).encode()
    ),
    lambda bait: b"http://127.0.0.1:%d/a.mp4" % PORT,
    lambda bait: (
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    ),
    lambda bait: (
        b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>'
        b"<AdaptationSet><Representation id='1' bandwidth='1'><BaseURL>http://127.0.0.1:%d/a.mp4</BaseURL>"
        b"</Representation></AdaptationSet></Period></MPD>" % PORT
    ),
    lambda bait: b"RTSPtextrtsp://127.0.0.1:%d/x\r\n" % PORT,
    lambda bait: b"P6\n100000 100000\n255\n" + bytes(100),
    lambda bait: b"GIF89a\xff\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02L\x01\x00;",
    lambda bait: b"RIFF\xff\xff\xff\xffAVI LIST\xff\xff\xff\x7fhdrlavih" + b"\xff" * 200,
    lambda bait: b"\x1aE\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xfe" + b"B\x82\x88matroska" + b"\xff" * 100,
    lambda bait: b"[Script Info]\n[Events]\n" * 1000,
)
BOXES = b"moov trak mdia minf stbl udta edts dinf".split()


def leaves(content: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    """List the boxes of an MP4 file that hold no others, but for padding: name, and where their contents lie."""
    end = len(content) if end is None else end
    while start + 8 <= end:
        size, name = struct.unpack(">I4s", content[start : start + 8])
        stop = start + size if size >= 8 else end
        if name in BOXES:
            yield from leaves(content, start + 8, min(stop, end))
        elif name not in (b"free", b"skip"):
            yield name, start + 8, min(stop, end)
        start = stop


def change_film(content: bytes, bait: Bait, rng: Rng) -> bytes:
    """Damage an MP4 file where it is read, or put something else in its place."""
    kind = rng.integers(6)
    if kind == 0:
        return bytes(pick(rng, VIDEO_TEXTS)(bait))
    boxes = [box for box in leaves(content) if box[2] > box[1]]
    if kind == 1:
        boxes = [box for box in boxes if box[0] == b"mdat"]
    _, start, end = pick(rng, boxes)
    changed = bytearray(content)
    if kind == 2:  # sizes and counts
        sized = [box for box in boxes if box[0] in (b"stsz", b"stts", b"stsc", b"stco", b"ctts", b"elst", b"stsd")]
        _, start, end = pick(rng, sized or boxes)
        width = 4 * int(rng.integers(max((end - start) // 4, 1)))
        number = int(pick(rng, (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**24, 65535)))
        changed[start + width : start + width + 4] = number.to_bytes(4, "big")[: end - start - width]
    elif kind == 3:  # a box that claims to be larger
        number = int(pick(rng, (0, 1, 2**31 - 1, 2**32 - 1, 2**30)))
        changed[start - 8 : start - 4] = number.to_bytes(4, "big")
    elif kind == 4:  # the sizes of pictures
        place = content.find(b"avc1") + 4 + 24
        if place < 28 or place + 4 > len(content):
            raise Unchanged
        changed[place : place + 4] = pick(rng, (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x40\x00\x40\x00"))
    else:
        for at in rng.integers(start, end, int(rng.choice([1, 4, 200]))):
            changed[int(at)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def change_video(out: Path, bait: Bait, rng: Rng) -> str:
    """Change what lies in the column of videos: its bytes, or the path beside them."""
    with_videos = [(path, name) for path in tables(out) if (name := _video_column(path))]
    if not with_videos:
        raise Unchanged
    path, name = pick(rng, with_videos)
    if rng.random() < 0.5:

        def forged(content: Any) -> None:
            row = pick(rng, content.rows(path.parent.name))
            row[name] = {**row[name], "bytes": _other_film(row[name]["bytes"], bait, rng)}

        _forge(out, forged)
        return f"forged video of {path.parent.name}"
    table = pq.read_table(path)
    values = table.column(name).to_pylist()
    at = int(rng.integers(len(values)))
    kind = rng.integers(4)
    if kind == 0:  # loaders open paths where there are no bytes
        address = pick(rng, (str(bait.secret), f"../{bait.secret.name}", f"http://127.0.0.1:{PORT}/a.mp4"))
        values[at] = {"bytes": None, "path": address}
    elif kind == 1:
        values[at] = {**values[at], "path": hostile(rng, bait).encode("utf-8", "replace").decode()}
    else:
        values[at] = {**values[at], "bytes": _other_film(values[at]["bytes"], bait, rng)}
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    new = table.set_column(place, field, pa.array(values, field.type))
    if new.equals(table):
        raise Unchanged
    pq.write_table(new, path)
    return f"video in {path.relative_to(out).as_posix()}, change {kind}"


def _other_film(content: bytes, bait: Bait, rng: Rng) -> bytes:
    changed = change_film(content, bait, rng)
    if changed == content:
        raise Unchanged
    return changed


def _video_column(path: Path) -> str:
    for field in pq.read_schema(path):
        if pa.types.is_struct(field.type) and {one.name for one in field.type} >= {"bytes", "path"}:
            return str(field.name)
    return ""


# Names and links


def change_names(out: Path, bait: Bait, rng: Rng) -> str:
    """Put links, pipes, folders or other names in the place of files, or take them, or add some."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    folders = sorted(path for path in out.rglob("*") if path.is_dir())
    path, folder = pick(rng, files), pick(rng, [out, out, *folders])
    change = pick(rng, NAME_CHANGES)
    change(path, folder, out, bait, rng)
    return f"{change.__name__} {path.relative_to(out).as_posix()} {folder.relative_to(out).as_posix()}"


def _link(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    path.unlink()
    copy = bait.plain / path.relative_to(out)
    path.symlink_to(pick(rng, (bait.secret, copy, copy, f"../{bait.secret.name}", "/dev/zero", "nowhere", path)))


def _folder_link(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    if folder == out:
        raise Unchanged
    shutil.rmtree(folder)
    folder.symlink_to(pick(rng, (bait.folder, bait.plain / folder.relative_to(out), out, "/", folder)))


def _pipe(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder_for_file(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    path.unlink()
    path.mkdir()
    if rng.random() < 0.5:
        (path / "file").write_text("x")


def _file_for_folder(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    if folder == out:
        raise Unchanged
    shutil.rmtree(folder)
    folder.write_text("x")


def _hard_link(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    path.unlink()
    os.link(bait.plain / path.relative_to(out), path)


def _missing(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    path.unlink()


def _folder_missing(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    if folder == out:
        raise Unchanged
    shutil.rmtree(folder)


def _renamed(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    os.rename(path, folder / _name(rng))


def _extra(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    shutil.copy(path, folder / _name(rng))


def _extra_link(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    (folder / _name(rng)).symlink_to(pick(rng, (bait.secret, bait.folder, "/dev/zero", "nowhere")))


def _more(path: Path, folder: Path, out: Path, bait: Bait, rng: Rng) -> None:
    """Add shards that the globs of loaders or of ours find."""
    path = pick(rng, tables(out))
    name = pick(rng, ("{}-more.parquet", "{}-00001-of-00002.parquet", "{}-x-of-y.parquet", "{}-00000.part"))
    shutil.copy(path, path.with_name(name.format(path.name.split("-")[0])))


def _name(rng: Rng) -> bytes | str:
    return str(
        pick(
            rng,
            (
                *("extra.txt", "test-more.parquet", "a\nb", "\x1b[2J", "..x", "a\\..\\b", "\udcff", "x" * 250, " "),
                *("<img src=x>.md", ".x.1.tmp", ".build.json.1.tmp.json", "setup.py", "out.py", "test-0-of-1.parquet"),
                *("dataset_infos.json", "metadata.csv", "é\u202e.parquet", "-rf", "*", "[a]", "README.md.lock"),
            ),
        )
    )


NAME_CHANGES = (
    *(_link, _link, _folder_link, _pipe, _folder_for_file, _file_for_folder, _hard_link, _missing),
    *(_folder_missing, _renamed, _extra, _extra_link, _more),
)


KINDS: dict[str, Callable[[Path, Bait, Rng], str]] = {
    "json": change_json,
    "card": change_card,
    "values": change_table,
    "footer": change_footer,
    "video": change_video,
    "names": change_names,
}
PLAIN = "untouched"


def damage(out: Path, kind: str, bait: Bait, rng: Rng) -> str:
    """Change an output in place so that something that is read differs; say what was changed."""
    for _ in range(TRIES):
        with suppress(Unchanged, RecursionError, UnicodeError, json.JSONDecodeError, IndexError, pa.ArrowException):
            return KINDS[kind](out, bait, rng)
    raise RuntimeError(f"nothing of {kind} could be changed in {out}")
