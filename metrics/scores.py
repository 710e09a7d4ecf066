"""What scoring gives: headline numbers with intervals, tables, and the sums that they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from .bootstrap import FEW, FEWEST, Estimate, Tally


@dataclass(frozen=True)
class Spread:
    """A mean with its standard deviation.

    Attributes:
        mean: The mean; NaN if a run leaves the score undefined.
        std: The standard deviation; NaN if there is none.
        runs: Number of runs.
    """

    mean: float
    std: float
    runs: int


Cell = str | int | float | Estimate | Spread | None


@dataclass(frozen=True)
class Table:
    """A table of scores.

    Attributes:
        name: Its key in `scores.json`.
        title: What it shows.
        headings: Column names.
        rows: Texts, counts (int), scores (float; NaN is shown as a dash) or scores with intervals.
        note: What a reader has to know.
    """

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Scores:
    """The scores of one predictions file on one output.

    Attributes:
        benchmark: The builder's name.
        split: The split scored, or "all".
        answers: Counts of what was read, missing, unreadable; see `predictions.Joined.summary`.
        headline: The numbers to report, with intervals.
        tables: Everything else.
        tally: The sums by source video, for comparisons.
        notes: What a reader has to know.
    """

    benchmark: str
    split: str
    answers: dict[str, Any]
    headline: dict[str, Estimate]
    tables: tuple[Table, ...]
    tally: Tally
    notes: tuple[str, ...] = field(default=())


def number(value: float | None, digits: int = 3) -> str:
    """Write a score; a dash if it is not defined."""
    return "–" if value is None or isnan(value) else f"{value:.{digits}f}"


def cell_text(cell: Cell) -> str:
    """Write a cell of a table."""
    if isinstance(cell, Estimate):
        interval = "" if isnan(cell.low) else f" [{number(cell.low)}, {number(cell.high)}]"
        return number(cell.value) + interval
    if isinstance(cell, Spread):
        return number(cell.mean) + ("" if isnan(cell.std) else f" ± {number(cell.std)}")
    if isinstance(cell, float) or cell is None:
        return number(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def cell_json(cell: Cell) -> Any:
    """Turn a cell into a JSON value: an undefined score is null."""
    if isinstance(cell, Estimate | Spread):
        return {name: None if isnan(x) else x for name, x in vars(cell).items()}
    return None if isinstance(cell, float) and isnan(cell) else cell


def headline_table(scores: Scores) -> Table:
    """Put the headline numbers into a table."""
    rows = tuple((name, estimate) for name, estimate in scores.headline.items())
    title = f"{scores.benchmark}, {scores.split}"
    return Table("headline", title, ("score", "value [95 % interval]"), rows)


def text_table(table: Table) -> str:
    """Set a table for a terminal: texts left, numbers right."""
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
    """Set a table in Markdown."""
    texts = [all(isinstance(row[at], str) for row in table.rows) for at in range(len(table.headings))]
    lines = [
        "| " + " | ".join(heading.replace("|", "\\|") for heading in table.headings) + " |",
        "|" + "|".join("---" if text else "--:" for text in texts) + "|",
        *("| " + " | ".join(cell_text(cell).replace("|", "\\|") for cell in row) + " |" for row in table.rows),
    ]
    return "\n".join([f"## {table.title}", "", *lines, *(["", table.note] if table.note else [])])


def as_json(scores: Scores, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `scores.json`.

    Args:
        scores: The scores.
        about: What they are of: output, predictions, bootstrap.
    """
    return {
        "benchmark": scores.benchmark,
        "split": scores.split,
        **about,
        "answers": scores.answers,
        "headline": {name: cell_json(estimate) for name, estimate in scores.headline.items()},
        "tables": {
            table.name: [dict(zip(table.headings, map(cell_json, row), strict=True)) for row in table.rows]
            for table in scores.tables
        },
        "notes": list(scores.notes),
    }


def as_markdown(scores: Scores, about: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """Return the content of `scores.md`."""
    output, predictions = about["output"], about["predictions"]
    lines = [
        f"# Scores: {scores.benchmark}, {about['config']}, {scores.split}",
        "",
        f"Predictions `{predictions['file']}` on "
        + (f"version {output['dataset_version']}" if "dataset_version" in output else f"`{output['file']}`")
        + f", fingerprint `{output['fingerprint'][:16]}`.",
        answers_line(scores),
        interval_line(about["interval"]),
        "",
        *(line for picture in pictures for line in (f"![{picture.removesuffix('.png')}]({picture})", "")),
    ]
    for table in (headline_table(scores), *scores.tables):
        lines += [markdown_table(table), ""]
    for note in scores.notes:
        lines += [f"* {note}"]
    return "\n".join(lines).rstrip() + "\n"


def answers_line(scores: Scores) -> str:
    """Describe what was read and what was not: a line, and one for explanations if they are asked."""
    explanations = scores.answers.get("explanations")
    lines = [counts_line(scores.answers, "answers")] + (
        [counts_line(explanations, "explanations")] if explanations else []
    )
    return "\n".join(lines)


def counts_line(counts: Mapping[str, Any], what: str) -> str:
    """Describe in one line what was read of a file; see `predictions.Joined.summary`."""
    parts = [f"{counts['scored']:,} {what} scored"]
    for key, words in (
        ("unreadable", "unreadable (count as wrong)"),
        ("empty", "empty"),
        ("missing", "missing (left out)"),
        ("doubled", "given more than once (the first counts)"),
        ("unknown", "not in this output (left out)"),
        ("of_other_splits", "of other splits (left out)"),
    ):
        if counts.get(key):
            parts.append(f"{counts[key]:,} {words}")
    return ", ".join(parts) + "."


def interval_line(interval: Mapping[str, Any]) -> str:
    """Describe what the intervals are, and why there are none or not to trust them."""
    sources: int = interval["sources"]
    if sources < FEWEST:
        return f"No intervals: {sources} source video{'s' * (sources != 1)}, at least {FEWEST} are needed."
    few = f" With fewer than {FEW} source videos intervals are too narrow." * (sources < FEW)
    return (
        f"Intervals: 95 %, paired bootstrap over {sources:,} source videos, {interval['resamples']:,} resamples, "
        f"seed {interval['seed']}.{few} A dash, or no interval: not defined, or not in more than 5 % of the resamples."
    )


def dump(value: Any) -> str:
    """Write JSON for people and machines; refuses NaN."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
