"""Rows that follow from other rows of the same output, compared with those that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.checks import Compared, Finding
from ...core.output import FinishedOutput
from ...core.schema import Config, Row


@dataclass(frozen=True)
class Derived:
    """The row that a table must have next.

    Attributes:
        table: The table.
        split: The split.
        row: Storage values of the columns that follow from other rows.
    """

    table: str
    split: str
    row: Row


Derivation = Derived | Finding
"""A row, or a problem, or what was left open."""


def check_derived(
    output: FinishedOutput, configs: Sequence[Config], derived: Iterable[Derivation]
) -> Iterator[Finding]:
    """Compare rows with those that follow from others, each table and split in its order.

    A table that is out of step, by the columns of its key, is named once and not looked at further. A table of which
    nothing was derived is not looked at.

    Args:
        output: The output.
        configs: Its tables.
        derived: The rows in order, those of several tables and splits mixed; and problems that are none of a column.
    """
    by_name = {config.name: config for config in configs}
    streams: dict[tuple[str, str], Iterator[Row] | None] = {}  # None: out of step
    count = 0
    for each in derived:
        if not isinstance(each, Derived):
            yield each
            continue
        count += 1
        place = (each.table, each.split)
        if place not in streams:
            streams[place] = output.rows(each.table, by_name[each.table].plain, each.split)
        rows = streams[place]
        if rows is None:
            continue
        keys = by_name[each.table].key
        found = next(rows, None)
        if found is None or any(found[name] != each.row[name] for name in keys):
            there = "the rows end" if found is None else _named(found, keys) + " stands"
            yield f"{each.table}/{each.split}: {there} where {_named(each.row, keys)} must be; not looked at further"
            streams[place] = None
            continue
        for line in differences(found, each.row):
            yield f"{each.table}/{each.split}: {_named(found, keys)}: {line}"
    for table in dict.fromkeys(table for table, _ in streams):
        for split in output.splits(table):
            rows = streams.get((table, split), output.rows(table, by_name[table].plain, split))
            if rows and (extra := next(rows, None)):
                named = _named(extra, by_name[table].key)
                yield f"{table}/{split}: {named} and what comes after it should not be there"
    yield Compared(f"{count:,} rows, described from others")


def differences(found: Row, expected: Row) -> Iterator[str]:
    """Yield a line for each column of a row that is not what it must be: "column is X, not Y"."""
    for name, value in expected.items():
        if not _same(found[name], value):
            yield f"{name} is {_short(found[name])}, not {_short(value)}"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _named(row: Row, keys: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in keys)
