"""Compare the settings, tables, rows and videos of two outputs of the same benchmark.

The fingerprints in `build.json` are trusted (`stressreel verify` checks them): tables with equal ones are not read. All
other rows are joined by key and compared column by column. Memory is bounded because only 64-bit hashes of the keys and
of one column are held; the values themselves are read one column of one shard at a time. Videos with different SHA-256
are decoded, one pair at a time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice, product
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
        rows = tuple(
            (each.name, *each.rows, each.new.count, each.gone.count, each.changed.count) for each in self.tables
        )
        headings = ("table", "rows of A", "rows of B", "new", "gone", "changed")
        return (Table("tables", self.sentence(), headings, rows),)

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
        shards = []
        for split in self.splits:
            paths = self.output.shards(self.config.name, split)
            shards += [(split, path, int(read_footer(path).num_rows)) for path in paths]
            self.output.check_count(self.config.name, split, sum(rows for each, _, rows in shards if each == split))
        return shards

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
            columns = read_columns_of(path, names)
            table = zip(*columns.values(), strict=True)
            texts = ("\0".join([repr(value).removesuffix(".0") for value in row]) for row in table)
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

    def in_split(self, split: str) -> NDArray[np.bool_]:
        shards = [np.full(rows, each == split) for each, _, rows in self.shards]
        return np.concatenate([np.zeros(0, np.bool_), *shards])

    def place(self, row: int) -> tuple[Path, int]:
        """Return the shard of a row, and its number in it."""
        for _, path, rows in self.shards:
            if row < rows:
                return path, row
            row -= rows
        raise LookupError(f"{self.config.name} has no such row")

    def some(self, rows: NDArray[np.int64]) -> SomeRows:
        return SomeRows(len(rows), tuple(map(self.key, rows[:EXAMPLES].tolist())))

    def key(self, row: int) -> str:
        found = row_reader(self.config.key)(*self.place(row))
        return legible(" ".join(str(found[name]) for name in self.config.key))


def _compare(outputs: Sequence[FinishedOutput], configs: Sequence[Config | None], most_videos: int | None) -> TableDiff:
    """Compare a table, unless only one of the outputs has it or its fingerprints are equal."""
    name = next(config.name for config in configs if config)
    rows, prints = [], []
    for output, config in zip(outputs, configs, strict=True):
        counts, stored = output.info["counts"].get(name, {}), output.info["fingerprints"]
        rows.append(sum(counts.values()) if config else None)
        prints.append({split: stored.get(f"{name}/{split}") for split in counts})
    splits = [[split for split in part if prints[0].get(split) != prints[1].get(split)] for part in prints]
    here, there = configs
    if here is None or there is None or not any(splits):
        return TableDiff(name, (rows[0], rows[1]), same=None not in rows)
    a, b = _TableReader(outputs[0], here, splits[0]), _TableReader(outputs[1], there, splits[1])
    return _compare_rows(TableDiff(name, (rows[0], rows[1])), a, b, most_videos)


def _compare_rows(found: TableDiff, a: _TableReader, b: _TableReader, most_videos: int | None) -> TableDiff:
    types = (a.types(), b.types())
    schema = tuple(_changes(*({name: _type(*each) for name, each in side.items()} for side in types)))
    both = [name for name in types[0] if name in types[1]]
    video = next((name for name in both if types[0][name][0] == VIDEO), None)
    plain = [name for name in both if VIDEO not in (types[0][name][0], types[1][name][0])]
    if lacking := [name for name in a.config.key if name not in plain]:
        why = f"they are matched by {', '.join(a.config.key)}, and one of the outputs has no {', '.join(lacking)}"
        return replace(found, schema=schema, not_compared=why)
    joined = a.keys("a").join(b.keys("b"), "key", join_type="full outer")
    gone, new = (np.sort(joined.filter(joined[x].is_null())[y].to_numpy()) for x, y in ("ba", "ab"))
    pairs = joined.drop_null().sort_by("a")
    x, y = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    changed, other = np.zeros((2, len(x)), np.bool_)
    columns = list[tuple[int, ColumnChange]]()
    for name in plain:
        differing = a.hashes([name])[x] != b.hashes([name])[y]
        if differing.any():
            first = int(np.argmax(differing))
            classes = types[0][name][1] if types[0][name][1] == types[1][name][1] else ()
            places = a.place(int(x[first])), b.place(int(y[first]))
            was, now = (_label(row_reader([name])(*place)[name], classes) for place in places)
            columns.append((first, ColumnChange(name, was, now, int(differing.sum()), a.key(int(x[first])))))
        changed |= differing
        if name == "sha256":
            other = differing
    moved = []
    for way in product(sorted(a.splits), sorted(b.splits)):
        rows = x[a.in_split(way[0])[x] & b.in_split(way[1])[y]]
        if way[0] != way[1] and len(rows):
            moved.append(Move(*way, a.some(rows)))
    return replace(
        found,
        reordered=not (schema or len(new) or len(gone) or changed.any() or moved),
        schema=schema,
        new=b.some(new),
        gone=a.some(gone),
        changed=a.some(x[changed]),
        columns=tuple(change for _, change in sorted(columns, key=lambda each: (-each[1].count, each[0]))),
        moved=tuple(moved),
        videos=None if video is None else _compare_videos(a, b, pairs.filter(other), video, most_videos),
    )


def _type(kind: pa.DataType, names: Sequence[str]) -> str:
    return f"{kind}: {', '.join(names)}" if names else str(kind)


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
    taken = len(rows) if most is None else min(most, len(rows))
    kinds, decibels, sounds, examples = Counter[str](), list[float](), 0, list[dict[str, str]]()
    read = row_reader([column])
    for index in range(taken):
        x, y = (rows[side][index * len(rows) // taken].as_py() for side in "ab")
        likeness = compare_videos(*(read(*place)[column]["bytes"] or b"" for place in (a.place(x), b.place(y))))
        kinds[likeness.kind] += 1
        sounds += not likeness.same_sound
        if likeness.kind == "alike" and likeness.decibels is not None:
            decibels.append(likeness.decibels)
        elif len(examples) < EXAMPLES:
            examples.append({"key": a.key(x), "what": likeness.detail})
    worst = round(min(decibels), 2) if decibels else None
    return VideoDiff(len(rows), taken, dict(kinds), worst, sounds, tuple(examples))


def _video_sentence(videos: Sequence[VideoDiff]) -> str:
    changed, decoded = sum(each.changed for each in videos), sum(each.decoded for each in videos)
    many = f"{changed:,} video" + ("" if changed == 1 else "s")
    if not decoded:
        return f"{many} with other bytes, not decoded" if changed else ""
    kinds = sum((Counter(each.kinds) for each in videos), Counter[str]())
    worst = f"worst {min((v.worst_db for v in videos if v.worst_db is not None), default=0.0):.1f} dB"
    some = f" ({decoded:,} decoded)" if decoded < changed else ""
    sounds = sum(each.other_sound for each in videos)
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


def _details(found: Difference) -> Iterator[str]:
    """Yield a line for each difference, grouped by the part of the output."""
    if found.build:
        yield "\nbuild.json"
        yield from _first(f"  {change.what}: {_values(change)}" for change in found.build)
    for table in found.tables:
        if not table.same:
            counts = ("no table" if count is None else f"{count:,} rows" for count in table.rows)
            yield f"\n{table.name}: {' → '.join(counts)}"
            yield from _first(f"  {line}" for line in _of_table(table))


def _first(lines: Iterator[str]) -> Iterator[str]:
    yield from islice(lines, LINES)
    if more := sum(1 for _ in lines):
        yield f"  {more:,} more, which --json lists"


def _of_table(table: TableDiff) -> Iterator[str]:
    if table.not_compared:
        yield f"rows were not compared: {table.not_compared}"
    yield from (f"column {each.what}: {each.a or 'absent'} → {each.b or 'absent'}" for each in table.schema)
    parts = (("new", table.new), ("gone", table.gone), ("changed", table.changed))
    yield from (f"{name}: {rows}" for name, rows in parts if rows.count)
    for each in table.columns:
        yield f"  {each.what} in {each.count:,}, as in {each.key}: {_values(each)}"
    yield from (f"moved from {move.before} to {move.after}: {move.rows}" for move in table.moved)
    if table.reordered:
        yield "the same rows, in another order or divided into other units"
    if table.videos and table.videos.changed:
        yield _video_sentence([table.videos])
        yield from (f"  {each['key']}: {each['what']}" for each in table.videos.examples)


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
