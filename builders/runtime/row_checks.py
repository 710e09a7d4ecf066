"""Check the rows of a finished output: hashes, keys, links, what was left out, and rows derived from other rows."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import copysign
from typing import Any

from ...core.documents import shortened
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import Fingerprint, plain_json, read_units, recomputed
from ...core.output import Compared, Finding, FinishedOutput
from ...core.plan import LEFT_OUT
from ...core.schema import Config, Row
from ...core.shards import is_full, read_rows
from .losses import REFERS, links_of_output


def check_hashes(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check the hashes of all units and videos, the fingerprints computed from them, and where shards start."""
    if not (output.path / UNITS).is_file():
        yield f"there is no {UNITS}, which lists the rows of each unit"
        return
    problems: list[str] = []
    lines = {
        f"{config.name}/{split}": _hashed_lines(output, config, split, problems)
        for config in configs
        for split in output.splits(config.name)
    }
    fingerprint = Fingerprint()
    for stated, computed in zip(read_units(output.path), recomputed(read_units(output.path), lines), strict=True):
        fingerprint.add(computed)
        if computed != stated:
            yield f"{stated.table}: the rows of {stated.unit_id} are not those that were built"
    for table, rest in lines.items():
        if next(rest, None) is not None:
            yield f"{table}: there are rows that belong to no unit"
    yield from problems
    parts = fingerprint.parts()
    for key in sorted({*parts, *output.info["fingerprints"]}):
        value = output.info["fingerprints"].get(key, "")
        if parts.get(key) != value:
            yield f"{key}: fingerprint {str(parts.get(key))[:16]}, but {value[:16]} in build.json"
    if fingerprint.hexdigest() != output.info["fingerprint"]:
        yield f"fingerprint {fingerprint.hexdigest()[:16]}, but {output.info['fingerprint'][:16]} in build.json"
    yield Compared(f"{output.num_rows:,} rows")


def _hashed_lines(output: FinishedOutput, config: Config, split: str, problems: list[str]) -> Iterator[str]:
    """Yield the rows of a split as they are hashed. Append problems of its videos and of its division into shards."""
    table, paths = f"{config.name}/{split}", output.shards(config.name, split)
    begun = shard_bytes = 0
    misplaced = False
    for number, path in enumerate(paths, 1):
        for row in read_rows(path):
            line = plain_json(config, row)
            size = len(line)
            for name in config.videos:
                key, content, file = row[config.key[0]], row[name]["bytes"] or b"", row[name]["path"]
                if file != config.file_name(row):
                    problems.append(f"{table}: the file of {key} is {file}, not {config.file_name(row)}")
                if hashlib.sha256(content).hexdigest() != row["sha256"]:
                    problems.append(f"{table}: the bytes of {key} do not match their sha256")
                size += len(content)
            if begun == 0 or is_full(shard_bytes, size):
                begun, shard_bytes = begun + 1, 0
            shard_bytes += size
            misplaced |= begun != number
            yield line
    if misplaced or begun != len(paths):
        problems.append(f"{table}: its {len(paths)} shards do not start at the rows where a build starts them")


def check_unique_ids(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[str]:
    """Check that no two rows of a table have the same key."""
    for config in configs:
        counts = Counter(tuple(row[name] for name in config.key) for row in output.rows(config.name, config.key))
        for values, count in counts.items():
            if count > 1:
                yield f"{config.name}: {', '.join(config.key)} {', '.join(map(str, values))} occurs {count} times"


def check_splits(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[str]:
    """Check that no source video occurs in two splits."""
    places: dict[str, set[str]] = {}
    for config in configs:
        if not config.unsplit and any(column.name == "source_id" for column in config.columns):
            for split in output.splits(config.name):
                for row in output.rows(config.name, ["source_id"], split):
                    places.setdefault(row["source_id"], set()).add(split)
    for source, splits in places.items():
        if len(splits) > 1:
            yield f"source {source} is in {' and '.join(sorted(splits))}"


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


def check_left_out(output: FinishedOutput) -> Iterator[Finding]:
    """Check that the rows of `left_out` agree with the counts and skips in `build.json`."""
    columns = ["kind", "name", "source_id", "stage", "reason", "count"]
    skips: set[tuple[str, str]] = set()
    referring: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    num_rows = 0
    for row in output.rows(LEFT_OUT.name, columns) if LEFT_OUT.name in output.info["counts"] else ():
        num_rows += 1
        if row["stage"] != "rendering":
            counts[row["reason"]] += row["count"]
        elif row["reason"] == REFERS:
            referring[row["kind"]] += row["count"]
        else:
            skips.add((row["source_id"], row["reason"]))
    info = output.info["skips"]
    listed = {(skip["source_id"], skip["reason"]) for skip in info["list"]}
    for source, reason in sorted(skips ^ listed):
        where = "left_out" if (source, reason) in skips else "build.json"
        yield f"something of {source} ({reason}) was skipped only according to {where}"
    refer: Mapping[str, Mapping[str, int]] = info.get("rows_that_refer_to_them", {})
    stated = {f"rows of {table}": sum(splits.values()) for table, splits in refer.items()}
    for kind in sorted({*stated, *referring}):
        if stated.get(kind, 0) != referring[kind]:
            yield f"{kind} that refer to skipped ones: {referring[kind]}, but {stated.get(kind, 0)} in build.json"
    notes = output.info["notes"]
    for reason, count in counts.items():
        if isinstance(notes.get(reason), int) and notes[reason] != count:
            yield f"{reason}: {count}, but {notes[reason]} in build.json"
    yield Compared(f"{num_rows:,} rows of what was left out")


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
    for finding in derived:
        if not isinstance(finding, Derived):
            yield finding
            continue
        count += 1
        table, split, expected = finding.table, finding.split, finding.row
        if (table, split) not in streams:
            streams[table, split] = output.rows(table, by_name[table].plain, split)
        rows = streams[table, split]
        if rows is None:
            continue
        keys = by_name[table].key
        row = next(rows, None)
        if row is None or any(row[name] != expected[name] for name in keys):
            instead = "the rows end" if row is None else f"found {_named(row, keys)}"
            yield f"{table}/{split}: {instead} where {_named(expected, keys)} is expected; the rest is skipped"
            streams[table, split] = None
            continue
        yield from (f"{table}/{split}: {_named(row, keys)}: {line}" for line in differences(row, expected))
    for table in dict.fromkeys(table for table, _ in streams):
        for split in output.splits(table):
            rows = streams.get((table, split), output.rows(table, by_name[table].plain, split))
            if rows and (extra := next(rows, None)):
                named = _named(extra, by_name[table].key)
                yield f"{table}/{split}: {named} and the rows after it are not expected"
    yield Compared(f"{count:,} rows, derived from others")


def differences(row: Row, expected: Row) -> Iterator[str]:
    """Describe each column that differs, as "column is X, not Y"."""
    for name, value in expected.items():
        if not _same(row[name], value):
            yield f"{name} is {shortened(row[name])}, not {shortened(value)}"


def _same(value: Any, expected: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(expected, Mapping):
        return value.keys() == expected.keys() and all(_same(value[name], expected[name]) for name in value)
    if isinstance(value, list | tuple) and isinstance(expected, list | tuple):
        return len(value) == len(expected) and all(map(_same, value, expected))
    if isinstance(value, float) and isinstance(expected, float):
        return value == expected and copysign(1, value) == copysign(1, expected)
    return bool(value == expected)


def _named(row: Row, keys: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in keys)
