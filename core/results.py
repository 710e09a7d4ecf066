"""Show the results of commands as text, JSON, Markdown, HTML for notebooks, or data frames.

Untrusted text is escaped for Markdown.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from .errors import UsageError, one_line, printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

INTERVAL = " [95% interval]"
LONGEST = 100
"""Maximum number of table rows in a notebook."""


@dataclass(frozen=True)
class Estimate:
    """A score with its confidence interval.

    Attributes:
        value: Score over all source videos, or NaN if undefined (0 / 0).
        low: Lower bound, or NaN if there are fewer than six source videos or the score is undefined in more than 5% of
            the resamples.
        high: Upper bound, or NaN as for `low`.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over several runs, or NaN where undefined."""

    mean: float
    std: float
    runs: int


Cell = str | int | float | Estimate | Spread | None


@dataclass(frozen=True)
class Table:
    """A table of scores.

    Attributes:
        name: Key in `scores.json`.
        rows: Texts, counts (int), scores (float; NaN is printed as a dash) or scores with intervals.
    """

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values. An estimate takes three columns, and a spread two."""
        columns: dict[str, list[Any]] = {}
        for index, heading in enumerate(self.headings):
            cells = [row[index] for row in self.rows]
            name = heading.removesuffix(INTERVAL) or f"column {index + 1}"
            kind: type[Any] | None = next((type(cell) for cell in cells if isinstance(cell, Estimate | Spread)), None)
            if kind is None:
                columns[name] = cells
                continue
            first, *others = ("value", "low", "high") if kind is Estimate else ("mean", "std")
            columns[name] = [getattr(cell, first) if isinstance(cell, kind) else cell for cell in cells]
            prefix = "" if name == first else f"{name} "
            for part in others:
                columns[prefix + part] = [getattr(cell, part, None) for cell in cells]
        return columns


class Result:
    """Base class of the results that API functions return.

    `print` shows the output of the command, and notebooks show the tables.
    """

    notes: Sequence[str] = ()
    """Remarks that the command prints on standard error."""
    written: Sequence[str] = ()
    """Lines that name the files that were written."""
    failed: bool = False
    """Whether the command exits with 1."""

    def as_tables(self) -> Sequence[Table]:
        """Return all tables, with the main one first."""
        return ()

    def as_json(self) -> Any:
        """Return the result as JSON values, as printed by --json: by default, the attributes that `repr` shows."""
        return json_value(self)

    def __str__(self) -> str:
        return "\n\n".join(map(text_table, self.as_tables()))

    def closing(self) -> str:
        """Return the text that the command prints at the end. Some commands print the rest while running."""
        return str(self)

    def render(self, form: str) -> str:
        """Format the result as "text", "json" or "markdown"."""
        if form == "json":
            return dump(self.as_json())
        return "\n\n".join(map(markdown_table, self.as_tables())) if form == "markdown" else str(self)

    def _repr_html_(self) -> str | None:
        return "".join(map(html_table, self.as_tables())) or f"<pre>{escape(str(self))}</pre>"

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Return a table (by default the first) as a pandas data frame, with interval bounds as separate columns."""
        import pandas

        return pandas.DataFrame(self._table(table).columns())

    def to_polars(self, table: str | None = None) -> pl.DataFrame:
        """Return a table as a polars data frame; see `to_pandas`."""
        try:
            import polars
        except ModuleNotFoundError as error:
            raise UsageError("to_polars needs polars: pip install polars") from error
        return polars.DataFrame(self._table(table).columns(), strict=False)

    def _table(self, name: str | None) -> Table:
        tables = self.as_tables()
        for table in tables:
            if name in (None, table.name):
                return table
        if not tables:
            raise UsageError(f"a {type(self).__name__} has no tables.")
        listed = ", ".join(table.name for table in tables)
        raise UsageError(f"there is no table {name!r}. Tables: {listed}.")


def number(value: float | None) -> str:
    """Format a score with three decimals, or as a dash if it is undefined."""
    return "–" if value is None or isnan(value) else f"{value:.3f}"


def cell_text(cell: Cell) -> str:
    """Format a table cell as text."""
    if isinstance(cell, Estimate):
        interval = "" if isnan(cell.low) else f" [{number(cell.low)}, {number(cell.high)}]"
        return number(cell.value) + interval
    if isinstance(cell, Spread):
        return number(cell.mean) + ("" if isnan(cell.std) else f" ± {number(cell.std)}")
    if isinstance(cell, float) or cell is None:
        return number(cell)
    return f"{cell:,}" if isinstance(cell, int) else one_line(cell)


def json_value(value: Any) -> Any:
    """Convert a value to JSON values: paths become texts, dataclasses become objects, and NaN becomes null."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if is_dataclass(value):
        return {field.name: json_value(getattr(value, field.name)) for field in fields(value) if field.repr}
    return None if isinstance(value, float) and isnan(value) else value


def rows_json(table: Table) -> list[dict[str, Any]]:
    """Convert each row of a table to a JSON object with the headings as keys."""
    return [dict(zip(table.headings, json_value(row), strict=True)) for row in table.rows]


def text_table(table: Table) -> str:
    """Format a table for a terminal, with texts left-aligned and numbers right-aligned."""
    lines = [table.headings, *(tuple(map(cell_text, row)) for row in table.rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.headings))]
    left = [all(isinstance(row[at], str) for row in table.rows) for at in range(len(widths))]
    shown = [table.title, ""] if table.title else []
    for line in lines:
        cells = [
            cell.ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(line, widths, left, strict=True)
        ]
        shown.append("  ".join(cells).rstrip())
    return "\n".join([*shown, *([table.note] if table.note else [])])


def markdown_table(table: Table) -> str:
    """Format a table in Markdown, and escape the texts in it."""
    texts = [all(isinstance(row[at], str) for row in table.rows) for at in range(len(table.headings))]
    lines = [
        "| " + " | ".join(map(_markdown_cell, table.headings)) + " |",
        "|" + "|".join("---" if text else "--:" for text in texts) + "|",
        *("| " + " | ".join(map(_markdown_cell, row)) + " |" for row in table.rows),
    ]
    return "\n".join([f"## {_markdown_cell(table.title)}", "", *lines, *(["", table.note] if table.note else [])])


def _markdown_cell(cell: Cell) -> str:
    if isinstance(cell, EscapedMarkdown):
        return cell
    return as_text(cell) if isinstance(cell, str) else cell_text(cell)


def html_table(table: Table) -> str:
    """Format a table in HTML, limited to `LONGEST` rows."""
    rows = [map(cell_text, row) for row in table.rows[:LONGEST]]
    heads = "".join(f"<th>{escape(heading)}</th>" for heading in table.headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    more = f"{len(table.rows) - LONGEST:,} more rows" if len(table.rows) > LONGEST else ""
    notes = "".join(f"<p>{escape(text)}</p>" for text in (more, table.note) if text)
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{notes}"


def dump(value: Any) -> str:
    """Serialize a value to indented JSON, or raise ValueError if it contains NaN."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class EscapedMarkdown(str):
    """Markdown that has already been escaped."""


TAG = re.compile(r"<(?=[A-Za-z!/?])")  # start of an HTML tag or comment
BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
LEADING = re.compile(r"^(?:(?=[#>+=-])|([0-9]+)(?=[.)](?:\s|$)))")
LINK = re.compile(r"https?://[^\s<>]+")
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def without_tags(value: Any) -> Any:
    """Escape HTML tags and comments in a value that a template inserts."""
    return TAG.sub("&lt;", value) if isinstance(value, str) and not isinstance(value, EscapedMarkdown) else value


def as_text(text: object) -> EscapedMarkdown:
    """Escape text so that Markdown renders it literally on one line, without links, images or HTML."""
    plain = printable(BLANK.sub(" ", str(text))).strip()
    plain = re.sub(r"&(?=[#A-Za-z])", "&amp;", plain)
    plain = LEADING.sub(lambda match: f"{match[1] or ''}\\", SPECIAL.sub(r"\\\g<0>", plain))
    return EscapedMarkdown(ADDRESS.sub(lambda match: f"&#{ord(match[0])};", TAG.sub("&lt;", plain)))


def as_address(text: str) -> EscapedMarkdown:
    """Format a web address as a link, and any other text literally."""
    return EscapedMarkdown(f"<{text}>") if LINK.fullmatch(text) and printable(text) == text else as_text(text)


def as_code(text: object) -> EscapedMarkdown:
    """Format a text as inline code on one line."""
    return EscapedMarkdown("`" + printable(BLANK.sub(" ", str(text))).replace("`", "'").replace("|", "\\|") + "`")


def as_block(text: object) -> EscapedMarkdown:
    """Escape a text for a fenced code block, so that it cannot end the block or start a comment."""
    return EscapedMarkdown(printable(str(text)).replace("`" * 3, "'" * 3).replace("<!--", "&lt;!--"))
