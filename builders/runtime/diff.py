"""Compare the settings, tables, rows and videos of two outputs of the same benchmark.

`build.json` and `units.parquet` are trusted (`stressreel verify` checks them): tables with equal fingerprints and units
with equal hashes are not read. All other rows are matched by key and compared column by column. Videos with different
SHA-256 are decoded, one pair at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import compress, islice
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.documents import parse_json
from ...core.errors import LONGEST, InputError, legible
from ...core.files import canonical_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import read_units
from ...core.output import FinishedOutput
from ...core.results import Result, Table
from ...core.schema import Column, Config
from ...core.shards import read_columns_of, read_footer, row_reader
from ...video.likeness import compare_videos

EXAMPLES = 3
DERIVED = ("counts", "fingerprints", "fingerprint", "plan_sha256", "canary")  # of build.json
VIDEO = Column("", "video", "").arrow_type()
LIKENESS = {  # of decoded videos; see video.likeness
    "pictures": "with a frame below 30 dB",
    "frames": "with a different number of frames",
    "size": "of a different size",
    "times": "with frames at different times",
    "undecodable": "that cannot be decoded",
}
LISTED = 4
SHOWN, CONTEXT = 60, 12  # characters of a value, and of the text before the first difference
LINES = 200  # maximum number of differences to list for each part of the report


@dataclass(frozen=True)
class Change:
    """A value that differs between A and B, or None where it is absent.

    Attributes:
        what: An entry of `build.json` as a dotted path, or a column of a table.
        count: Number of rows in which the column differs; 0 except for columns of changed rows.
        key: Key of the first of these rows, from which `a` and `b` are taken.
    """

    what: str
    a: Any
    b: Any
    count: int = 0
    key: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the change as JSON values. Long values are truncated."""
        return {"what": legible(self.what), "a": _bounded(self.a), "b": _bounded(self.b)}


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
        kinds: Number of decoded videos by result; see `video.likeness.Likeness`.
        worst_db: Minimum PSNR of a frame among similar videos, if there are any.
        other_sound: Number of decoded videos with different sound.
        examples: Key and difference of the first dissimilar videos.
    """

    changed: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    worst_db: float | None = None
    other_sound: int = 0
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def compared(self) -> int:
        """Return the number of decoded videos."""
        return sum(self.kinds.values())


@dataclass(frozen=True)
class TableDiff:
    """The differences between A and B in one table.

    Attributes:
        rows: Number of rows in A and in B; None if the table is absent.
        same: Whether the table has the same rows in the same order.
        schema: Columns that were added, removed or changed in type.
        new: Rows only in B.
        gone: Rows only in A.
        changed: Rows of both that differ in a shared column.
        columns: The columns in which they differ, each with an example.
        moved: Rows that changed splits.
        videos: Changed videos; None if the table contains no videos.
        unmatched: Reason why rows could not be compared, or "".
    """

    name: str
    rows: tuple[int | None, int | None]
    same: bool = False
    schema: tuple[Change, ...] = ()
    new: SomeRows = SomeRows()
    gone: SomeRows = SomeRows()
    changed: SomeRows = SomeRows()
    columns: tuple[Change, ...] = ()
    moved: tuple[Move, ...] = ()
    videos: VideoDiff | None = None
    unmatched: str = ""

    @property
    def reordered(self) -> bool:
        """Return whether nothing differs but the order of rows or their division into units."""
        found = (self.schema, self.new.count, self.gone.count, self.changed.count, self.moved, self.unmatched)
        return not self.same and None not in self.rows and not any(found)

    @property
    def only_videos(self) -> bool:
        """Return whether nothing differs but the bytes of videos."""
        others = (self.schema, self.new.count, self.gone.count, self.moved, self.unmatched)
        changed = bool(self.videos and self.videos.changed)
        return changed and not any(others) and {change.what for change in self.columns} == {"sha256"}

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        videos = self.videos
        return {
            "name": self.name,
            "rows": dict(zip("ab", self.rows, strict=True)),
            "same": self.same,
            "reordered": self.reordered,
            "not_compared": self.unmatched,
            "schema": [change.as_json() for change in self.schema],
            **{
                name: asdict(rows) for name, rows in (("new", self.new), ("gone", self.gone), ("changed", self.changed))
            },
            "columns": [{**change.as_json(), "count": change.count, "key": change.key} for change in self.columns],
            "moved": [{"from": move.before, "to": move.after, **asdict(move.rows)} for move in self.moved],
            "videos": videos
            and {
                "changed": videos.changed,
                "decoded": videos.compared,
                "kinds": dict(videos.kinds),
                "worst_db": videos.worst_db and round(videos.worst_db, 2),
                "other_sound": videos.other_sound,
                "examples": [{"key": key, "what": what} for key, what in videos.examples],
            },
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
        videos = _video_sentence([table.videos for table in self.tables if table.videos])
        parts = [_table_sentence(table) for table in self.tables if not table.same and not table.only_videos]
        same = [table.name for table in self.tables if table.same]
        if same:
            parts.append(f"{_listed(same) if len(same) <= LISTED else f'{len(same)} tables'} the same")
        return "; ".join(filter(None, [videos, *parts])) + "."

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
            "a": self.names[0],
            "b": self.names[1],
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
    build = tuple(_changes(_flat_info(a), _flat_info(b)))
    benchmark = a.info["builder"]
    if prints[0] == prints[1]:
        return Difference(names, benchmark, True, prints, build)
    units = [_units(output) for output in (a, b)]
    shared = set.intersection(*({unit for part in each.values() for unit, _ in part} for each in units))
    tables = []
    for here, there in configs:
        rows = (_num_rows(a, here), _num_rows(b, there))
        if here is None or there is None:
            tables.append(TableDiff(here.name if here else there.name if there else "", rows))
            continue
        splits = [[s for s in each.splits(here.name) if _part(a, here, s) != _part(b, here, s)] for each in (a, b)]
        if not any(splits):
            tables.append(TableDiff(here.name, rows, same=True))
            continue
        sides = (_TableReader(a, here, splits[0], units[0], shared), _TableReader(b, here, splits[1], units[1], shared))
        tables.append(_compare(here, rows, *sides, decode=decode, most_videos=most_videos))
    return Difference(names, benchmark, False, prints, build, tuple(tables))


def _num_rows(output: FinishedOutput, config: Config | None) -> int | None:
    return None if config is None else sum(output.info["counts"][config.name].values())


def _part(output: FinishedOutput, config: Config, split: str) -> Any:
    return output.info["fingerprints"].get(f"{config.name}/{split}")


def _units(output: FinishedOutput) -> dict[str, list[tuple[int, int]]]:
    """Return a 64-bit hash and the number of rows of every unit, by table ("config/split")."""
    found = defaultdict(list)
    if (output.path / UNITS).is_file():
        for unit in read_units(output.path):
            digest = hashlib.sha256(f"{unit.table}\0{unit.unit_id}\0{unit.sha256}".encode()).digest()
            found[unit.table].append((int.from_bytes(digest[:8]), unit.rows))
    return found


def _flat_info(output: FinishedOutput) -> dict[str, Any]:
    """Flatten the description of the build in `build.json`, with dotted paths as keys."""

    def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
        for name, inner in value.items():
            if isinstance(inner, Mapping):
                yield from flat(inner, f"{prefix}{name}.")
            else:
                yield prefix + name, inner

    info = {name: value for name, value in output.info.items() if name not in DERIVED}
    info["skips"] = {"count": info["skips"]["count"], **info["skips"]["by_reason"]}
    return dict(flat(info))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for name in {**a, **b}:
        if a.get(name) != b.get(name):
            yield Change(name, a.get(name), b.get(name))


@dataclass(frozen=True)
class _TableReader:
    """Reads those rows in a table of one output that must be compared.

    Attributes:
        units: Units of the table; see `_units`.
        shared: Hashes of units that both outputs contain, whose rows need not be compared.
    """

    output: FinishedOutput
    config: Config
    splits: Sequence[str]
    units: Mapping[str, Sequence[tuple[int, int]]]
    shared: Collection[int]

    @cached_property
    def shards(self) -> list[tuple[str, Path, NDArray[np.bool_]]]:
        """Return the split and path of every shard, with a mask of the rows to compare."""
        found = []
        for split in self.splits:
            count = self.output.info["counts"][self.config.name][split]
            units = self.units.get(f"{self.config.name}/{split}", ())
            new = np.array([unit not in self.shared for unit, _ in units], np.bool_)
            wanted = np.repeat(new, np.array([rows for _, rows in units], np.int64))
            if len(wanted) != count:
                wanted = np.ones(count, np.bool_)
            seen = 0
            for path in self.output.shards(self.config.name, split):
                rows = read_footer(path).num_rows
                found.append((split, path, wanted[seen : seen + rows]))
                seen += rows
            self.output.check_count(self.config.name, split, seen)
        return found

    def places(self) -> list[tuple[str, Path, int]]:
        return [(split, path, int(row)) for split, path, wanted in self.shards for row in np.flatnonzero(wanted)]

    def types(self) -> dict[str, tuple[pa.DataType, tuple[str, ...]]]:
        for _, path, _ in self.shards:
            schema = read_footer(path).schema.to_arrow_schema()
            stored = parse_json((schema.metadata or {}).get(b"huggingface", b"{}").decode("utf-8", "replace"))
            features = stored.get("info", {}).get("features", {})
            names = {name: tuple(feature.get("names", ())) for name, feature in features.items()}
            return {each.name: (each.type, names.get(each.name, ())) for each in schema}
        return {column.name: (column.arrow_type(), column.names) for column in self.config.columns}

    def column(self, name: str) -> list[Any]:
        found: list[Any] = []
        for _, path, wanted in self.shards:
            if wanted.any():
                found += compress(read_columns_of(path, [name])[name], wanted.tolist())
        return found

    def keys(self) -> dict[str, int]:
        """Map the key of every row to compare to its number. Raise InputError if a key is duplicated."""
        listed = list(map(canonical_json, zip(*map(self.column, self.config.key), strict=True)))
        keys = {key: row for row, key in enumerate(listed)}
        if len(keys) != len(listed):
            raise InputError(
                f"{self.output.path}, table {self.config.name}: two rows have the same {', '.join(self.config.key)}, "
                "so they cannot be matched. `stressreel verify` lists them (unique_ids); build again with --fresh."
            )
        return keys


def _compare(
    config: Config,
    rows: tuple[int | None, int | None],
    a: _TableReader,
    b: _TableReader,
    *,
    decode: bool,
    most_videos: int | None,
) -> TableDiff:
    types = (a.types(), b.types())
    schema = tuple(_changes(*({name: _type(*each) for name, each in side.items()} for side in types)))
    both = [name for name in types[0] if name in types[1]]
    plain = [name for name in both if types[0][name][0] != VIDEO]
    videos = [name for name in both if types[0][name][0] == VIDEO]
    if lacking := [name for name in config.key if name not in plain]:
        why = f"they are matched by {', '.join(config.key)}, and one of the outputs has no {', '.join(lacking)}"
        return TableDiff(config.name, rows, schema=schema, unmatched=why)
    here, there = a.keys(), b.keys()
    pairs = {key: (row, there[key]) for key, row in here.items() if key in there}
    changed: set[str] = set()
    columns: list[tuple[int, Change]] = []
    other_videos: list[str] = []
    for name in plain:
        before, after = a.column(name), b.column(name)
        differing = [key for key, (x, y) in pairs.items() if before[x] != after[y]]
        changed.update(differing)
        if differing:
            x, y = pairs[differing[0]]
            classes = types[0][name][1] if types[0][name][1] == types[1][name][1] else ()
            was, now = (_label(value, classes) for value in (before[x], after[y]))
            columns.append((x, Change(name, was, now, len(differing), _shown(differing[0]))))
        if name == "sha256":
            other_videos = differing
    places = (a.places(), b.places())
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, (x, y) in pairs.items():
        if places[0][x][0] != places[1][y][0]:
            moved[places[0][x][0], places[1][y][0]].append(key)
    changed_videos = [(key, places[0][pairs[key][0]][1:], places[1][pairs[key][1]][1:]) for key in other_videos]
    return TableDiff(
        config.name,
        rows,
        schema=schema,
        new=_some(key for key in there if key not in here),
        gone=_some(key for key in here if key not in there),
        changed=_some(key for key in pairs if key in changed),
        columns=tuple(change for _, change in sorted(columns, key=lambda each: (-each[1].count, each[0]))),
        moved=tuple(Move(*way, _some(moved[way])) for way in sorted(moved)),
        videos=_compare_videos(changed_videos, videos[0], decode, most_videos) if videos else None,
    )


def _type(kind: pa.DataType, names: Sequence[str]) -> str:
    return f"{kind}: {', '.join(names)}" if names else str(kind)


def _label(value: Any, names: Sequence[str]) -> Any:
    return names[value] if names and isinstance(value, int) and 0 <= value < len(names) else value


def _some(keys: Iterable[str]) -> SomeRows:
    listed = list(keys)
    return SomeRows(len(listed), tuple(map(_shown, listed[:EXAMPLES])))


def _shown(key: str) -> str:
    return legible(" ".join(map(str, parse_json(key))))


def _compare_videos(
    pairs: Sequence[tuple[str, tuple[Path, int], tuple[Path, int]]], column: str, decode: bool, most: int | None
) -> VideoDiff:
    """Compare videos that have different SHA-256 hashes, each given by its key and its positions in A and B."""
    if not decode:
        return VideoDiff(len(pairs))
    taken = len(pairs) if most is None else min(most, len(pairs))
    kinds: Counter[str] = Counter()
    decibels: list[float] = []
    sounds, examples = 0, list[tuple[str, str]]()
    read = row_reader([column])
    for index in range(taken):
        key, *places = pairs[index * len(pairs) // taken]
        found = compare_videos(*(read(*place)[column]["bytes"] or b"" for place in places))
        kinds[found.kind] += 1
        sounds += not found.same_sound
        if found.kind == "alike" and found.decibels is not None:
            decibels.append(found.decibels)
        elif len(examples) < EXAMPLES:
            examples.append((_shown(key), found.detail))
    return VideoDiff(len(pairs), dict(kinds), min(decibels, default=None), sounds, tuple(examples))


def _video_sentence(videos: Sequence[VideoDiff]) -> str:
    changed, compared = sum(each.changed for each in videos), sum(each.compared for each in videos)
    if not changed:
        return ""
    many = f"{changed:,} video" + ("" if changed == 1 else "s")
    if not compared:
        return f"{many} with other bytes, not decoded"
    counts = {kind: sum(each.kinds.get(kind, 0) for each in videos) for kind in ("alike", *LIKENESS)}
    worst = f"worst {min((v.worst_db for v in videos if v.worst_db is not None), default=0.0):.1f} dB"
    some = f" ({compared:,} decoded)" if compared < changed else ""
    sounds = sum(each.other_sound for each in videos)
    sound = [f"{sounds:,} with other sound"] if sounds else []
    if counts["alike"] == compared:
        return ", ".join([f"{many} re-encoded{some}, pictures alike, {worst}", *sound])
    found = [f"{counts[kind]:,} {words}" for kind, words in LIKENESS.items() if counts[kind]]
    alike = [f"{counts['alike']:,} with pictures alike ({worst})"] if counts["alike"] else []
    return f"{many} with other bytes{some}: {', '.join([*found, *alike, *sound])}"


def _table_sentence(table: TableDiff) -> str:
    if None in table.rows:
        return f"{table.name} only in {'A' if table.rows[1] is None else 'B'}"
    if table.unmatched:
        return f"{table.name} not compared"
    columns = [change.what for change in table.columns if not (table.videos and change.what == "sha256")]
    parts = [f"{rows.count:,} {word}" for rows, word in ((table.new, "new"), (table.gone, "gone")) if rows.count]
    if columns:
        parts.append(f"{table.changed.count:,} changed ({_listed(columns)})")
    parts += [f"{move.rows.count:,} moved from {move.before} to {move.after}" for move in table.moved]
    if table.schema:
        parts.append(f"other columns ({_listed([change.what for change in table.schema])})")
    if table.reordered:
        parts.append("the same rows in another order")
    return f"{table.name}: {', '.join(parts)}"


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
    if table.unmatched:
        yield f"rows were not compared: {table.unmatched}"
    yield from (f"column {each.what}: {each.a or 'absent'} → {each.b or 'absent'}" for each in table.schema)
    for name, rows in (("new", table.new), ("gone", table.gone), ("changed", table.changed)):
        if rows.count:
            yield f"{name}: {rows}"
    for change in table.columns:
        yield f"  {change.what} in {change.count:,}, as in {change.key}: {_values(change)}"
    for move in table.moved:
        yield f"moved from {move.before} to {move.after}: {move.rows}"
    if table.reordered:
        yield "the same rows, in another order or divided into other units"
    if table.videos and table.videos.changed:
        yield _video_sentence([table.videos])
        yield from (f"  {key}: {what}" for key, what in table.videos.examples)


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
