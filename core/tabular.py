"""Read the rows of a user's file, one at a time, and recognise their columns.

CSV (separated by commas, semicolons or tabs), JSON Lines, JSON, Parquet and .xlsx are read by `read_rows`. A name is
compared regardless of case, spaces, hyphens and underscores by `Columns`, which refuses names that may be misspelled.
"""

from __future__ import annotations

import csv
import difflib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from .documents import once, parse_json, read_lines, read_text, shortened
from .errors import InputError, UsageError
from .extras import import_extra
from .files import regular

BATCH_ROWS, BATCH_BYTES = 4096, 1 << 20
LEAST_ROOM, EXPANSION = 500_000_000, 20  # bytes of a Parquet file in memory: base allowance, and factor of its size
MOST_COLUMNS = 1000  # a row of a workbook can claim 16,384 in a few bytes
MOST_CELLS, LARGEST_SHEETS = 5_000_000, 200_000_000  # of a workbook: cells, even empty ones, and bytes when unpacked
MOST_TAGS = 8_000_000  # of the XML in a workbook; openpyxl reads up to 300,000 a second, and a cell with a text has 8
WORKBOOK_FAULTS = (
    *(BadZipFile, EOFError, IndexError, KeyError, NotImplementedError),
    *(SyntaxError, TypeError, ValueError, zlib.error),
)
MOST_NAMED = 20
DEEPEST = 3  # levels of objects above the rows of a JSON document, as in {"database": {video: {…}}}
QUOTED = re.compile('"[^"]*"')
SEPARATING = re.compile(r"[\W_]+")
NEAR, LONGEST_NAME = 0.8, 60  # likeness of misspelled names, and length up to which names are compared
SHORTEST_NAME = 3
ADDITIONS = frozenset(
    (
        *("s", "t", "sec", "secs", "second", "seconds", "time", "times", "timestamp", "stamp", "ts"),
        *("name", "id", "file", "filename", "path", "text"),
    )
)
"""Words that people add to a name: start_time, video_id."""

MOST_KNOWN = 1000  # different sets of names in the rows of a file that are remembered


@dataclass(frozen=True)
class Row:
    """A row of a table, or an object in a JSON file.

    Attributes:
        values: Values by column. Empty for a header, and if all fields are empty, as in rows that spreadsheets append.
        names: The columns; for a table, those of the header.
        line: Line in the file, or number of the row in a Parquet file; None for a header and in a JSON document.
        pointer: Path within a JSON document, such as "[3].".
    """

    values: Mapping[str, Any]
    names: tuple[str, ...]
    line: int | None = None
    pointer: str = ""


@dataclass(frozen=True)
class Format:
    """How to read the rows of a file.

    Attributes:
        key: Column for the keys of a JSON object of objects.
        value: Column for the values of a JSON object without objects; if "", such an object is a row.
        replace_surrogates: Whether to replace lone surrogates in JSON, which cannot be encoded.
        wrong: Notes a malformed row, which is skipped: its line, what was expected and what was given. By default, an
            error is raised.
        special: Returns the rows of a JSON document of another kind, or None.
    """

    key: str = "id"
    value: str = ""
    replace_surrogates: bool = True
    wrong: Callable[[int | None, str, str], None] | None = None
    special: Callable[[Any], Iterator[dict[str, Any]] | None] = lambda content: None

    def refuse(self, path: Path, line: int | None, expected: str, given: str) -> None:
        """Note a malformed row, or raise InputError."""
        if self.wrong:
            self.wrong(line, expected, given)
            return
        raise InputError(f"{path.name}{f', line {line}' if line else ''}: expected {expected}, got {shortened(given)}.")


def read_rows(path: Path, how: Format | None = None) -> Iterator[Row]:
    """Yield the rows of a file. A table starts with its header, a row without values and line.

    Raises:
        UsageError: The file does not exist.
        InputError: The file has another format, is damaged, or needs too much memory.
    """
    read = READERS.get(path.suffix.lower())
    if not path.exists():
        raise UsageError(f"there is no file {path}.")
    if read is None:
        raise InputError(f"{path.name} has an unsupported file extension. Supported: {', '.join(READERS)}.")
    try:
        yield from read(regular(path), how or Format())
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


def _delimited(path: Path, how: Format) -> Iterator[Row]:
    lines = read_lines(path)
    first = next(lines, "")
    unquoted, usual = QUOTED.sub("", first), "\t" if path.suffix.lower() == ".tsv" else ","
    reader = csv.reader(chain([first], lines), delimiter=max((usual, *",;\t"), key=unquoted.count), strict=True)
    line = 1
    try:
        names = tuple(name.strip() for name in next(reader, []))
        _check_names(path.name, names)
        yield Row({}, names)
        line = reader.line_num + 1
        for fields in reader:
            values = [value.strip() for value in fields]
            if len(fields) > 1 and not any(values):
                yield Row({}, names, line)
            elif len(fields) == len(names):
                yield Row(_named(names, values), names, line)
            elif fields:
                how.refuse(path, line, f"{len(names)} fields", f"{len(fields)}: {','.join(fields)}")
            line = reader.line_num + 1
    except csv.Error as error:
        lines_of = f"line {line}" if reader.line_num == line else f"lines {line} to {reader.line_num}"
        raise InputError(
            f"{path.name}, {lines_of}: invalid CSV ({error}). Close every quotation mark, and double "
            "those within a quoted value."
        ) from error


def _check_names(called: str, names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{called} has {len(names):,} columns; the limit is {MOST_COLUMNS:,}.")
    repeated = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if repeated:
        raise InputError(f"{called}, line 1: duplicate column names: {', '.join(repeated)}.")


def _named(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if name}


def _json_lines(path: Path, how: Format, lines: Iterable[str] | None = None) -> Iterator[Row]:
    for line_number, line in enumerate(read_lines(path) if lines is None else lines, 1):
        if not line.strip():
            continue
        try:
            value, reason = parse_json(line, once, replace_surrogates=how.replace_surrogates), ""
        except ValueError as error:
            value, reason = None, f" ({getattr(error, 'msg', error)})"
        if isinstance(value, dict):
            yield Row(value, tuple(value), line_number)
        else:
            how.refuse(path, line_number, f"a JSON object on each line{reason}", line.strip())


def _document(path: Path, how: Format) -> Iterator[Row]:
    text = read_text(path)
    head, _, rest = text.lstrip().partition("\n")
    if rest.strip() and head.startswith("{") and _is_json(head):
        yield from _json_lines(path, how, StringIO(text))
        return
    content = read_document(path, text, replace_surrogates=how.replace_surrogates)
    special = how.special(content)
    if special is not None:
        yield from (Row(values, tuple(values)) for values in special)
        return
    if isinstance(content, dict) and isinstance(content.get("database"), dict):
        content = content["database"]
    if not content or not isinstance(content, dict | list):
        raise InputError(f"{path.name}: expected a list of objects, or an object of objects, got {shortened(content)}.")
    for pointer, value in _records(content, how):
        if isinstance(value, dict):
            yield Row(value, tuple(value), None, pointer)
        else:
            how.refuse(path, None, f"an object at {pointer.rstrip('.')}", shortened(value))


def _records(
    content: Any, how: Format, pointer: str = "", key: str | None = None, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Yield the rows in a list, in an object of rows, or in an object of these, with their place in the document."""
    if isinstance(content, list):
        yield from ((f"[{index}].", value) for index, value in enumerate(content))
        return
    values = list(content.values())
    plain = not any(isinstance(value, dict | list) for value in values)
    if plain and how.value and key is None and not {how.key, how.value} <= content.keys():
        yield from ((f"[{name!r}].", {how.key: name, how.value: value}) for name, value in content.items())
    elif depth < DEEPEST and values and all(isinstance(value, dict) for value in values):
        for name, value in content.items():
            yield from _records(value, how, f"{pointer}[{name!r}]", name, depth + 1)
    else:
        yield f"{pointer}." if pointer else "", content if key is None else {how.key: key} | content


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def read_document(path: Path, text: str | None = None, *, replace_surrogates: bool = True) -> Any:
    """Parse a JSON file, or its `text`. Raise InputError if it is not valid JSON or repeats a key in an object."""
    try:
        return parse_json(read_text(path) if text is None else text, once, replace_surrogates=replace_surrogates)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name}: invalid JSON ({error}).") from error


def _parquet(path: Path, how: Format) -> Iterator[Row]:
    """Yield rows in batches that share equal texts, since a small file can contain very many of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from .shards import PARQUET_FAULTS, text_columns, values

    room = max(LEAST_ROOM, EXPANSION * path.stat().st_size)
    try:
        with pq.ParquetFile(path) as file:
            about, schema = file.metadata, file.schema_arrow
            names = tuple(schema.names)
            _check_names(path.name, names)
            size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
            if size > room or about.num_rows > room:
                raise InputError(
                    f"{path} has {about.num_rows:,} rows and {size:,} bytes when unpacked, which is implausible for "
                    "its size. Keep only the rows and columns needed."
                )
            texts = text_columns(about.schema)
        yield Row({}, names)
        row_number = 0
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                room -= sum(column.nbytes for column in batch.columns if not pa.types.is_dictionary(column.type))
                if room < 0:
                    raise InputError(f"{path} needs too much memory. Keep only the columns needed.")
                for row in zip(*map(values, batch.columns), strict=True):
                    row_number += 1
                    yield Row(_named(names, row), names, row_number)
    except PARQUET_FAULTS as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


def _workbook(path: Path, how: Format) -> Iterator[Row]:
    openpyxl = import_extra("openpyxl", what="reading .xlsx")
    try:
        _check_workbook(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            rows = sheet.iter_rows(values_only=True)
            names = tuple("" if name is None else str(name).strip() for name in next(rows, ()))
            _check_names(path.name, names)
            yield Row({}, names)
            cells = 0
            for line, row in enumerate(rows, 2):
                cells += max(len(row), 1)
                if cells > MOST_CELLS:
                    raise InputError(
                        f"{path} has more than {MOST_CELLS:,} cells, including empty ones. Delete empty rows and "
                        "columns, or write it as .csv."
                    )
                fields = [_cell(value) for value in row] + [None] * (len(names) - len(row))
                if all(value in (None, "") for value in fields):
                    yield Row({}, names, line)
                elif any(value not in (None, "") for value in fields[len(names) :]):
                    how.refuse(path, line, f"{len(names)} fields", f"{len(row)}")
                else:
                    yield Row(_named(names, fields[: len(names)]), names, line)
        finally:
            book.close()
    except InputError:
        raise
    except WORKBOOK_FAULTS as error:
        raise InputError(f"{path} cannot be read as a workbook ({type(error).__name__}: {error}).") from error


def _check_workbook(path: Path) -> None:
    """Raise InputError if a workbook would take more than seconds to read, which its size on disk does not show."""
    tags = 0
    with ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
        if size > LARGEST_SHEETS:
            raise InputError(f"{path} unpacks to {size:,} bytes; the limit is {LARGEST_SHEETS:,}. Write it as .csv.")
        for info in archive.infolist():
            with archive.open(info) as part:
                while chunk := part.read(BATCH_BYTES):
                    tags += chunk.count(b"<") + 9 * chunk.count(b"<si")  # shared strings are slow
                    if tags > MOST_TAGS:
                        raise InputError(f"{path} has more than {MOST_TAGS:,} XML tags. Write it as .csv.")


def _cell(value: Any) -> Any:
    """Describe a date or time, whose meaning (minutes or hours) depends on the cell's format, so that it is refused."""
    if isinstance(value, date | time | timedelta):
        return f"{value} (a date or time; format the cell as text)"
    return value.strip() if isinstance(value, str) else value


READERS: dict[str, Callable[[Path, Format], Iterator[Row]]] = {
    **dict.fromkeys((".csv", ".tsv"), _delimited),
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    ".json": _document,
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    ".xlsx": _workbook,
}


# Columns


def folded(name: str) -> str:
    """Return a name in the form in which names are compared: "Start Frame" is equal to "start_frame"."""
    return SEPARATING.sub("_", name.casefold()).strip("_")


@dataclass(frozen=True)
class Columns:
    """The columns that a reader knows.

    Attributes:
        fields: Accepted spellings of each column.
        required: Columns without which nothing can be read.
        given: Names in the user's file that differ from all spellings, by column (`--columns`).
        advice: Sentence that ends messages about columns.
        unused: Columns of the file that have no meaning, in order; filled while rows are read.
    """

    fields: Mapping[str, Sequence[str]]
    required: Sequence[str] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
    unused: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        required: Sequence[str] = (),
        given: Mapping[str, str] | None = None,
        advice: str = "",
    ) -> Columns:
        """Return columns with one spelling each."""
        return cls({name: (name,) for name in names}, required, given or {}, advice)

    def __post_init__(self) -> None:
        if unknown := sorted({*self.given} - {*self.fields}):
            raise UsageError(f"unknown column: {', '.join(unknown)}. Choose from {', '.join(self.fields)}.")

    def apply(self, path: Path | str, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows whose columns have the spellings of `fields`. `path` names the file, or rows in memory.

        Raises:
            InputError: A required column is missing, a name is likely to be misspelled, or two names mean the same
                column.
        """
        known: dict[tuple[str, ...], dict[str, str]] = {}
        absent: set[str] = {*self.given}
        first = True
        for row in rows:
            names = known.get(row.names)
            if names is None:
                names = self._rename(path, row.names, first=first)
                absent = {field for field in absent if folded(self.given[field]) not in map(folded, row.names)}
                if len(known) < MOST_KNOWN:
                    known[row.names] = names
            first = False
            yield replace(row, values={names[name]: value for name, value in row.values.items() if name in names})
        if absent and not first:
            listed = ", ".join(sorted({name for names in known for name in names}))
            raise InputError(
                f"{path} has no column {', '.join(self.given[name] for name in absent)}. It has: {listed}."
            )

    def _rename(self, path: Path | str, names: Sequence[str], *, first: bool) -> dict[str, str]:
        called = path.name if isinstance(path, Path) else path
        _check_names(called, names)
        given = {folded(name): field for field, name in self.given.items()}
        spelt = {folded(name): (field, name) for field, spellings in self.fields.items() for name in spellings}
        renamed: dict[str, str] = {}
        present: dict[str, str] = {}  # by spelling
        unused: list[str] = []
        for name in names:
            form = folded(name)
            field, spelling = spelt.get(form, ("", name))
            if form in given:
                spelling = spelling if field == given[form] else self.fields[given[form]][0]
                field = given[form]
            elif field in self.given:
                continue  # the user named another column instead
            if not field:
                unused.append(name or "(without a name)")
            renamed[name] = spelling
            if field and present.setdefault(spelling, name) != name:
                raise InputError(f"{called}: the columns {present[spelling]!r} and {name!r} are both {spelling!r}.")
        lacking = {field: spellings for field, spellings in self.fields.items() if not {*spellings} & present.keys()}
        expected = {folded(name): field for field, spellings in lacking.items() for name in spellings}
        expected = {form: field for form, field in expected.items() if len(form) >= SHORTEST_NAME}
        near = {name: likely for name in unused if (likely := _likely(name, expected))}
        missing = [field for field in self.required if field in lacking]
        if near:
            listed = ", ".join(f"{name!r} (did you mean {self.fields[likely][0]!r}?)" for name, likely in near.items())
            option = ",".join(f"{likely}={name}" for name, likely in near.items())
            raise InputError(
                f"{called}: unknown columns that look like known ones: {listed}. Use --columns {option}, or "
                f"rename or remove them. {self.advice}".rstrip()
            )
        if missing and first:
            required, missing = ([self.fields[field][0] for field in fields] for fields in (self.required, missing))
            raise InputError(
                f"{called}, line 1: expected the columns {', '.join(required)}; {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing (got: {', '.join(names) or 'an empty file'}). "
                f"{self.advice}".rstrip()
            )
        if len(self.unused) < MOST_KNOWN:
            self.unused.update(dict.fromkeys(unused))
        return renamed

    def notes(self, path: Path) -> tuple[str, ...]:
        """Return a sentence that names the columns that were not used, if there are any."""
        names = [*self.unused][:MOST_NAMED]
        more = f" and {len(self.unused) - len(names):,} more" if len(self.unused) > len(names) else ""
        return (f"{path.name}: these columns are not used: {', '.join(names)}{more}.",) if names else ()


def _likely(name: str, spellings: Mapping[str, str]) -> str:
    """Return the column that a name is likely to mean: one that is spelt almost the same, or with a common addition.

    `spellings` contains the columns by their spellings, as `folded` returns them.
    """
    form = folded(name)
    bare, letters = form.replace("_", ""), set(form)
    if len(form) > LONGEST_NAME:
        return ""
    for spelling, likely in spellings.items():
        core = spelling.replace("_", "")
        if core in bare and bare != core and {bare.removeprefix(core), bare.removesuffix(core)} & ADDITIONS - {bare}:
            return likely
    # Letters that only one of them has lower the likeness, which is slow to compute.
    most = 1 - NEAR
    similar = [near for near in spellings if len(letters ^ {*near}) <= most * (len(form) + len(near))]
    close = difflib.get_close_matches(form, similar, 1, NEAR)
    return spellings[close[0]] if close else ""


def comma_separated(value: Any) -> tuple[str, ...]:
    """Split one or more texts at commas. Raise ValueError if this yields no names."""
    texts = value if isinstance(value, tuple | list) else (value,)
    names = tuple(part.strip() for text in texts for part in str(text).split(",") if part.strip())
    if not names:
        raise ValueError("is empty; give names separated by commas")
    return names


def read_columns(value: Any) -> tuple[str, ...]:
    """Parse columns such as "question=Q,answer=A", given as one string, several strings or a dictionary.

    Raises:
        ValueError: The form is invalid, or a column is specified twice.
    """
    texts = [f"{name}={column}" for name, column in value.items()] if isinstance(value, Mapping) else value
    pairs = [part.partition("=") for part in comma_separated(texts)]
    if any(not (name.strip() and sign and column.strip()) for name, sign, column in pairs):
        raise ValueError("must be a list of names such as question=Q,answer=A")
    if len({name.strip() for name, _, _ in pairs}) < len(pairs):
        raise ValueError("names a column twice")
    return tuple(f"{name.strip()}={column.strip()}" for name, _, column in pairs)


def columns_of(definitions: Iterable[str]) -> dict[str, str]:
    """Return the result of `read_columns` as a dictionary."""
    return {name: column for name, _, column in (text.partition("=") for text in definitions)}
