"""Keep tables consistent whose rows refer to rows of other tables, such as captions to clips that may be skipped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...core.checks import Compared, Finding
from ...core.output import FinishedOutput
from ...core.plan import Builder, Plan, Skip, skipped_units
from ...core.schema import Config, Row
from .output import BuildJournal

Targets = Mapping[tuple[str, str], set[str]]
"""Keys of rows that other tables refer to, by table and split."""


@dataclass
class Links:
    """Filters rows that refer to absent rows, and counts them by table, split, absent row and source video."""

    configs: Mapping[str, Config]
    targets: Targets
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    def keep(self, table: str, split: str, row: Row) -> bool:
        """Return whether all rows that a row refers to exist. Count it if not."""
        links = self.configs[table].links if table in self.configs else {}
        for column, target in links.items():
            if row[column] not in self.targets[target, split]:
                self.left_out[table, split, str(row[column]), row.get("source_id", "")] += 1
                return False
        return True

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of rows left out, by table and split."""
        counts: dict[str, dict[str, int]] = {}
        for (table, split, *_), count in sorted(self.left_out.items()):
            of_table = counts.setdefault(table, {})
            of_table[split] = of_table.get(split, 0) + count
        return counts


def links_of_build(plan: Plan, builder: Builder, journal: BuildJournal, skips: Sequence[Skip]) -> Links:
    """Return the links of a plan whose units have been rendered, or none if nothing was skipped."""
    if not skips:
        return Links({}, {})
    skipped = skipped_units(skips)
    configs = {config.name: config for config in plan.configs}
    wanted = {target for config in plan.configs for target in config.links.values()}
    targets: dict[tuple[str, str], set[str]] = defaultdict(set)
    for unit in plan.units:
        if unit.id not in skipped and wanted & {*(unit.tables or wanted)}:
            for name, row in builder.rows(unit, journal.facts(unit.id)):
                if name in wanted:
                    targets[name, unit.split].add(row[configs[name].key[0]])
    return Links(configs, targets)


def links_of_output(output: FinishedOutput, configs: Iterable[Config]) -> Links:
    """Return the links of a finished output."""
    by_name = {config.name: config for config in configs}
    targets: dict[tuple[str, str], set[str]] = defaultdict(set)
    for target in {target for config in by_name.values() for target in config.links.values()} & by_name.keys():
        key = by_name[target].key[0]
        for split in output.splits(target):
            targets[target, split] = {row[key] for row in output.rows(target, [key], split)}
    return Links(by_name, targets)


def check_links(output: FinishedOutput, configs: Iterable[Config]) -> Iterator[Finding]:
    """Check that every row that another row refers to exists."""
    links, count = links_of_output(output, configs), 0
    for config in links.configs.values():
        for split in output.splits(config.name) if config.links else ():
            for row in output.rows(config.name, list(config.links), split):
                for column, target in config.links.items():
                    count += 1
                    if row[column] is not None and row[column] not in links.targets[target, split]:
                        yield f"{config.name}/{split}: {column} {row[column]} is not in {target}"
    yield Compared(f"{count:,} references between tables")
