"""Text files that people have opened in spreadsheets: decoding, problems by file, line and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import inf
from pathlib import Path

from ..core.documents import read_text
from ..core.errors import InputError

SHOWN = 20
LONGEST = 1e7
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|\.[0-9]+")


@dataclass
class Problems:
    """Collects what is wrong with the inputs, so that one error tells all of it."""

    lines: list[str] = field(default_factory=list)
    empty_rows: int = 0  # which were passed over: ",,," as spreadsheets write behind a table

    def add(self, path: Path, line: int | None, column: str | None, expected: str, given: str) -> None:
        """Note one problem: where, what was expected, what stands there."""
        place = path.name + (f", line {line}" if line else "") + (f", column {column}" if column else "")
        shown = given if len(given) <= 80 else given[:77] + "…"
        self.lines.append(f"{place}: expected {expected}, got {shown!r}")

    def raise_if_any(self, advice: str) -> None:
        """Raise one InputError with every problem (the first twenty in full)."""
        if not self.lines:
            return
        more = len(self.lines) - SHOWN
        listed = "\n  ".join(self.lines[:SHOWN]) + (f"\n  … and {more} more" if more > 0 else "")
        count = "1 problem" if len(self.lines) == 1 else f"{len(self.lines)} problems"
        raise InputError(f"{count} in the annotations; nothing was written.\n  {listed}\n{advice}")


def read_csv(path: Path, required: Sequence[str], problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    """Read a CSV with a header.

    Args:
        path: The file.
        required: Columns it must have; others are kept too.
        problems: Takes rows with too few or too many fields; such rows are left out. Rows of nothing but commas are
            left out too, and only counted.

    Yields:
        The line on which the row begins, and the row by column name, fields stripped.

    Raises:
        InputError: The header lacks a required column, or the file is not a CSV.
    """
    reader = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise InputError(f"{path.name}, line 1: expected each column once; {', '.join(twice)} comes again.")
        missing = [name for name in required if name not in header]
        if missing:
            raise InputError(
                f"{path.name}, line 1: expected the columns {', '.join(required)}; {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing (got: {', '.join(header) or 'an empty file'})."
            )
        line = reader.line_num + 1
        for fields in reader:
            if len(fields) > 1 and not any(value.strip() for value in fields):
                problems.empty_rows += 1
            elif len(fields) == len(header):
                yield line, dict(zip(header, (value.strip() for value in fields), strict=True))
            elif fields:
                problems.add(path, line, None, f"{len(header)} fields", f"{len(fields)}: {','.join(fields)}")
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path.name}, line {reader.line_num}: not a well-formed CSV ({error}).") from error


def is_file_name(text: str) -> bool:
    """Return whether an id can name a file of its own: no path, not hidden, nothing unprintable."""
    return bool(text) and text.isprintable() and not text.startswith(".") and not set(text) & set("/\\")


def seconds(text: str) -> float | None:
    """Read a time in seconds; None unless it is a number from 0 to 10⁷, which are 115 days."""
    value = float(text) if NUMBER.fullmatch(text.strip()) else inf
    return value if value <= LONGEST else None
