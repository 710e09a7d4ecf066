"""Verify rows that can be derived from other rows of the same output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import copysign
from typing import Any

from ...core.checks import Compared, Finding
from ...core.output import FinishedOutput
from ...core.schema import Config, Row


@dataclass(frozen=True)
class Derived:
    """The row that is expected next in a table, with the storage values of all derived columns."""

    table: str
    split: str
    row: Row


Derivation = Derived | Finding
"""An expected row, a problem, or a part that was not checked."""


def check_derived(
    output: FinishedOutput, configs: Sequence[Config], derived: Iterable[Derivation]
) -> Iterator[Finding]:
    """Compare rows with those derived from other rows, in the order of each table and split.

    Once keys differ, the remaining rows of the table are skipped. `derived` yields expected rows, with tables and
    splits interleaved arbitrarily, and problems that concern no column.
    """
    by_name = {config.name: config for config in configs}
    streams: dict[tuple[str, str], Iterator[Row] | None] = {}  # None once keys differ
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
            there = "the rows end" if found is None else f"found {_named(found, keys)}"
            yield f"{each.table}/{each.split}: {there} where {_named(each.row, keys)} is expected; the rest is skipped"
            streams[place] = None
            continue
        for line in differences(found, each.row):
            yield f"{each.table}/{each.split}: {_named(found, keys)}: {line}"
    for table in dict.fromkeys(table for table, _ in streams):
        for split in output.splits(table):
            rows = streams.get((table, split), output.rows(table, by_name[table].plain, split))
            if rows and (extra := next(rows, None)):
                named = _named(extra, by_name[table].key)
                yield f"{table}/{split}: {named} and the rows after it are not expected"
    yield Compared(f"{count:,} rows, derived from others")


def differences(found: Row, expected: Row) -> Iterator[str]:
    """Describe each column that differs, as "column is X, not Y"."""
    for name, value in expected.items():
        if not _same(found[name], value):
            yield f"{name} is {_short(found[name])}, not {_short(value)}"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and copysign(1, one) == copysign(1, other)
    return bool(one == other)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _named(row: Row, keys: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in keys)
