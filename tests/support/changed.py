"""An output held in memory, so that many changes of it can be looked at without a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forger import Change, Row, load
from stressreel.builders import benchmark_of
from stressreel.builders.runtime.table_checks import check_derived
from stressreel.core.output import FinishedOutput
from stressreel.core.schema import Config

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Held(FinishedOutput):
    tables: Mapping[str, Mapping[str, Sequence[Row]]] = field(default_factory=dict)

    def rows(self, config: str, columns: Sequence[str] | None = None, split: str | None = None) -> Iterator[Row]:
        for name in [split] if split else self.splits(config):
            for row in self.tables.get(config, {}).get(name, []):
                yield {name: value for name, value in row.items() if columns is None or name in columns}


def derived(out: Path, change: Change = lambda forged: None) -> list[str]:
    """What is found in an output with a change, of what follows from its rows."""
    forged = load(out)
    change(forged)
    held = Held(out, forged.info, forged.tables)
    benchmark = benchmark_of(held)
    found = check_derived(held, benchmark.declared(held.info), benchmark.derived(held))
    return [finding for finding in found if isinstance(finding, str)]


def columns(configs: Iterable[Config], free: Mapping[str, str]) -> list[str]:
    """Name the columns of tables as `table.column`, without videos, hashes and those of `free`, by table."""
    return [
        f"{config.name}.{column.name}"
        for config in configs
        for column in config.columns
        if column.name not in ("video", "sha256", *free.get(config.name, "").split())
    ]


def other(value: Any) -> Any:
    if isinstance(value, list):
        return value[:-1] if value else ["another"]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}x"


def put(place: str, number: int = 1, value: Callable[[Any], Any] = other) -> Change:
    """Change a value in one row: a place is `table.column`."""
    table, column = place.split(".")

    def change(forged: Any) -> None:
        row = forged.rows(table)[number]
        row[column] = value(row[column])

    return change
