"""Check the tables of a finished output: files, columns, row counts, hashes, keys, links and derived rows."""

from __future__ import annotations

import gc
import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import copysign
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...core.documents import LARGEST_OWN, parse_own, read_bytes, shortened
from ...core.errors import OutputError
from ...core.files import as_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import Fingerprint, canary_of, plain_json, read_units, recomputed, units_schema, units_writer
from ...core.output import DAMAGED, Compared, Finding, FinishedOutput, Note
from ...core.output_files import BUILD, other_files, unaccounted
from ...core.plan import LEFT_OUT
from ...core.schema import Config, Row
from ...core.shards import (
    ShardError,
    is_full,
    measure,
    read_footer,
    read_rows,
    shard_path,
    shard_writer,
    unpacked_bytes,
)
from ...core.written_form import OpenWriter, unlike_written
from .output import read_state
from .pack import REFERS, links_of_output

VIEWER_ROWS, VIEWER_BYTES = 100, 300_000_000  # a page of the Hub's viewer: rows, and maximum bytes read


def check_files(output: FinishedOutput) -> Iterator[Finding]:
    """Check that the output contains only files of a build or a command, as others might be loaded as tables."""
    for name in unaccounted(output):
        yield f"{name} is not a file of this output, and may be loaded with it. Remove it, or keep it elsewhere"
    yield Compared(f"{len(output.files()):,} files")


def check_schema(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check that every shard has the columns, types and features of its config, and that every file has the canary."""
    canary = output.info.get("canary")
    if canary not in (None, canary_of(str(output.info.get("plan_sha256")))):
        yield f"build.json: the canary {shortened(canary)} does not follow from plan_sha256"
    wanted = None if canary is None else str(canary).encode()
    units = output.path / UNITS
    if units.is_file() and (read_footer(units).metadata or {}).get(b"canary") != wanted:
        yield f"{UNITS}: the canary in the metadata differs from build.json"
    for config in configs:
        expected = config.schema()
        for path in output.shards(config.name):
            try:
                schema = read_footer(path).schema.to_arrow_schema()
            except ShardError as error:
                yield str(error)
                continue
            if not schema.equals(expected, check_metadata=False):
                yield f"{path.relative_to(output.path)}: columns differ: {_column_differences(schema, expected)}"
            elif (schema.metadata or {}).get(b"huggingface") != expected.metadata[b"huggingface"]:
                yield f"{path.relative_to(output.path)}: the features in the metadata differ"
            elif (schema.metadata or {}).get(b"canary") != wanted:
                yield f"{path.relative_to(output.path)}: the canary in the metadata differs from build.json"
    yield Compared(f"{sum(len(output.shards(config.name)) for config in configs):,} shards of {len(configs)} tables")


def _column_differences(schema: pa.Schema, expected: pa.Schema) -> str:
    types, expected_types = ({field.name: str(field.type) for field in side} for side in (schema, expected))
    names = [name for name in {**expected_types, **types} if types.get(name) != expected_types.get(name)]
    lines = [f"{name} is {types.get(name, 'absent')}, not {expected_types.get(name, 'present')}" for name in names]
    return ", ".join(lines) or "their order"


def check_counts(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check that the shards and their row counts agree with `build.json`."""
    expected_tables = output.info["counts"]
    if sorted(expected_tables) != sorted(config.name for config in configs):
        yield f"build.json counts {', '.join(expected_tables)}, not {', '.join(config.name for config in configs)}"
    for config, splits in expected_tables.items():
        files = {path.name for path in output.shards(config)}
        named: set[str] = set()
        for split, count in splits.items():
            paths = output.shards(config, split)
            named |= {shard_path(config, split, index, len(paths)).split("/")[1] for index in range(len(paths))}
            rows = sum(read_footer(path).num_rows for path in paths)
            if rows != count:
                yield f"{config}/{split} has {rows} rows, but {count} in build.json"
        for name in sorted(files ^ named):
            yield f"{config}/{name} is {'not expected' if name in files else 'missing'}"
    yield Compared(f"{output.num_rows:,} rows")


def check_written(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check the form of `build.json`, and of the Parquet files: their statistics, indexes, metadata and every byte.

    Files whose columns are not those of their table are left to `check_schema`.
    """
    canary = str(output.info.get("canary") or "")
    yield from check_record_form(output)
    files: list[tuple[Path, pa.Schema, OpenWriter]] = [
        (path, config.schema(canary), partial(shard_writer, videos=config.videos))
        for config in configs
        for path in output.shards(config.name)
    ]
    if (output.path / UNITS).is_file():
        files.append((output.path / UNITS, units_schema(canary), units_writer))
    for path, schema, writer in files:
        try:
            if read_footer(path).schema.to_arrow_schema().equals(schema, check_metadata=False):
                for line in unlike_written(path, schema, writer):
                    yield f"{path.relative_to(output.path).as_posix()}: other programs may read other rows: {line}"
        except ShardError:
            continue  # `check_schema` names it
    yield Compared(f"{len(files):,} Parquet files")


def check_record_form(output: FinishedOutput) -> Iterator[str]:
    """Check that `build.json` has the form in which it is written, and that an unfinished plan beside it is its own."""
    text = read_bytes(output.path / BUILD, LARGEST_OWN).replace(b"\r\n", b"\n")
    try:
        again = as_json(parse_own(text.decode(), replace_surrogates=False))
    except ValueError as error:
        yield f"{BUILD} is damaged ({error})"
        return
    if text != again:
        yield f"{BUILD} is not written as a build writes it, so other programs may read something else"
    try:
        plan = read_state(output.path / ".build" / "plan.json", ("builder", "hash"))
    except OutputError as error:
        yield str(error)
        return
    if plan and (plan["builder"], plan["hash"]) != (output.info["builder"], output.info["plan_sha256"]):
        yield ".build/plan.json is the plan of another build"


def check_load_dataset(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check that `datasets.load_dataset` opens every config with the expected features and rows.

    Tables with videos are streamed, which avoids large copies.
    """
    import datasets

    if next(output.gaps(), ""):
        yield DAMAGED
        return
    if foreign := other_files(output.path, configs, output.info["counts"]):
        yield f"{foreign}, so the output was not loaded: loading it could fetch or read arbitrary files"
        return
    datasets.disable_progress_bars()
    verbosity = datasets.logging.get_verbosity()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # it would print names from the files unescaped
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as cache:
            for config in configs:
                streaming = bool(config.videos)
                for path in output.shards(config.name):
                    measure(path, 1 if streaming else None)
                name = None if config.default else config.name
                loaded = datasets.load_dataset(str(output.path), name, cache_dir=cache, streaming=streaming)
                yield from _compare_loaded(loaded, config, output)
                del loaded
    except ShardError:
        raise
    except Exception as error:  # users would encounter any error that load_dataset raises
        yield f"{type(error).__name__}: {error}"
    finally:
        datasets.logging.set_verbosity(verbosity)
        datasets.enable_progress_bars()
    yield from viewer_notes(output, configs)


def _compare_loaded(loaded: Mapping[str, object], config: Config, output: FinishedOutput) -> Iterator[str]:
    import datasets

    expected = datasets.Features.from_arrow_schema(config.schema())
    if set(loaded) != set(output.splits(config.name)):
        yield f"{config.name}: its splits are {', '.join(loaded)}, not {', '.join(output.splits(config.name))}"
    for split, table in loaded.items():
        if getattr(table, "features", None) != expected:
            yield f"{config.name}/{split}: its features are not those of the config"
        if isinstance(table, datasets.Dataset) and len(table) != output.info["counts"][config.name].get(split):
            yield f"{config.name}/{split}: {len(table)} rows"
        if isinstance(table, datasets.IterableDataset):
            rows = iter(table.decode(False))
            next(rows)
            del rows
            gc.collect()  # otherwise the abandoned stream may make Arrow abort the process at exit


def viewer_notes(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Note splits whose first rows the viewer on the Hub may not be able to show.

    The viewer reads at most 300,000,000 bytes for a page of 100 rows.
    """
    for config in configs:
        for split in output.splits(config.name):
            size = _size_of_first_rows(output, config.name, split)
            if size > VIEWER_BYTES:
                yield Note(
                    f"{config.name}/{split}: its first {VIEWER_ROWS} rows have about {size / 1e6:,.0f} MB; the viewer "
                    f"of the Hub reads at most {VIEWER_BYTES / 1e6:,.0f} MB and may not show them. Loading them works."
                )


def _size_of_first_rows(output: FinishedOutput, config: str, split: str) -> float:
    """Estimate the uncompressed size of the first rows in bytes from the average of the first shard."""
    footer = read_footer(output.shards(config, split)[0])
    rows = min(VIEWER_ROWS, output.info["counts"][config][split])
    return float(unpacked_bytes(footer) / max(footer.num_rows, 1) * rows)


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
    splits_of: dict[str, set[str]] = {}
    for config in configs:
        if not config.unsplit and any(column.name == "source_id" for column in config.columns):
            for split in output.splits(config.name):
                for row in output.rows(config.name, ["source_id"], split):
                    splits_of.setdefault(row["source_id"], set()).add(split)
    for source, splits in splits_of.items():
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
