"""Verify a finished output with the checks that apply to every benchmark, and report the results of all checks."""

from __future__ import annotations

import gc
import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from ...core.canary import canary_of
from ...core.card_file import other_files
from ...core.checks import Check, Compared, Finding, NotChecked, Note, NotRun
from ...core.documents import shortened
from ...core.errors import legible, one_line
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import Fingerprint, plain_json, read_units, recomputed
from ...core.output import FinishedOutput
from ...core.progress import Working
from ...core.results import Result, Table
from ...core.schema import Config
from ...core.shards import ShardError, measure, read_footer, read_rows, shard_path, unpacked_bytes
from .as_written import check_written
from .links import check_links
from .losses import check_left_out
from .own_files import unaccounted
from .pack import is_full

SHOWN = 10
SAID = "not checked: see the damaged or missing files above"
UNSOURCED = (
    "Content that cannot be derived from other rows, such as clips and annotations, could still have been forged: "
    "--sources DIR builds it again."
)
UNSIGNED = "The maker is not verified: use --signed-by KEY for a signature, or --fingerprint HEX for a published value."
TRUSTED = {
    "shown": ("decoded",),
    "decord": ("decoded", "rows", "videos"),
    "figures": ("decoded", "rows", "videos"),
}
"""Checks that are not run after others have failed, since they decode videos without limits of their own."""
VIEWER_ROWS, VIEWER_BYTES = 100, 300_000_000  # a page of the Hub's viewer: rows, and maximum bytes read

UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError),
    pa.ArrowException,
)


@dataclass(frozen=True)
class Outcome:
    """The result of one check.

    Attributes:
        problems: The first problems, one line each.
        count: Number of problems.
        not_checked: Properties that could not be checked, and what is needed to check them.
        not_run: Parts that require an optional package or were excluded by an option. They do not count.
        notes: Remarks that are not problems.
        unverified: Names for `--allow-unverified` of requested checks that were impossible.
        compared: Number and kind of the checked items.
    """

    name: str
    problems: tuple[str, ...]
    count: int
    not_checked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    compared: str = ""
    not_run: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether all requested checks could be run and found no problem."""
        return self.count == 0 and not self.unverified

    @property
    def ran(self) -> bool:
        """Return whether at least a part of the check was run."""
        return bool(self.count or self.compared or not self.not_run)

    def __str__(self) -> str:
        left_open = [f"not checked: {reason}" for reason in self.not_checked]
        left_open += [f"not run: {reason}" for reason in self.not_run]
        notes = [f"note: {text}" for text in self.notes]
        more = self.count - len(self.problems)
        problems = [*self.problems, *([f"… and {more} more"] if more else [])]
        mark = "FAIL" if self.count else "??  " if self.unverified else "--  " if left_open else "ok  "
        below = [f"        {one_line(text)}" for text in (*problems, *left_open, *notes)]
        return "\n".join([f"{mark}  {self.name}" + (f": {self.compared}" if self.compared else ""), *below])


@dataclass(frozen=True)
class Verification(Result):
    """The results of all checks of an output. Iterating over it yields them.

    Attributes:
        by_sources: Whether the output was built again from the sources.
        by_maker: Whether the output was compared with a key, identity or fingerprint published by its maker.
    """

    output: str
    fingerprint: str
    outcomes: tuple[Outcome, ...]
    by_sources: bool = False
    by_maker: bool = False

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return not self.failed

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Return whether any check failed."""
        return not all(outcome.passed for outcome in self.outcomes)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.outcomes), self.closing()])

    def closing(self) -> str:
        """Return the verdict, and a list of what could still be forged."""
        left_open = [UNSOURCED] * (not self.by_sources) + [UNSIGNED] * (not self.by_maker)
        return "\n".join([self.verdict(), *left_open])

    def verdict(self) -> str:
        """Summarize the checks in one sentence."""
        failed = [outcome.name for outcome in self.outcomes if outcome.count]
        unverified = [outcome.name for outcome in self.outcomes if outcome.unverified]
        left_open = [outcome.name for outcome in self.outcomes if outcome.not_checked and not outcome.unverified]
        not_run = [outcome.name for outcome in self.outcomes if outcome.not_run]
        ran = sum(outcome.ran for outcome in self.outcomes)
        verdict = f"all {ran} checks passed"
        if left_open:
            verdict = f"{ran - len(left_open)} of {ran} checks passed"
        if failed or unverified:
            verdict = f"{len(failed)} of {ran} checks failed" + (f": {', '.join(failed)}" if failed else "")
        if unverified:
            names = " ".join(f"--allow-unverified {name}" for outcome in self.outcomes for name in outcome.unverified)
            verdict += f"; not verified: {', '.join(unverified)} ({names} accepts that)"
        verdict += f"; incomplete: {', '.join(left_open)}" if left_open else ""
        return verdict + (f"; not run: {', '.join(not_run)}" if not_run else "")

    def as_tables(self) -> tuple[Table, ...]:
        """Return the report as a table with one row per check."""
        rows = tuple(
            (
                o.name,
                "failed" if not o.passed else "passed" if o.ran else "not run",
                o.count,
                "; ".join((*o.problems, *o.not_checked, *o.not_run, *o.notes)),
            )
            for o in self.outcomes
        )
        return (Table("checks", self.verdict(), ("check", "result", "problems", "details"), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        lists = ("problems", "not_checked", "not_run", "notes", "unverified")
        checks = [
            {
                **{"name": outcome.name, "passed": outcome.passed, "problem_count": outcome.count},
                **{name: list(getattr(outcome, name)) for name in lists},
                "compared": outcome.compared,
            }
            for outcome in self.outcomes
        ]
        return {"output": self.output, "passed": self.passed, "fingerprint": self.fingerprint, "checks": checks}


def run_checks(output: FinishedOutput, checks: Mapping[str, Check], allowed: Collection[str] = ()) -> Iterator[Outcome]:
    """Run checks in order. A check that cannot read its files fails, and each damaged file is reported once.

    A check that trusts what a failed one checks is not run; see `TRUSTED`. `allowed` contains the names of checks that
    may remain unverified; see `NotChecked`.
    """
    told: set[str] = set()
    failed: set[str] = set()
    output.complete()
    for name, check in checks.items():
        if untrusted := [other for other in TRUSTED.get(name, ()) if other in failed]:
            yield Outcome(name, (), 0, not_run=(f"it requires that this check passes: {', '.join(untrusted)}",))
            continue
        with Working(f"checking {name.replace('_', ' ')}"):
            outcome = _outcome(name, check, output, allowed, told)
        told.update(outcome.problems)
        failed.update([name] if outcome.count else [])
        yield outcome


def _outcome(
    name: str, check: Check, output: FinishedOutput, allowed: Collection[str], told: Collection[str]
) -> Outcome:
    problems: list[str] = []
    findings: dict[type, list[Any]] = defaultdict(list)
    count = 0
    try:
        for finding in check(output):
            if isinstance(finding, str):
                count += 1
                problems += [legible(finding)] if count <= SHOWN else []
            else:
                findings[type(finding)].append(finding)
    except UNREADABLE as error:
        count += 1
        problems.append(legible(_unreadable(output, error, told)))
    return Outcome(
        name,
        tuple(problems),
        count,
        not_checked=tuple(legible(finding.reason) for finding in findings[NotChecked]),
        notes=tuple(legible(finding.text) for finding in findings[Note]),
        unverified=tuple(dict.fromkeys(each.name for each in findings[NotChecked] if each.name not in ("", *allowed))),
        compared="".join(finding.text for finding in findings[Compared][-1:]),
        not_run=tuple(legible(finding.reason) for finding in findings[NotRun]),
    )


def _unreadable(output: FinishedOutput, error: Exception, told: Iterable[str]) -> str:
    """Return why a check ended early. Missing files, and damaged files reported before, are not repeated."""
    if isinstance(error, ShardError):
        return SAID if any(line.startswith(error.what) for line in told) else str(error)
    if next(output.gaps(), ""):
        return SAID
    return f"it could not be checked: {type(error).__name__}: {error}"


def common_checks(configs: Sequence[Config]) -> dict[str, Check]:
    """Return the checks that apply to every output."""
    return {
        "files": check_files,
        "schema": lambda output: check_schema(output, configs),
        "counts": lambda output: check_counts(output, configs),
        "written": lambda output: check_written(output, configs),
        "hashes": lambda output: check_hashes(output, configs),
        "load_dataset": lambda output: chain(check_load_dataset(output, configs), viewer_notes(output, configs)),
    }


def row_checks(configs: Sequence[Config]) -> dict[str, Check]:
    """Return the checks that only read rows, for outputs that cannot be built again."""
    return {
        "unique_ids": lambda output: check_unique_ids(output, configs),
        "splits": lambda output: check_splits(output, configs),
        **({"links": lambda output: check_links(output, configs)} if any(config.links for config in configs) else {}),
        "left_out": check_left_out,
    }


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
                found = read_footer(path).schema.to_arrow_schema()
            except ShardError as error:
                yield str(error)
                continue
            if not found.equals(expected, check_metadata=False):
                yield f"{path.relative_to(output.path)}: columns differ: {_differences(found, expected)}"
            elif (found.metadata or {}).get(b"huggingface") != expected.metadata[b"huggingface"]:
                yield f"{path.relative_to(output.path)}: the features in the metadata differ"
            elif (found.metadata or {}).get(b"canary") != wanted:
                yield f"{path.relative_to(output.path)}: the canary in the metadata differs from build.json"
    yield Compared(f"{sum(len(output.shards(config.name)) for config in configs):,} shards of {len(configs)} tables")


def _differences(found: pa.Schema, expected: pa.Schema) -> str:
    here, there = ({field.name: str(field.type) for field in schema} for schema in (found, expected))
    names = [name for name in {**there, **here} if here.get(name) != there.get(name)]
    lines = [f"{name} is {here.get(name, 'absent')}, not {there.get(name, 'present')}" for name in names]
    return ", ".join(lines) or "their order"


def check_counts(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check that the shards and their row counts agree with `build.json`."""
    expected_tables = output.info["counts"]
    if sorted(expected_tables) != sorted(config.name for config in configs):
        yield f"build.json counts {', '.join(expected_tables)}, not {', '.join(config.name for config in configs)}"
    for config, splits in expected_tables.items():
        found = {path.name for path in output.shards(config)}
        named: set[str] = set()
        for split, count in splits.items():
            paths = output.shards(config, split)
            named |= {shard_path(config, split, number, len(paths)).split("/")[1] for number in range(len(paths))}
            rows = sum(read_footer(path).num_rows for path in paths)
            if rows != count:
                yield f"{config}/{split} has {rows} rows, but {count} in build.json"
        for name in sorted(found ^ named):
            yield f"{config}/{name} is {'not expected' if name in found else 'missing'}"
    yield Compared(f"{output.num_rows:,} rows")


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
    for stated, found in zip(read_units(output.path), recomputed(read_units(output.path), lines), strict=True):
        fingerprint.add(found)
        if found != stated:
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


def check_load_dataset(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[str]:
    """Check that `datasets.load_dataset` opens every config with the expected features and rows.

    Tables with videos are streamed, which avoids large copies.
    """
    import datasets

    if next(output.gaps(), ""):
        yield SAID
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
