"""Compare the settings, tables, rows and videos of two outputs of the same benchmark.

The fingerprints in `build.json` are trusted (`stressreel verify` checks them): tables with equal ones are not read. All
other rows are joined by key and compared column by column. Memory is bounded because only 64-bit hashes of the keys and
of one column are held; values are read one column of one shard at a time. Videos with different SHA-256 are decoded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.documents import parse_json
from ...core.errors import LONGEST, InputError, legible
from ...core.output import FinishedOutput
from ...core.results import Result, Table
from ...core.schema import Column, Config
from ...core.shards import ShardError, read_columns_of, read_footer, row_reader
from ...video.compare import compare_videos

EXAMPLES, LISTED = 3, 4
DERIVED = ("counts", "fingerprints", "fingerprint", "plan_sha256", "canary")  # of build.json
VIDEO = Column("", "video", "").arrow_type()
LIKENESS = {  # of decoded videos; see video.compare
    "pictures": "with a frame below 30 dB",
    "frames": "with a different number of frames",
    "size": "of a different size",
    "times": "with frames at different times",
    "undecodable": "that cannot be decoded",
}
SHOWN, CONTEXT = 60, 12  # characters of a value, and of the text before the first difference
LINES = 200  # maximum number of differences to list for each part of the report


@dataclass(frozen=True)
class Change:
    """A value that differs between A and B, or None where it is absent.

    Attributes:
        what: An entry of `build.json` as a dotted path, or a column of a table.
    """

    what: str
    a: Any
    b: Any

    def as_json(self) -> dict[str, Any]:
        """Return the change as JSON values. Long values are truncated."""
        return {**vars(self), "what": legible(self.what), "a": _bounded(self.a), "b": _bounded(self.b)}


@dataclass(frozen=True)
class ColumnChange(Change):
    """A column that differs in some rows, with its values in the first one.

    Attributes:
        count: Number of rows in which the column differs.
        key: Key of the first of these rows.
    """

    count: int
    key: str


@dataclass(frozen=True)
class SomeRows:
    """The number of certain rows in a table, and the keys of the first ones."""

    count: int = 0
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.examples) else ""
        return f"{self.count:,} ({', '.join(self.examples)}{more})"


@dataclass(frozen=True)
class Move:
    """Rows that moved from split `before` in A to split `after` in B."""

    before: str
    after: str
    rows: SomeRows


@dataclass(frozen=True)
class VideoDiff:
    """Videos that are in both outputs but have different SHA-256 hashes.

    Attributes:
        changed: Number of these videos.
        decoded: Number of those that were decoded.
        kinds: Number of decoded videos by result; see `video.compare.Likeness`.
        worst_db: Minimum PSNR of a frame among similar videos, if there are any.
        other_sound: Number of decoded videos with different sound.
        examples: "key" and difference ("what") of the first dissimilar videos.
    """

    changed: int
    decoded: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    worst_db: float | None = None
    other_sound: int = 0
    examples: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class TableDiff:
    """The differences between A and B in one table.

    Attributes:
        rows: Number of rows in A and in B; None if the table is absent.
        same: Whether the table has the same rows in the same order.
        reordered: Whether nothing differs but the order of rows or their division into units.
        not_compared: Reason why rows could not be compared, or "".
        schema: Columns that were added, removed or changed in type.
        new: Rows only in B.
        gone: Rows only in A.
        changed: Rows of both that differ in a shared column.
        columns: The columns in which they differ, each with an example.
        moved: Rows that changed splits.
        videos: Changed videos; None if the table contains no videos.
    """

    name: str
    rows: tuple[int | None, int | None]
    same: bool = False
    reordered: bool = False
    not_compared: str = ""
    schema: tuple[Change, ...] = ()
    new: SomeRows = SomeRows()
    gone: SomeRows = SomeRows()
    changed: SomeRows = SomeRows()
    columns: tuple[ColumnChange, ...] = ()
    moved: tuple[Move, ...] = ()
    videos: VideoDiff | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        return {
            **asdict(self),
            "rows": dict(zip("ab", self.rows, strict=True)),
            "schema": [change.as_json() for change in self.schema],
            "columns": [change.as_json() for change in self.columns],
            "moved": [{"from": move.before, "to": move.after, **vars(move.rows)} for move in self.moved],
        }


@dataclass(frozen=True)
class Difference(Result):
    """The differences between two outputs, A and B.

    Attributes:
        names: Names of A and B.
        same: Whether both have the same content: the same rows in the same order, and therefore the same videos.
        fingerprints: Fingerprints of A and B.
        build: Differences in `build.json`: settings, tools, inputs, command, version, skips, notes.
        tables: All tables of A or B; empty if the content is the same.
    """

    names: tuple[str, str]
    benchmark: str
    same: bool
    fingerprints: tuple[str, str]
    build: tuple[Change, ...]
    tables: tuple[TableDiff, ...] = ()

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Return whether the content differs."""
        return not self.same

    def __str__(self) -> str:
        return "\n".join(map(legible, [self.sentence(), *_details(self)]))

    def sentence(self) -> str:
        """Summarize the differences in one sentence."""
        if self.same:
            return f"The same content: fingerprint {self.fingerprints[0][:16]} in both."
        parts = [_video_sentence([table.videos for table in self.tables if table.videos])]
        parts += [_table_sentence(table) for table in self.tables if not table.same]
        same = [table.name for table in self.tables if table.same]
        if same:
            parts.append(f"{_listed(same) if len(same) <= LISTED else f'{len(same)} tables'} the same")
        return "; ".join(filter(None, parts)) + "."

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table with the numbers of new, removed and changed rows for each table that differs."""
        headings = ("table", "rows of A", "rows of B", "new", "gone", "changed")
        rows = [
            (table.name, *table.rows, table.new.count, table.gone.count, table.changed.count) for table in self.tables
        ]
        return (Table("tables", self.sentence(), headings, tuple(rows)),)

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        return {
            **dict(zip("ab", self.names, strict=True)),
            "benchmark": self.benchmark,
            "same": self.same,
            "summary": legible(self.sentence()),
            "fingerprints": dict(zip("ab", self.fingerprints, strict=True)),
            "build": [change.as_json() for change in self.build],
            "tables": [table.as_json() for table in self.tables],
        }


def diff_outputs(
    a: FinishedOutput,
    b: FinishedOutput,
    configs: Sequence[tuple[Config | None, Config | None]],
    *,
    names: tuple[str, str] = ("A", "B"),
    decode: bool = True,
    most_videos: int | None = None,
) -> Difference:
    """Compare two outputs of the same benchmark.

    `configs` pairs the definitions of every table in A and in B, or None if it is absent. With `decode`, videos with
    different SHA-256 hashes are decoded: all of them, or `most_videos` evenly spaced ones per table.

    Raises:
        InputError: A shard cannot be read, rows are missing, or a key is duplicated.
    """
    prints = (str(a.info["fingerprint"]), str(b.info["fingerprint"]))
    same = prints[0] == prints[1]
    tables = [] if same else [_compare((a, b), pair, most_videos if decode else 0) for pair in configs]
    build = tuple(_changes(_flat_info(a), _flat_info(b)))
    return Difference(names, a.info["builder"], same, prints, build, tuple(tables))


def _flat_info(output: FinishedOutput) -> dict[str, Any]:
    """Flatten the description of the build in `build.json`, with dotted paths as keys."""

    def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
        for name, inner in value.items():
            yield from flat(inner, f"{prefix}{name}.") if isinstance(inner, Mapping) else [(prefix + name, inner)]

    info = {name: value for name, value in output.info.items() if name not in DERIVED}
    info["skips"] = {"count": info["skips"]["count"], **info["skips"]["by_reason"]}
    return dict(flat(info))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    return (Change(name, a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name))


@dataclass(frozen=True)
class _TableReader:
    """Reads those splits of a table of one output that differ from the other. Rows are numbered across shards."""

    output: FinishedOutput
    config: Config
    splits: Sequence[str]

    @cached_property
    def shards(self) -> list[tuple[str, Path, int]]:
        """Return the split, path and number of rows of every shard."""
        paths = ((split, path) for split in self.splits for path in self.output.counted(self.config.name, split))
        return [(split, path, int(read_footer(path).num_rows)) for split, path in paths]

    def types(self) -> dict[str, tuple[pa.DataType, tuple[str, ...]]]:
        """Return the type of every column, and the class names of labels."""
        if not self.shards:
            return {column.name: (column.arrow_type(), column.names) for column in self.config.columns}
        schema = read_footer(self.shards[0][1]).schema.to_arrow_schema()
        stored = parse_json((schema.metadata or {}).get(b"huggingface", b"{}").decode("utf-8", "replace"))
        features = stored.get("info", {}).get("features", {})
        return {each.name: (each.type, tuple(features.get(each.name, {}).get("names", ()))) for each in schema}

    def hashes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return a hash of each row's values in some columns. The numbers 1 and 1.0 are equal.

        Python seeds the hashes of texts at random in each process, so nobody can prepare an output that hides a change.
        """
        parts = [np.zeros(0, np.int64)]
        for _, path, rows in self.shards:
            values = zip(*read_columns_of(path, names).values(), strict=True)
            texts = ("\0".join([repr(value).removesuffix(".0") for value in row]) for row in values)
            parts.append(np.fromiter(map(hash, texts), np.int64))
            if len(parts[-1]) != rows:
                raise ShardError(path, ValueError("it has another number of rows than its footer states"))
        return np.concatenate(parts)

    def keys(self, name: str) -> pa.Table:
        """Return a table of hashed keys and row numbers. Raise InputError if a key is duplicated."""
        keys = self.hashes(self.config.key)
        if len(np.unique(keys)) != len(keys):
            raise InputError(
                f"{self.output.path}, table {self.config.name}: two rows have the same {', '.join(self.config.key)}, "
                "so they cannot be matched. `stressreel verify` lists them (unique_ids); build again with --fresh."
            )
        return pa.table({"key": keys, name: np.arange(len(keys))})

    def split_of(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return the split of each row."""
        splits = np.array([split for split, _, _ in self.shards], np.object_)
        splits = splits.repeat(np.array([count for _, _, count in self.shards], np.int64))
        return splits[rows]

    def position(self, row: int) -> tuple[Path, int]:
        """Return the shard of a row, and its number in it."""
        for _, path, rows in self.shards:
            if row < rows:
                return path, row
            row -= rows
        raise LookupError(f"{self.config.name} has no such row")

    def some(self, rows: NDArray[np.int64]) -> SomeRows:
        return SomeRows(len(rows), tuple(map(self.key, rows[:EXAMPLES].tolist())))

    def key(self, row: int) -> str:
        values = row_reader(self.config.key)(*self.position(row))
        return legible(" ".join(str(values[name]) for name in self.config.key))


def _compare(outputs: Sequence[FinishedOutput], configs: Sequence[Config | None], most_videos: int | None) -> TableDiff:
    """Compare a table, unless only one of the outputs has it or its fingerprints are equal."""
    config_a, config_b = configs
    name = next(config.name for config in configs if config)
    counts = [output.info["counts"].get(name, {}) for output in outputs]
    rows_a, rows_b = (sum(side.values()) if config else None for side, config in zip(counts, configs, strict=True))
    if config_a is None or config_b is None:
        return TableDiff(name, (rows_a, rows_b))
    hashes = [output.info["fingerprints"] for output in outputs]
    prints = [{split: of.get(f"{name}/{split}") for split in side} for of, side in zip(hashes, counts, strict=True)]
    splits = [[split for split in side if prints[0].get(split) != prints[1].get(split)] for side in prints]
    if not any(splits):
        return TableDiff(name, (rows_a, rows_b), same=True)
    a, b = _TableReader(outputs[0], config_a, splits[0]), _TableReader(outputs[1], config_b, splits[1])
    return _compare_rows(TableDiff(name, (rows_a, rows_b)), a, b, most_videos)


def _compare_rows(table: TableDiff, a: _TableReader, b: _TableReader, most_videos: int | None) -> TableDiff:
    types = (a.types(), b.types())
    described = (
        {name: f"{kind}: {', '.join(names)}" if names else str(kind) for name, (kind, names) in side.items()}
        for side in types
    )
    schema = tuple(_changes(*described))
    both = [name for name in types[0] if name in types[1]]
    video = next((name for name in both if types[0][name][0] == VIDEO), None)
    plain = [name for name in both if VIDEO not in (types[0][name][0], types[1][name][0])]
    if lacking := [name for name in a.config.key if name not in plain]:
        why = f"they are matched by {', '.join(a.config.key)}, and one of the outputs has no {', '.join(lacking)}"
        return replace(table, schema=schema, not_compared=why)
    joined = a.keys("a").join(b.keys("b"), "key", join_type="full outer")
    gone, new = (np.sort(joined.filter(joined[x].is_null())[y].to_numpy()) for x, y in ("ba", "ab"))
    pairs = joined.drop_null().sort_by("a")
    rows_a, rows_b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    changed, changed_video = np.zeros((2, len(pairs)), np.bool_)
    columns: list[tuple[int, ColumnChange]] = []
    for name in plain:
        differing = a.hashes([name])[rows_a] != b.hashes([name])[rows_b]
        if differing.any():
            first = int(np.argmax(differing))
            classes = types[0][name][1] if types[0][name][1] == types[1][name][1] else ()
            positions = a.position(int(rows_a[first])), b.position(int(rows_b[first]))
            was, now = (_label(row_reader([name])(*position)[name], classes) for position in positions)
            columns.append((first, ColumnChange(name, was, now, int(differing.sum()), a.key(int(rows_a[first])))))
        changed |= differing
        changed_video = differing if name == "sha256" else changed_video
    splits_a, splits_b = a.split_of(rows_a), b.split_of(rows_b)
    ways = sorted({way for way in zip(splits_a.tolist(), splits_b.tolist(), strict=True) if way[0] != way[1]})
    moved = [Move(*way, a.some(rows_a[(splits_a == way[0]) & (splits_b == way[1])])) for way in ways]
    return replace(
        table,
        reordered=not (schema or len(new) or len(gone) or changed.any() or moved),
        schema=schema,
        new=b.some(new),
        gone=a.some(gone),
        changed=a.some(rows_a[changed]),
        columns=tuple(change for _, change in sorted(columns, key=lambda item: (-item[1].count, item[0]))),
        moved=tuple(moved),
        videos=None if video is None else _compare_videos(a, b, pairs.filter(changed_video), video, most_videos),
    )


def _label(value: Any, names: Sequence[str]) -> Any:
    """Return the class name of a label, or a value as JSON, which has no bytes, times or NaN."""
    if names and isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)
    return value


def _compare_videos(a: _TableReader, b: _TableReader, rows: pa.Table, column: str, most: int | None) -> VideoDiff:
    """Compare `most` videos that have different SHA-256 hashes, given by their rows in A and B."""
    count = len(rows) if most is None else min(most, len(rows))
    pairs = rows.take(pa.array([index * len(rows) // count for index in range(count)], pa.int64()))
    read = row_reader([column])
    kinds, decibels, other_sound, examples = Counter[str](), list[float](), 0, list[dict[str, str]]()
    for row_a, row_b in zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True):
        likeness = compare_videos(
            *(read(*position)[column]["bytes"] or b"" for position in (a.position(row_a), b.position(row_b)))
        )
        kinds[likeness.kind] += 1
        other_sound += not likeness.same_sound
        if likeness.kind == "alike" and likeness.decibels is not None:
            decibels.append(likeness.decibels)
        elif len(examples) < EXAMPLES:
            examples.append({"key": a.key(row_a), "what": likeness.detail})
    worst = round(min(decibels), 2) if decibels else None
    return VideoDiff(len(rows), count, dict(kinds), worst, other_sound, tuple(examples))


def _video_sentence(videos: Sequence[VideoDiff]) -> str:
    changed, decoded = sum(diff.changed for diff in videos), sum(diff.decoded for diff in videos)
    many = f"{changed:,} video" + ("" if changed == 1 else "s")
    if not decoded:
        return f"{many} with other bytes, not decoded" if changed else ""
    kinds = sum((Counter(diff.kinds) for diff in videos), Counter[str]())
    worst = f"worst {min((v.worst_db for v in videos if v.worst_db is not None), default=0.0):.1f} dB"
    some = f" ({decoded:,} decoded)" if decoded < changed else ""
    sounds = sum(diff.other_sound for diff in videos)
    sound = [f"{sounds:,} with other sound"] if sounds else []
    if kinds["alike"] == decoded:
        return ", ".join([f"{many} re-encoded{some}, pictures alike, {worst}", *sound])
    parts = [f"{kinds[kind]:,} {words}" for kind, words in LIKENESS.items() if kinds[kind]]
    alike = [f"{kinds['alike']:,} with pictures alike ({worst})"] if kinds["alike"] else []
    return f"{many} with other bytes{some}: {', '.join([*parts, *alike, *sound])}"


def _table_sentence(table: TableDiff) -> str:
    """Summarize the differences in a table, except those that only the summary of the videos names."""
    if None in table.rows:
        return f"{table.name} only in {'A' if table.rows[1] is None else 'B'}"
    if table.not_compared:
        return f"{table.name} not compared"
    columns = [change.what for change in table.columns if not (table.videos and change.what == "sha256")]
    parts = [f"{rows.count:,} {word}" for word, rows in (("new", table.new), ("gone", table.gone)) if rows.count]
    parts += [f"{table.changed.count:,} changed ({_listed(columns)})"] if columns else []
    parts += [f"{move.rows.count:,} moved from {move.before} to {move.after}" for move in table.moved]
    parts += [f"other columns ({_listed([change.what for change in table.schema])})"] if table.schema else []
    parts += ["the same rows in another order"] if table.reordered else []
    return f"{table.name}: {', '.join(parts)}" if parts else ""


def _listed(names: Sequence[str]) -> str:
    shown = [*names] if len(names) <= LISTED else [*names[: LISTED - 1], f"{len(names) - LISTED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _details(difference: Difference) -> Iterator[str]:
    """Yield a line for each difference, grouped by the part of the output."""
    parts = {}
    if difference.build:
        parts["build.json"] = [f"{change.what}: {_values(change)}" for change in difference.build]
    for table in (table for table in difference.tables if not table.same):
        counts = ("no table" if count is None else f"{count:,} rows" for count in table.rows)
        parts[f"{table.name}: {' → '.join(counts)}"] = list(_of_table(table))
    for title, lines in parts.items():
        yield f"\n{title}"
        yield from (f"  {line}" for line in lines[:LINES])
        if len(lines) > LINES:
            yield f"  {len(lines) - LINES:,} more, which --json lists"


def _of_table(table: TableDiff) -> Iterator[str]:
    if table.not_compared:
        yield f"rows were not compared: {table.not_compared}"
    yield from (f"column {change.what}: {change.a or 'absent'} → {change.b or 'absent'}" for change in table.schema)
    parts = (("new", table.new), ("gone", table.gone), ("changed", table.changed))
    yield from (f"{name}: {rows}" for name, rows in parts if rows.count)
    for change in table.columns:
        yield f"  {change.what} in {change.count:,}, as in {change.key}: {_values(change)}"
    yield from (f"moved from {move.before} to {move.after}: {move.rows}" for move in table.moved)
    if table.reordered:
        yield "the same rows, in another order or divided into other units"
    if table.videos and table.videos.changed:
        yield _video_sentence([table.videos])
        yield from (f"  {change['key']}: {change['what']}" for change in table.videos.examples)


def _values(change: Change) -> str:
    """Format two values as JSON. Long ones are shortened to start just before their first difference."""
    texts = ["nothing" if value is None else json.dumps(value, ensure_ascii=False) for value in (change.a, change.b)]
    common = len(commonprefix(texts))  # noqa: RUF071 - of characters is meant
    start = max(common - CONTEXT, 0) if max(map(len, texts)) > SHOWN else 0
    ends = [text[start:] if len(text) - start <= SHOWN else f"{text[start : start + SHOWN - 1]}…" for text in texts]
    return " → ".join(f"…{end}" if start else end for end in ends)


def _bounded(value: Any) -> Any:
    """Return a value or, if it is long, the start of its JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else text[:LONGEST] + "…"
