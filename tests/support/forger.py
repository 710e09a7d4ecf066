"""A forger who knows every check: changes an output and recomputes all that follows from its rows."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of, checks_for
from stressreel.data_cards.card import write_card
from stressreel.records.checks import VerifyOptions
from stressreel.records.files import write_json
from stressreel.records.fingerprint import Fingerprint, UnitRows, read_units, recomputed, write_units
from stressreel.records.output import FinishedOutput, open_output
from stressreel.records.schema import Config
from stressreel.records.shards import shard_path, write_shard
from stressreel.runtime.verify import Outcome, run_checks

Row = dict[str, Any]
SLOW = ("load_dataset", "decord", "card", "croissant")  # they see nothing that a forger of content leaves behind


@dataclass
class Forgery:
    """The content of an output, to be changed.

    Attributes:
        tables: Rows in storage values by table and split, in order; a video is `{"bytes": …, "path": …}`.
        info: The content of `build.json`.
        hashes: The `sha256` that its videos had.
    """

    tables: dict[str, dict[str, list[Row]]]
    info: dict[str, Any]
    hashes: frozenset[str] = frozenset()

    def rows(self, table: str) -> list[Row]:
        """All rows of a table, splits in order; the rows themselves, to be changed."""
        return [row for rows in self.tables[table].values() for row in rows]


def configs_of(output: FinishedOutput) -> list[Config]:
    """List the tables that an output must have."""
    return list(benchmark_of(output).configs(output.info))


def units_again(out: Path, config: Config, split: str, rows: list[Row]) -> list[UnitRows]:
    """Hash the rows of a table by units again: those that it had, the last taking what was added or lost."""
    table = f"{config.name}/{split}"
    sizes = {unit.unit_id: unit.rows for unit in read_units(out) if unit.table == table} or {"forged": 0}
    left, units = len(rows), []
    for number, (name, size) in enumerate(sizes.items(), 1):
        size = left if number == len(sizes) else min(size, left)
        left -= size
        units += [UnitRows(name, table, size, "")] * bool(size)
    return list(recomputed(units, {table: (config, iter(rows))}))


Change = Callable[[Forgery], object]


@lru_cache(maxsize=2)
def _read(out: Path) -> tuple[dict[tuple[str, str], Any], str]:
    output = open_output(out)
    tables = {
        (config.name, split): [pq.read_table(path) for path in output.shards(config.name, split)]
        for config in configs_of(output)
        for split in output.splits(config.name)
    }
    return tables, json.dumps(output.info)


def load(out: Path) -> Forgery:
    """Read an output; one that never changes, as it is read once."""
    tables, info = _read(out)
    found: dict[str, dict[str, list[Row]]] = {}
    for (config, split), shards in tables.items():
        found.setdefault(config, {})[split] = [row for shard in shards for row in shard.to_pylist()]
    hashes = {row["sha256"] for splits in found.values() for rows in splits.values() for row in rows if "sha256" in row}
    return Forgery(found, json.loads(info), frozenset(hashes))


def forge(out: Path, copy: Path, change: Change, *, card: bool = False) -> Path:
    """Write a copy of an output with a change and everything that follows from it: hashes, counts, fingerprints.

    Args:
        out: An output that stays as it is.
        copy: A folder that is not there yet.
        change: Changes the rows and `build.json` in place; where the bytes of a video changed, its `sha256` follows,
            unless that was changed too.
        card: Whether the card and its figures are written too.
    """
    forged = load(out)
    change(forged)
    copy.mkdir(parents=True)
    if (out / ".build").is_dir():
        shutil.copytree(out / ".build", copy / ".build")
    fingerprint, counts, units = Fingerprint(), {}, []
    for config in configs_of(FinishedOutput(out, forged.info)):
        videos = [column.name for column in config.columns if column.kind == "video"]
        counts[config.name] = {}
        for split, rows in forged.tables.get(config.name, {}).items():
            if not rows:
                continue
            for row in rows:
                for name in videos:
                    if row["sha256"] in forged.hashes:
                        row["sha256"] = hashlib.sha256(row[name]["bytes"]).hexdigest()
            counts[config.name][split] = len(rows)
            units += units_again(out, config, split, rows)
            write_shard(copy / shard_path(config.name, split, 0, 1), config, [(row, 1) for row in rows])
    for unit in units:
        fingerprint.add(unit)
    write_units(copy, units)
    forged.info |= {"counts": counts, "fingerprints": fingerprint.parts(), "fingerprint": fingerprint.hexdigest()}
    if card:
        output = FinishedOutput(copy, forged.info)
        write_card(output, configs_of(output), card_of(benchmark_of(output)))
    write_json(copy / "build.json", forged.info)
    return copy


def outcomes(out: Path, options: VerifyOptions, *, leave_out: tuple[str, ...] = SLOW) -> Mapping[str, Outcome]:
    """Run the checks of an output in this process, by name."""
    output = open_output(out)
    checks = {name: check for name, check in checks_for(output, options).items() if name not in leave_out}
    return {outcome.name: outcome for outcome in run_checks(output, checks)}


def failed(
    out: Path, options: VerifyOptions, *, leave_out: tuple[str, ...] = SLOW, first: bool = False
) -> dict[str, tuple[str, ...]]:
    """Name the checks that fail, with their problems; the first of them alone, if that is enough."""
    found: dict[str, tuple[str, ...]] = {}
    output = open_output(out)
    checks = {name: check for name, check in checks_for(output, options).items() if name not in leave_out}
    for outcome in run_checks(output, checks):
        if not outcome.passed:
            found[outcome.name] = outcome.problems
            if first:
                break
    return found
