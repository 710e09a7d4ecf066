"""Leave out rows that refer to skipped ones, and list in the table `left_out` all that could not be rendered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.output import FinishedOutput
from ...core.plan import LEFT_OUT, SPLIT, Builder, LeftOut, Part, Plan, Skip, Unit, origin_of, rows_of, skipped_units
from ...core.schema import Config, Row
from .missing import first_of

if TYPE_CHECKING:
    from .output import BuildJournal

LOSSES = Unit("left_out/", SPLIT, "", {}, tables=(LEFT_OUT.name,))  # no other id contains a slash
"""Pseudo unit that follows all others, to which the rows of `left_out` belong."""
REFERS = "refers_to_left_out"
VIDEO = "video"
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


def rows_of_losses(plan: Plan, skips: Sequence[Skip], links: Links) -> Iterator[tuple[str, Row]]:
    """Yield the rows as (config name, row). `links` must have filtered all other rows."""
    rendering = list(_skipped(plan, skips))
    origins = {record.name: record for record in rendering}
    for (table, _, name, source), count in sorted(links.left_out.items()):
        detail = f"rows of {table} that refer to {name}, which was left out"
        origin = origins.get(name)
        file, line = (origin.file, origin.line) if origin else ("", None)
        rendering.append(
            LeftOut("rendering", f"rows of {table}", name, REFERS, detail, source, file, line, count=count)
        )
    for row in rows_of((*plan.left_out, *rendering)):
        yield LEFT_OUT.name, row


def _skipped(plan: Plan, skips: Sequence[Skip]) -> Iterator[LeftOut]:
    """Yield every part that was skipped, and what no other unit shows: videos, and the shared items of units."""
    units = {skip.unit_id: skip for skip in skips if skip.scope == "unit"}
    parts = {skip.unit_id: skip for skip in skips if skip.scope == "part"}
    sources = {skip.source_id for skip in skips}
    noun = plan.part or plan.noun
    shown: dict[tuple[bool, str, str, Part], dict[str, Skip | None]] = defaultdict(dict)  # own parts, or shared
    for unit in plan.units:
        if unit.source_id not in sources:
            continue
        fates = {part: units.get(unit.id) or parts.get(part.name) for part in unit.items}
        skip = None if None in fates.values() else next(iter(fates.values()))
        for part, fate in fates.items():
            shown[True, noun, unit.source_id, part][unit.id] = fate
        for use in unit.uses:
            shown[False, plan.use, unit.source_id, use][unit.id] = skip
        if unit.source_id:
            shown[False, VIDEO, unit.source_id, Part(unit.source_id, unit.items[0].file)][unit.id] = skip
    names = {(source, part.name) for (own, _, source, part) in shown if own}
    for skip in parts.values():
        if (skip.source_id, skip.unit_id) not in names:
            yield _record(noun, skip.source_id, Part(skip.unit_id), skip)
    for (own, kind, source, part), results in shown.items():
        lost = {unit: skip for unit, skip in results.items() if skip}
        whole = len(lost) == len(results)
        if own:
            for skip in {skip.reason: skip for skip in reversed(lost.values())}.values():
                of = [unit for unit, other in lost.items() if other.reason == skip.reason]
                only = "" if whole else f" (only in {first_of(of)})"
                yield _record(kind, source, part, skip, only)
        elif whole and (source, part.name) not in names:
            yield _record(kind, source, part, next(iter(lost.values())))


def _record(kind: str, source: str, part: Part, skip: Skip, only: str = "") -> LeftOut:
    line, detail = origin_of(part.lines, skip.detail + only)
    return LeftOut("rendering", kind, part.name, skip.reason, detail, source, part.file, line)
