"""Check the files of a finished output: names, columns, form and row counts, and whether `datasets` loads them."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from ...core.documents import LARGEST_OWN, parse_own, read_bytes, shortened
from ...core.errors import OutputError
from ...core.files import as_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import canary_of, units_schema, units_writer
from ...core.output import DAMAGED, Compared, Finding, FinishedOutput, Note
from ...core.output_files import BUILD, other_files, unaccounted
from ...core.schema import Config
from ...core.shards import ShardError, measure, read_footer, shard_path, shard_writer, unpacked_bytes
from ...core.written_form import OpenWriter, unlike_written
from .output import read_state

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
            named |= {shard_path(config, split, number, len(paths)).split("/")[1] for number in range(len(paths))}
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
