"""Read CSV and JSON files, check each value, and report every problem with its file, line and column."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

from ..core import documents
from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.left_out import LeftOut
from ..video.source_files import find_file, same_name

SHOWN = 20
LONGEST = 1e7
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|\.[0-9]+")
WHOLE = re.compile(r"[0-9]{1,9}")
NAME = re.compile(r"(?!\.)[^/\\\x00-\x1f\x7f\ud800-\udfff]+")
NAME_BYTES = 200
NAME_EXPECTED = f"a name of at most {NAME_BYTES} bytes without / and \\, not starting with a dot"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass
class Problems:
    """Collects the problems found in input files so that a single error can report them all."""

    lines: list[str] = field(default_factory=list)
    empty_rows: int = 0  # spreadsheets append rows such as ",,," to tables; these are skipped
    other_columns: set[str] = field(default_factory=set)  # columns that have already been reported
    left_out: list[LeftOut] = field(default_factory=list)

    def rows_left_out(self, path: Path) -> list[LeftOut]:
        """Return everything that was left out, with the number of empty rows."""
        reason, detail = "rows_left_out_empty", "the row has no values"
        empty = LeftOut("reading", "rows", path.name, reason, detail, file=path.name, count=self.empty_rows)
        return [*self.left_out, *([empty] if self.empty_rows else [])]

    def add(self, path: Path, line: int | None, column: str | None, expected: str, given: str) -> None:
        """Add a problem with its location, the expected value and the given one."""
        place = path.name + (f", line {line}" if line else "") + (f", column {column}" if column else "")
        shown = given if len(given) <= 80 else given[:77] + "…"
        self.lines.append(f"{place}: expected {expected}, got {shown!r}")

    def raise_if_any(self, advice: str) -> None:
        """Raise InputError if any problems were added. The message lists the first twenty and ends in `advice`."""
        if not self.lines:
            return
        more = len(self.lines) - SHOWN
        listed = "\n  ".join(self.lines[:SHOWN]) + (f"\n  … and {more} more" if more > 0 else "")
        count = "1 problem" if len(self.lines) == 1 else f"{len(self.lines)} problems"
        raise InputError(f"{count} in the annotations; nothing was written.\n  {listed}\n{advice}")


@dataclass(frozen=True)
class Entry:
    """A row of a table or an object in a JSON file. Values are checked when they are read.

    Attributes:
        line: Line number, if the file has lines.
        place: Path within a JSON file, such as "videos[3].".
    """

    values: Mapping[str, Any]
    path: Path
    problems: Problems
    line: int | None = None
    place: str = ""

    def wrong(self, key: str, expected: str, given: Any) -> None:
        """Report that the value of `key` is not what was expected."""
        self.problems.add(self.path, self.line, self.place + key, expected, "" if given is None else str(given))

    def leave_out(self, kind: str, name: str, reason: str, detail: str, source_id: str = "") -> None:
        """Record that something in this entry is left out; see `LeftOut`."""
        file = self.path.name
        self.problems.left_out.append(LeftOut("reading", kind, name, reason, detail, source_id, file, self.line))

    def has(self, key: str) -> bool:
        """Return whether `key` has a value that is not empty."""
        return self.values.get(key) not in (None, "")

    def refuse_other_columns(self, columns: Sequence[str]) -> None:
        """Report any columns that are not in `columns`, once per file."""
        for key in sorted(self.values.keys() - {*columns} - self.problems.other_columns):
            self.problems.other_columns.add(key)
            self.wrong(key, f"only the columns {', '.join(columns)}", key)

    def name(self, key: str) -> str:
        """Return a value that can serve as a file name. Report any other value and return ""."""
        name = file_name(self.values.get(key))
        if not name:
            self.wrong(key, NAME_EXPECTED, self.values.get(key))
        return name

    def text(self, key: str) -> str:
        """Return a text without surrounding spaces. Report a missing text and return ""."""
        given = self.values.get(key)
        text = given.strip() if isinstance(given, str) else ""
        if not text or HALF_CHARACTER.search(text):
            self.wrong(key, "a text", given)
            return ""
        return text

    def choice(self, key: str, meanings: Mapping[str, str]) -> str:
        """Look up the value in `meanings` and return its meaning. Report any other value and return ""."""
        given = self.values.get(key)
        if isinstance(given, str) and given in meanings:
            return meanings[given]
        self.wrong(key, f"one of {', '.join(meanings)}", given)
        return ""

    def length(self, key: str, expected: str = "a length in seconds") -> float:
        """Return a length in seconds. Report an invalid one and return 0."""
        length = seconds(str(self.values.get(key)))
        if not length:
            self.wrong(key, expected, self.values.get(key))
        return length or 0.0

    def frames(self, start: str, end: str) -> tuple[int, int] | None:
        """Return the first and the end frame. Report invalid numbers, or an end before the start, and return None."""
        found: list[int] = []
        for key in (start, end):
            given = self.values.get(key)
            if isinstance(given, bool) or not WHOLE.fullmatch(str(given)):
                self.wrong(key, "a frame: a whole number, 0 or more", given)
            else:
                found.append(int(str(given)))
        if len(found) < 2:
            return None
        if found[1] <= found[0]:
            self.wrong(end, f"a frame after the start ({found[0]})", found[1])
            return None
        return found[0], found[1]

    def times(self, start: str, end: str) -> tuple[float, float] | None:
        """Return a start and an end in seconds. Report invalid numbers, or an end before the start, and return None."""
        return self.in_order(self.values.get(start), self.values.get(end), (start, end))

    def in_order(self, start: Any, end: Any, keys: tuple[str, str]) -> tuple[float, float] | None:
        """Parse a start and an end in seconds. Report invalid numbers, or an end before the start, and return None."""
        times = [seconds(str(value)) for value in (start, end)]
        for key, value, time in zip(keys, (start, end), times, strict=True):
            if time is None:
                self.wrong(key, "a time in seconds such as 12.5", value)
        first, last = times
        if first is None or last is None:
            return None
        if last <= first:
            self.wrong(keys[1], f"an end after the start ({start})", end)
            return None
        return first, last


def read_csv(path: Path, required: Sequence[str], problems: Problems) -> Iterator[Entry]:
    """Yield the rows of a CSV file with a header, without spaces around the values.

    Rows with missing or extra fields are reported and skipped. Rows that consist only of commas are skipped and
    counted.

    Raises:
        InputError: The header lacks a required column, or the file is not a CSV.
    """
    reader = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    line = 1
    try:
        header = [name.strip() for name in next(reader, [])]
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise InputError(f"{path.name}, line 1: duplicate column names: {', '.join(twice)}.")
        missing = [name for name in required if name not in header]
        if missing:
            separated = len(header) == 1 and (";" in header[0] or "\t" in header[0])
            raise InputError(
                f"{path.name}, line 1: expected the columns {', '.join(required)}; {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing (got: {', '.join(header) or 'an empty file'})."
                + " Separate the columns with commas."
                * separated
            )
        line = reader.line_num + 1
        for fields in reader:
            if len(fields) > 1 and not any(value.strip() for value in fields):
                problems.empty_rows += 1
            elif len(fields) == len(header):
                yield Entry(dict(zip(header, (v.strip() for v in fields), strict=True)), path, problems, line)
            elif fields:
                problems.add(path, line, None, f"{len(header)} fields", f"{len(fields)}: {','.join(fields)}")
            line = reader.line_num + 1
    except csv.Error as error:
        lines = f"line {line}" if reader.line_num == line else f"lines {line} to {reader.line_num}"
        raise InputError(
            f"{path.name}, {lines}: invalid CSV ({error}). Close every quotation mark, and double "
            "those within a quoted value."
        ) from error


def entries(path: Path, required: Sequence[str], advice: str, problems: Problems) -> Iterator[Entry]:
    """Yield the rows of a CSV file with a header (`.csv`), or the objects of JSON Lines (`.jsonl`, `.ndjson`, `.json`).

    Malformed rows are reported and skipped. Only a CSV header is checked for the `required` columns. `advice` is
    appended to error messages.

    Raises:
        InputError: The file cannot be read, has another suffix, or lacks a required column.
    """
    kind = path.suffix.lower()
    if kind == ".csv":
        yield from read_csv(path, required, problems)
    elif kind in JSON_SUFFIXES:
        for line, text in enumerate(StringIO(read_text(path)), 1):
            if not text.strip():
                continue
            try:
                value = parse_json(text, path, problems, line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield Entry(value, path, problems, line)
            else:
                problems.add(path, line, None, "one JSON object on each line", text.strip())
    elif not path.exists():
        raise UsageError(f"there is no file {path}. {advice}")
    else:
        raise InputError(f"{path.name}: expected the suffix .csv or {', '.join(JSON_SUFFIXES)}. {advice}")


def parse_json(text: str, path: Path, problems: Problems, line: int | None = None) -> Any:
    """Parse JSON and report duplicate keys. Raise ValueError if the text is not valid JSON."""

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(items)
        if len(values) < len(items):
            twice = [name for name, times in Counter(name for name, _ in items).items() if times > 1]
            for name in twice:
                problems.add(path, line, None, "unique keys in an object", name)
        return values

    return documents.parse_json(text, once, replace_surrogates=False)


def read_json(path: Path, problems: Problems) -> Any:
    """Read a JSON file and report duplicate keys. Raise InputError if it cannot be read or is not valid JSON."""
    try:
        return parse_json(read_text(path), path, problems)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path.name}: invalid JSON ({error}).") from error


def choose_files(path: Path, splits: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[Path, list[str]]:
    """Find the file to read for each split, and return the splits that each file provides.

    Args:
        path: A file for all splits, or a folder that contains the files, at most two levels deep.
        splits: Requested splits.
        names: Possible file names of each split, in order of preference.

    Raises:
        InputError: A split, path or file does not exist.
    """
    unknown = [split for split in splits if split not in names]
    if unknown or not splits:
        raise UsageError(f"unknown split: {', '.join(unknown) or 'none given'}. Choose from {', '.join(names)}.")
    if path.is_file():
        return {path: list(splits)}
    if not path.is_dir():
        raise UsageError(
            f"there is no file or folder {path}. Specify the annotation file, or the folder that contains it."
        )
    chosen: dict[Path, list[str]] = {}
    for split in dict.fromkeys(splits):
        file = next(filter(None, (find_file(path, name) for name in names[split])), None)
        if file is None:
            raise InputError(
                f"found no {' or '.join(names[split])} in {path} or its subfolders (up to two levels deep). The split "
                f"{split} requires one of these files."
            )
        chosen.setdefault(file, []).append(split)
    return chosen


def json_entry(value: Any, path: Path, problems: Problems, place: str) -> Entry:
    """Wrap a JSON object for checking. Any other value is treated as an object without values."""
    return Entry(value if isinstance(value, dict) else {}, path, problems, place=place)


def named_columns(known: Mapping[str, str], given: Mapping[str, str] | None) -> dict[str, str]:
    """Replace default column names with the user's. Raise UsageError if there is no such column."""
    if unknown := sorted({*(given or ())} - {*known}):
        raise UsageError(f"unknown column: {', '.join(unknown)}. Choose from {', '.join(known)}.")
    return {**known, **(given or {})}


def find_split_files(
    folder: Path, name: str, splits: Sequence[str], advice: str, error: type[InputError] = InputError
) -> dict[str, Path]:
    """Find the files of the given splits, at most two levels deep. Raise `error` if there are none."""
    names = {split: name.format(split) for split in splits}
    found = {split: file for split, name in names.items() if (file := find_file(folder, name))}
    if not found:
        raise error(
            f"found no {' or '.join(names.values())} in {folder} or its subfolders (up to two levels deep). {advice}"
        )
    return found


def check_splits(path: Path, wanted: Iterable[str], found: Iterable[str], problems: Problems) -> None:
    """Raise InputError if a requested split has no entries, unless problems already reported may be the cause."""
    absent = {*wanted} - {*found}
    if absent and not problems.lines:
        raise InputError(f"{path.name} has no entries for the split {', '.join(sorted(absent))}.")


def file_name(value: Any) -> str:
    """Return a string or a whole number as a file name (in NFC), or "" if it cannot be one."""
    name = same_name(str(value).strip()) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return name if NAME.fullmatch(name) and len(name.encode()) <= NAME_BYTES else ""


def is_file_name(text: str) -> bool:
    """Return whether an id can serve as a file name: it is not a path, not hidden, and all characters are printable."""
    return bool(text) and text.isprintable() and not text.startswith(".") and not set(text) & set("/\\")


def seconds(text: str) -> float | None:
    """Parse a time in seconds. Return None if it is not a number from 0 to 10⁷ (115 days)."""
    value = float(text) if NUMBER.fullmatch(text.strip()) else inf
    return value if value <= LONGEST else None
