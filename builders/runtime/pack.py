"""Pack finished units into shards. Rows are generated once, in plan order, and written to all tables."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...core.disputed import DISPUTED
from ...core.errors import BuildError, OutputError
from ...core.files import rename
from ...core.fingerprint import Fingerprint, UnitHasher, canary_of, plain_json, writing_units
from ...core.output import FinishedOutput, fitting
from ...core.plan import (
    LEFT_OUT,
    SPLIT,
    Builder,
    Facts,
    LeftOut,
    Part,
    Plan,
    Skip,
    Unit,
    bounded,
    origin_of,
    rows_of,
    skipped_units,
)
from ...core.progress import keep, raise_if_interrupted, tracked
from ...core.schema import Config, Row
from ...core.shards import ShardError, ShardWriter, is_full, part_path, read_footer, shard_path
from .output import BuildJournal, UnfinishedOutput
from .source_videos import first_of
from .store import Store

if TYPE_CHECKING:
    from .output import BuildJournal


HELD_BYTES = 256_000_000
"""Limit for rows in unfinished row groups of all tables."""

Key = tuple[str, str]
"""Config and split."""


@dataclass
class _Table:
    """A config and split that is being written.

    Attributes:
        rows: Number of rows so far, including those of an earlier run.
        done: Number of rows in finished shards.
        parts: Number of finished shards.
        files: Unit and name of the files in the current shard.
    """

    config: Config
    split: str
    canary: str
    done: int = 0
    rows: int = 0
    parts: int = 0
    writer: ShardWriter | None = None
    files: list[tuple[str, str]] = field(default_factory=list)


def pack(
    plan: Plan, builder: Builder, output: UnfinishedOutput, store: Store, journal: BuildJournal, skips: Sequence[Skip]
) -> tuple[Fingerprint, dict[str, dict[str, int]], dict[str, dict[str, int]], set[str]]:
    """Write the shards of every table, and `units.parquet`.

    Shards that have a receipt are not written again. Their rows are only hashed and counted.

    Returns:
        The fingerprint, row counts by config and split, counts of rows left out because they refer to others that were
            skipped, and the source videos without times.

    Raises:
        BuildError: A file has changed since it was rendered.
        OutputError: The disk is full, or the journal does not match the files.
    """
    tables: dict[Key, _Table] = {}
    keep("shard", sum(parts for _, parts in journal.shards.values()))
    fingerprint, canary = Fingerprint(), canary_of(plan.hash)
    skipped = skipped_units(skips)
    untimed: set[str] = set()
    _check_journal(plan, builder, output, journal, skipped)
    with fitting(output.path):
        links = links_of_build(plan, builder, journal, skips)
    try:
        with writing_units(output.path, canary) as add_unit:
            for unit, facts in _with_facts(plan, journal, skipped):
                hasher = UnitHasher(unit.id)
                untimed |= {unit.source_id} if facts.get("untimed") else set()
                with fitting(output.path):  # the journal is not trusted
                    for config, row in unit_rows(plan, builder, unit, facts, skips, links):
                        name = config.name
                        table = tables.get((name, unit.split))
                        if table is None:
                            written, parts = journal.shards.get(f"{name}/{unit.split}", (0, 0))
                            table = tables[name, unit.split] = _Table(config, unit.split, canary, written, parts=parts)
                        line = plain_json(config, row)
                        hasher.add(f"{name}/{unit.split}", line)
                        _add(table, unit, row, len(line), facts.get("files", {}), output, store, journal)
                for unit_hash in hasher.done():
                    fingerprint.add(unit_hash)
                    add_unit(unit_hash)
                _relieve(tables)
                raise_if_interrupted()
            for table in tables.values():
                _finish(table, output, store, journal)
    finally:
        for table in tables.values():
            if table.writer:
                table.writer.abandon()
    for (name, split), table in tables.items():  # the total number is part of each shard's name
        for index in range(table.parts):
            part = output.path / part_path(name, split, index)
            if part.is_file():
                rename(part, output.path / shard_path(name, split, index, table.parts))
    return fingerprint, count_rows(plan, {key: table.rows for key, table in tables.items()}), links.counts(), untimed


def unit_rows(
    plan: Plan, builder: Builder, unit: Unit, facts: Facts, skips: Sequence[Skip], links: Links
) -> Iterator[tuple[Config, Row]]:
    """Yield the rows of a unit with their configs, as storage values, without those that refer to absent rows."""
    configs = {config.name: config for config in plan.tables}
    for name, row in rows_of_losses(plan, skips, links) if unit is LOSSES else builder.rows(unit, facts):
        if links.keep(name, unit.split, row):
            yield configs[name], configs[name].encode(row)


def _with_facts(plan: Plan, journal: BuildJournal, skipped: AbstractSet[str]) -> Iterator[tuple[Unit, Facts]]:
    """Yield the units that were not skipped with their facts, and finally `LOSSES`."""
    for unit in tracked(plan.units, "packing", plan.noun):
        if unit.id not in skipped:
            base = {"base": journal.facts(unit.base)} if journal.rendered(unit.base) else {}
            yield unit, journal.facts(unit.id) | base
    yield LOSSES, {}


def _check_journal(
    plan: Plan, builder: Builder, output: UnfinishedOutput, journal: BuildJournal, skipped: AbstractSet[str]
) -> None:
    """Raise OutputError if receipts of units are missing, or if shards differ from their receipts."""
    lacking = [
        unit.id
        for unit in plan.units
        if builder.renders(unit) and unit.id not in skipped and not journal.rendered(unit.id)
    ]
    problem = f"{journal.path} has no receipt of {lacking[0]}" if lacking else ""
    for name, (rows, parts) in journal.shards.items():
        config, _, split = name.partition("/")
        names = [(part_path(config, split, n), shard_path(config, split, n, parts)) for n in range(parts)]
        files = [
            next((output.path / shard for shard in both if (output.path / shard).is_file()), None) for both in names
        ]
        try:
            if sum(read_footer(file).num_rows for file in files if file) != rows:
                problem = f"shards of {name} are missing"
        except ShardError as error:
            problem = str(error)
    if problem:
        raise OutputError(
            f"{problem}: files of the unfinished build in {output.name} were removed or changed. Build again with "
            "--fresh, or use another --out."
        )


def count_rows(plan: Plan, rows: Mapping[Key, int]) -> dict[str, dict[str, int]]:
    """Return row counts by config and split, in the order of `build.json`."""
    counts: dict[str, dict[str, int]] = {}
    for config in plan.tables:
        splits = [split for split in (*plan.splits, SPLIT) if (config.name, split) in rows]
        if splits:  # a config without rows cannot be loaded
            counts[config.name] = {split: rows[config.name, split] for split in splits}
    return counts


def _add(
    table: _Table,
    unit: Unit,
    row: Row,
    size: int,
    files: dict[str, int],
    output: UnfinishedOutput,
    store: Store,
    journal: BuildJournal,
) -> None:
    """Write a row with its videos, unless it was written in an earlier run."""
    table.rows += 1
    if table.rows <= table.done:
        return
    names = table.config.videos
    size += sum(files[row[name]] for name in names)
    if table.writer and is_full(table.writer.bytes, size):
        _finish(table, output, store, journal)
    if table.writer is None:
        path = output.path / part_path(table.config.name, table.split, table.parts)
        table.writer = ShardWriter(path, table.config, table.canary)
    table.files += [(unit.id, row[name]) for name in names]
    table.writer.add(_with_files(table.config, names, row, unit, store), size)


def _with_files(config: Config, names: Sequence[str], row: Row, unit: Unit, store: Store) -> Row:
    """Replace file names in video columns by the content of the files, whose hash must match the row's."""
    for name in names:
        content = store.read(unit.id, row[name], row["sha256"])
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise BuildError(
                f"{row[name]} of {unit.id} has changed since it was rendered: another program modified the output "
                "during the build. Build again with --fresh."
            )
        row = row | {name: {"bytes": content, "path": config.file_name(row)}}
    return row


def _relieve(tables: dict[Key, _Table]) -> None:
    """Flush the largest row groups until the others fit into memory."""
    writers = sorted((t.writer for t in tables.values() if t.writer), key=lambda writer: -writer.held_bytes)
    held_bytes = sum(writer.held_bytes for writer in writers)
    for writer in writers:
        if held_bytes <= HELD_BYTES:
            break
        held_bytes -= writer.held_bytes
        writer.flush()


def _finish(table: _Table, output: UnfinishedOutput, store: Store, journal: BuildJournal) -> None:
    """Finish the current shard of a table, write its receipt, and remove the files that it contains."""
    if table.writer is None:
        return
    table.writer.close()
    table.done += table.writer.rows
    table.parts += 1
    table.writer = None
    keep("shard")
    journal.add_shard(table.config.name, table.split, table.done, table.parts)
    for unit_id, name in table.files:
        store.remove(unit_id, name)
    table.files = []


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


def without_units(plan: Plan, why: Mapping[str, str]) -> Plan:
    """Return a plan without the units that people disputed, given with the reasons by id, and what only they show."""
    skips = [Skip(unit.id, unit.source_id, DISPUTED, why[unit.id]) for unit in plan.units if unit.id in why]
    if not skips:
        return plan
    lost = [replace(record, stage="selection") for record in _skipped(plan, skips)]
    units = tuple(unit for unit in plan.units if unit.id not in why)
    return replace(plan, units=units, left_out=bounded([*plan.left_out, *lost]))


def _record(kind: str, source: str, part: Part, skip: Skip, only: str = "") -> LeftOut:
    line, detail = origin_of(part.lines, skip.detail + only)
    return LeftOut("rendering", kind, part.name, skip.reason, detail, source, part.file, line)
