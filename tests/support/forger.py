"""A forger who knows every check: changes an output and recomputes all that follows from its rows."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of
from stressreel.builders.runtime.table_checks import check_counts, check_files, check_hashes, check_schema
from stressreel.core.files import write_json
from stressreel.core.fingerprint import Fingerprint, UnitRows, plain_json, read_units, recomputed
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.schema import Column, Config
from stressreel.core.shards import shard_path
from stressreel.data_cards.card import write_card
from written import write_shard, write_units


class Row(dict[str, Any]):
    """A row in storage values; a video is `{"bytes": …, "path": …}`.

    Attributes:
        unit: The unit that it is of; a row that is made anew, a plain dict, is of the same as the one before it.
    """

    unit = ""


@dataclass
class Forgery:
    """The content of an output, to be changed: rows by table and split, `build.json`, and the shards' sizes."""

    tables: dict[str, dict[str, list[Any]]]
    info: dict[str, Any]
    kept: frozenset[str] = frozenset()
    out: Path = Path()
    units: list[tuple[str, str]] = field(default_factory=list)
    shards: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    finally_: list[Callable[[Path], object]] = field(default_factory=list)

    def rows(self, *tables: str) -> list[Any]:
        """All rows of some tables, or of all, splits in order; the rows themselves, to be changed."""
        return [row for table in tables or self.tables for rows in self.tables[table].values() for row in rows]

    def configs(self) -> dict[str, Config]:
        return {config.name: config for config in configs_of(open_output(self.out)) if config.name in self.tables}

    def column(self, table: str, name: str) -> Column:
        return next(column for column in self.configs()[table].columns if column.name == name)


Change = Callable[[Forgery], object]


def configs_of(output: FinishedOutput) -> list[Config]:
    return list(benchmark_of(output).declared(output.info))


@lru_cache(maxsize=4)
def _read(out: Path) -> tuple[dict[tuple[str, str], Any], list[UnitRows], str]:
    output = open_output(out)
    tables = {
        (config.name, split): [pq.read_table(path) for path in output.shards(config.name, split)]
        for config in configs_of(output)
        for split in output.splits(config.name)
    }
    return tables, list(read_units(out)), (out / "build.json").read_text()


def load(out: Path) -> Forgery:
    """Read an output; one that never changes, as it is read once."""
    tables, units, info = _read(out)
    forged = Forgery({}, json.loads(info), out=out, units=[(unit.unit_id, unit.table) for unit in units])
    kept = set()
    for (config, split), shards in tables.items():
        rows = [Row(row) for shard in shards for row in shard.to_pylist()]
        owners = (unit.unit_id for unit in units if unit.table == f"{config}/{split}" for _ in range(unit.rows))
        for row, unit_id in zip(rows, owners, strict=True):
            row.unit = unit_id
            kept |= {row.get("sha256"), *(value["path"] for value in row.values() if isinstance(value, dict))}
        forged.tables.setdefault(config, {})[split] = rows
        forged.shards[config, split] = [len(shard) for shard in shards]
    forged.kept = frozenset(kept)
    return forged


def forge(out: Path, copy: Path, change: Change, *, card: bool = True) -> Path:
    """Write a copy of an output with a change and all that follows from it: hashes, counts, fingerprints, card."""
    forged = load(out)
    change(forged)
    return write(forged, copy, card=card)


def write(forged: Forgery, copy: Path, *, card: bool = True) -> Path:
    """Write what was changed with everything that follows from it; see `forge`."""
    out, canary = forged.out, str(forged.info.get("canary", ""))
    shutil.copytree(out, copy, ignore=shutil.ignore_patterns("*.parquet", *["figures"] * card))
    configs = [config for config in configs_of(open_output(out)) if config.name in forged.tables]
    tables: dict[str, tuple[Config, list[Any]]] = {}
    counts: dict[str, dict[str, int]] = {}
    for config in configs:
        for split, rows in forged.tables[config.name].items():
            if rows:
                _follow(config, rows, forged.kept)
                tables[f"{config.name}/{split}"] = config, rows
                counts.setdefault(config.name, {})[split] = len(rows)
                _write(copy, config, split, rows, forged.shards.get((config.name, split), []), canary)
    fingerprint, units = Fingerprint(), list(_units(forged, tables))
    for unit in units:
        fingerprint.add(unit)
    write_units(copy, units, canary)
    hashes = {"counts": counts, "fingerprints": fingerprint.parts(), "fingerprint": fingerprint.hexdigest()}
    forged.info |= hashes
    if card:
        output = FinishedOutput(copy, forged.info)
        try:
            write_card(output, configs_of(output), card_of(benchmark_of(output)))
        except Exception:
            if (out / "figures").is_dir():
                shutil.copytree(out / "figures", copy / "figures", dirs_exist_ok=True)
    write_json(copy / "build.json", forged.info)
    for action in forged.finally_:
        action(copy)
    return copy


def _follow(config: Config, rows: list[Any], kept: frozenset[str]) -> None:
    for row in rows:
        for name in config.videos:
            if row["sha256"] in kept:
                row["sha256"] = hashlib.sha256(row[name]["bytes"]).hexdigest()
            if row[name]["path"] in kept:
                row[name] = {**row[name], "path": config.file_name(row)}


def _write(copy: Path, config: Config, split: str, rows: list[Any], shards: list[int], canary: str) -> None:
    """Write the shards of a split, with the borders that they had."""
    left = iter(rows)
    pieces = [list(islice(left, size)) for size in shards[:-1]]
    pieces = [piece for piece in (*pieces, list(left)) if piece]
    for number, piece in enumerate(pieces):
        path = copy / shard_path(config.name, split, number, len(pieces))
        sizes = (len(plain_json(config, row)) + sum(len(row[name]["bytes"]) for name in config.videos) for row in piece)
        write_shard(path, config, zip(piece, sizes, strict=True), canary)


def _units(forged: Forgery, tables: Mapping[str, tuple[Config, list[Any]]]) -> Iterator[UnitRows]:
    """Hash the rows of all units again, in the order in which they were listed."""
    sizes: Counter[tuple[str, str]] = Counter()
    for table, (_, rows) in tables.items():
        unit = next((row.unit for row in rows if isinstance(row, Row)), "forged")
        for row in rows:
            unit = getattr(row, "unit", unit)
            sizes[unit, table] += 1
    places = list(forged.units)
    for unit, table in [place for place in sizes if place not in places]:  # after what else there is of the unit
        last = max((number for number, place in enumerate(places) if place[0] == unit), default=len(places) - 1)
        places.insert(last + 1, (unit, table))
    wanted = [UnitRows(*place, sizes[place], "") for place in places if sizes[place]]
    lines = {table: map(partial(plain_json, config), rows) for table, (config, rows) in tables.items()}
    yield from recomputed(wanted, lines)


def structural(out: Path) -> list[str]:
    """Problems of files, schemas, counts and hashes, which a good forger leaves none of."""
    output = open_output(out)
    configs = [config for config in configs_of(output) if config.name in output.info["counts"]]
    checks = (check_schema, check_counts, check_hashes)
    found = [*check_files(output), *(each for check in checks for each in check(output, configs))]
    return [each for each in found if isinstance(each, str)]
