"""Damage and malice for files: of bytes, and of what CSV and JSON hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator

TEXTS = (
    *(
        "",
        " ",
        "nan",
        "None",
        "null",
        "true",
        "-1",
        "0",
        "1e999",
        "1e300",
        "-0.0",
        "9" * 20,
        "9" * 5000,
        "²",
        "½",
        "NaN",
    ),
    *(
        "../../etc/passwd",
        "/",
        "a/b",
        "a\\b",
        ".",
        "..",
        "x" * 300,
        "x" * 20_000,
        "\x00",
        "\ud800",
        "\u202e",
        "é" * 200,
    ),
    *(
        '"',
        "'",
        ",",
        ";",
        "\n",
        "\r",
        "=cmd()",
        "{",
        "[[[[",
        "{{7*7}}",
        "%s%n",
        "\ufeff",
        "<think>" * 500,
        "(A) " * 500,
    ),
    *("0.0 0.0", "c000 1 2", "c999 1 2;c000 2 1", "##", "a##b", "1/0", "0/1", "1:2:3", "2001-99-99", "0x" + "f" * 5000),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, ["a", "b"], [["c000", "0", "1"]] * 3, {"id": 1}),
)
TOKENS = tuple(
    token.encode() for token in ('"', ",", "\n", "{", "}", "[", "]", ":", "\\u0000", "\\ud800", "1e999", "&a *a", "\t")
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if depth % 2 else {"a": value}
    return value


def flip(content: bytes, rng: Rng) -> bytes:
    """Change a few bits."""
    changed = bytearray(content)
    for place in rng.integers(0, len(changed), rng.integers(1, 9)) if changed else ():
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def overwrite(content: bytes, rng: Rng) -> bytes:
    """Write a few bytes that often matter: zeros, ones, large and negative numbers."""
    start, length = _span(content, rng, 16)
    byte = bytes([int(rng.choice([0, 1, 0x7F, 0x80, 0xFF, int(rng.integers(256))]))])
    return content[:start] + byte * length + content[start + length :]


def truncate(content: bytes, rng: Rng) -> bytes:
    """Cut the end, or the beginning, off."""
    place = int(rng.integers(0, len(content) + 1))
    return content[:place] if rng.random() < 0.8 else content[place:]


def delete(content: bytes, rng: Rng) -> bytes:
    """Take a piece out."""
    start, length = _span(content, rng, max(len(content) // 4, 1))
    return content[:start] + content[start + length :]


def insert(content: bytes, rng: Rng) -> bytes:
    """Put random bytes, a token of a format or a hostile text somewhere."""
    kind = rng.integers(3)
    if kind == 0:
        piece = rng.bytes(int(rng.integers(1, 64)))
    elif kind == 1:
        piece = TOKENS[int(rng.integers(len(TOKENS)))] * int(rng.choice([1, 1, 2, 100, 3000]))
    else:
        piece = _text(rng).encode("utf-8", "surrogatepass")
    place = int(rng.integers(0, len(content) + 1))
    return content[:place] + piece + content[place:]


def splice(content: bytes, rng: Rng) -> bytes:
    """Copy a piece over, or before, another."""
    source, length = _span(content, rng, max(len(content) // 2, 1))
    target = int(rng.integers(0, len(content) + 1))
    skipped = length if rng.random() < 0.5 else 0
    return content[:target] + content[source : source + length] + content[target + skipped :]


def json_value(content: bytes, rng: Rng) -> bytes:
    """Replace, rename, double or remove a value anywhere in JSON, or in a line of JSON lines."""
    lines = (
        content.decode("utf-8-sig").split("\n") if b"\n{" in content[:-1] and not content.startswith(b"{\n") else None
    )
    if lines is None:
        return _dumped(_changed(json.loads(content), rng)).encode("utf-8", "surrogatepass")
    at = int(rng.choice([number for number, line in enumerate(lines) if line.strip()]))
    lines[at] = _dumped(_changed(json.loads(lines[at]), rng))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def csv_field(content: bytes, rng: Rng) -> bytes:
    """Replace, exchange, add or remove a field, or double a row."""
    text = content.decode("utf-8-sig")
    tab = "\t" if "\t" in text.split("\n")[0] else ","
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=tab) if row]
    row = rows[int(rng.integers(len(rows)))]
    place, other = (int(rng.integers(len(row))) for _ in range(2))
    kind = rng.integers(6)
    if kind == 0:
        row[place], row[other] = row[other], row[place]
    elif kind == 1:
        row.insert(place, _text(rng))
    elif kind == 2:
        del row[place]
    elif kind == 3:
        rows.insert(int(rng.integers(len(rows))), list(row))
    else:
        row[place] = _text(rng)
    target = io.StringIO()
    csv.writer(target, delimiter=tab, escapechar="\\").writerows(rows)
    return target.getvalue().encode("utf-8", "surrogatepass")


def words(content: bytes, rng: Rng) -> bytes:
    """Replace one word of a text by a hostile one."""
    parts = content.split(b" ")
    parts[int(rng.integers(len(parts)))] = _text(rng).encode("utf-8", "surrogatepass")
    return b" ".join(parts)


BYTES: tuple[Callable[[bytes, Rng], bytes], ...] = (flip, overwrite, truncate, delete, insert, splice)
BY_KIND: dict[str, Callable[[bytes, Rng], bytes]] = {"json": json_value, "csv": csv_field, "text": words}


def mutate(content: bytes, kind: str, rng: Rng) -> bytes:
    """Damage a file.

    Args:
        content: What it holds.
        kind: "json" (lines too), "csv", "text" or "bytes". Half the changes of the first three are in their terms.
        rng: Draws what and where.
    """
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        change = BYTES[int(rng.integers(len(BYTES)))]
        if kind in BY_KIND and rng.random() < 0.5:
            change = BY_KIND[kind]
        try:
            content = change(content, rng)
        except (ValueError, IndexError, csv.Error, RecursionError):  # no longer of its kind
            content = flip(content, rng)
    return content


def _span(content: bytes, rng: Rng, longest: int) -> tuple[int, int]:
    return int(rng.integers(0, len(content) + 1)), int(rng.integers(1, longest + 1))


def _text(rng: Rng) -> str:
    return TEXTS[int(rng.integers(len(TEXTS)))]


def _value(rng: Rng) -> Any:
    kind = rng.integers(5)
    if kind < 2:
        return _text(rng)
    return nested(int(rng.choice([40, 60, 900]))) if kind == 2 else VALUES[int(rng.integers(len(VALUES)))]


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict) and len(value) > 8 else None)


def _changed(value: Any, rng: Rng) -> Any:
    """Change one place of a JSON value, chosen by walking down from its top."""
    inner = value
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        if not keys:
            return _value(rng)
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(inner[key], dict | list) and inner[key] and rng.random() < 0.8:
            inner = inner[key]
            continue
        kind = rng.integers(5)
        if kind == 0:
            del inner[key]
        elif kind == 1 and isinstance(inner, dict):
            inner[_text(rng)] = inner.pop(key)
        elif kind == 1:
            inner.append(inner[key])
        else:
            inner[key] = _value(rng)
        return value
