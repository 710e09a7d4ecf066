"""What differs between two outputs of one benchmark, and how it is told: settings, tables, rows, videos.

`build.json` and `units.parquet` are believed (`stressreel verify` checks them): tables with equal fingerprints, and
units with equal hashes, are not read. The other rows of both outputs are joined by their key, and compared a column at
a time. Videos whose SHA-256 differ are decoded, a pair at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, islice
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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
CONTENT = ("counts", "fingerprints", "fingerprint", "plan_sha256")  # of build.json: what follows from the rest
VIDEO = Column("", "video", "").arrow_type()
LIKENESS = {  # of videos that were decoded; see video.likeness
    "pictures": "with a frame below 30 dB",
    "frames": "with another number of frames",
    "size": "of another size",
    "times": "with frames at other times",
    "undecodable": "that cannot be decoded",
}
LISTED = 4
SHOWN, CONTEXT = 60, 12  # characters of a value; of these before it differs
LINES = 200  # that list what differs in a part


@dataclass(frozen=True)
class Change:
    """Something that is one thing in A and another in B; None where it is not there.

    Attributes:
        what: An entry of `build.json` as a path with dots, or a column of a table.
        a: What it is in A.
        b: What it is in B.
        count: In how many rows it differs; 0 if it is no column of changed rows.
        key: The first of these rows, whose values `a` and `b` are.
    """

    what: str
    a: Any
    b: Any
    count: int = 0
    key: str = ""


@dataclass(frozen=True)
class SomeRows:
    """Rows of a table.

    Attributes:
        count: How many.
        examples: The keys of the first ones.
    """

    count: int = 0
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write their number and examples."""
        more = ", …" if self.count > len(self.examples) else ""
        return f"{self.count:,} ({', '.join(self.examples)}{more})"


@dataclass(frozen=True)
class Move:
    """Rows that are in one split in A and in another in B."""

    before: str
    after: str
    rows: SomeRows


@dataclass(frozen=True)
class VideoDiff:
    """Videos in both outputs whose SHA-256 differs.

    Attributes:
        changed: How many.
        kinds: Those that were decoded, by what was found; see `Likeness`.
        worst_db: The lowest PSNR of a frame among those alike; None if there are none.
        other_sound: How many of those decoded have another sound.
        examples: The first that are not alike: key and what differs.
    """

    changed: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    worst_db: float | None = None
    other_sound: int = 0
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def compared(self) -> int:
        """How many were decoded."""
        return sum(self.kinds.values())


@dataclass(frozen=True)
class TableDiff:
    """What differs in a table.

    Attributes:
        name: Its name.
        rows: Its rows in A and in B; None where there is no such table.
        same: Whether it has the same rows in the same order.
        schema: Columns that are new, gone or of another type.
        new: Rows that A does not have.
        gone: Rows that B does not have.
        changed: Rows of both with other values in a column of both.
        columns: In which columns, with an example each.
        moved: Rows that changed their split.
        videos: Videos that changed; None if the table has none.
        unmatched: Why rows could not be compared; empty if they were.
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
        """Whether nothing but the order of rows, or their division into units, differs."""
        found = (self.schema, self.new.count, self.gone.count, self.changed.count, self.moved, self.unmatched)
        return not self.same and None not in self.rows and not any(found)

    @property
    def only_videos(self) -> bool:
        """Whether nothing but the bytes of videos differs."""
        others = (self.schema, self.new.count, self.gone.count, self.moved, self.unmatched)
        changed = bool(self.videos and self.videos.changed)
        return changed and not any(others) and {change.what for change in self.columns} == {"sha256"}


@dataclass(frozen=True)
class Difference(Result):
    """What differs between outputs A and B.

    Attributes:
        names: What A and B are called.
        benchmark: What they are of.
        same: Whether they have the same content: the same rows in the same order, and so the same videos.
        fingerprints: Those of A and B.
        build: What differs in `build.json`: settings, tools, inputs, command, version, skips, notes.
        tables: Every table of A or B; none are looked at if the content is the same.
    """

    names: tuple[str, str]
    benchmark: str
    same: bool
    fingerprints: tuple[str, str]
    build: tuple[Change, ...]
    tables: tuple[TableDiff, ...] = ()

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Whether the content differs."""
        return not self.same

    def __str__(self) -> str:
        """Sum the differences up, and list them."""
        return "\n".join(map(legible, [sentence(self), *details(self)]))

    def as_tables(self) -> tuple[Table, ...]:
        """Return a row for every table: how many of its rows are new, gone and changed."""
        rows = tuple(
            (each.name, *each.rows, each.new.count, each.gone.count, each.changed.count) for each in self.tables
        )
        return (Table("tables", sentence(self), ("table", "rows of A", "rows of B", "new", "gone", "changed"), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the differences for machines."""
        return {
            "a": self.names[0],
            "b": self.names[1],
            "benchmark": self.benchmark,
            "same": self.same,
            "summary": legible(sentence(self)),
            "fingerprints": dict(zip("ab", self.fingerprints, strict=True)),
            "build": [_change_json(change) for change in self.build],
            "tables": [_table_json(table) for table in self.tables],
        }


# Comparing


def diff_outputs(
    a: FinishedOutput,
    b: FinishedOutput,
    configs: Sequence[tuple[Config | None, Config | None]],
    *,
    names: tuple[str, str] = ("A", "B"),
    decode: bool = True,
    most_videos: int | None = None,
) -> Difference:
    """Compare two outputs of one benchmark.

    Args:
        a: The one.
        b: The other.
        configs: Every table as A and as B have it; None where it is not there.
        names: What they are called.
        decode: Whether videos with another SHA-256 are decoded.
        most_videos: How many of a table are at most, spread evenly; None for all.

    Raises:
        InputError: A shard cannot be read, rows are missing, or a key comes twice.
    """
    prints = (str(a.info["fingerprint"]), str(b.info["fingerprint"]))
    build = tuple(_changes(_said(a), _said(b)))
    benchmark = a.info["builder"]
    if prints[0] == prints[1]:
        return Difference(names, benchmark, True, prints, build)
    units = None
    tables = []
    for here, there in configs:
        if here is None or there is None:
            if config := here or there:
                tables.append(TableDiff(config.name, (_rows_of(a, here), _rows_of(b, there))))
            continue
        rows = (_rows_of(a, here), _rows_of(b, there))
        splits = [[s for s in each.splits(here.name) if _part(a, here, s) != _part(b, here, s)] for each in (a, b)]
        if any(splits):
            units = units or (_Units(a), _Units(b))
            sides = (_Side(a, here, splits[0], units[0], units[1]), _Side(b, here, splits[1], units[1], units[0]))
            tables.append(_compare(here, rows, *sides, decode=decode, most_videos=most_videos))
        else:
            tables.append(TableDiff(here.name, rows, same=True))
    return Difference(names, benchmark, False, prints, build, tuple(tables))


def _said(output: FinishedOutput) -> dict[str, Any]:
    """Return what `build.json` says of how an output was built, flat."""
    info = {name: value for name, value in output.info.items() if name not in CONTENT}
    info["skips"] = {"count": info["skips"]["count"], **info["skips"]["by_reason"]}
    return dict(_flat(info))


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, inner


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for name in {**a, **b}:
        if a.get(name) != b.get(name):
            yield Change(name, a.get(name), b.get(name))


def _rows_of(output: FinishedOutput, config: Config | None) -> int | None:
    return None if config is None else sum(output.info["counts"][config.name].values())


def _part(output: FinishedOutput, config: Config, split: str) -> Any:
    return output.info["fingerprints"].get(f"{config.name}/{split}")


class _Units:
    """The units of an output: by table "config/split" a hash of each, with its content, and its number of rows."""

    def __init__(self, output: FinishedOutput):
        self._hashes: dict[str, list[int]] = defaultdict(list)
        self._rows: dict[str, list[int]] = defaultdict(list)
        if (output.path / UNITS).is_file():
            for unit in read_units(output.path):
                digest = hashlib.sha256(f"{unit.unit_id}\0{unit.sha256}".encode()).digest()
                self._hashes[unit.table].append(int.from_bytes(digest[:8]))
                self._rows[unit.table].append(unit.rows)

    def shared(self, other: _Units, table: str) -> NDArray[np.bool_]:
        """Mark the rows of a table whose unit the other output has with the same content: bool, shape (rows,)."""
        ours, theirs = np.array(self._hashes[table], np.uint64), np.array(other._hashes[table], np.uint64)
        return np.repeat(np.isin(ours, theirs), np.array(self._rows[table], np.int64))


@dataclass(frozen=True)
class _Side:
    """One output's part of a table: the splits that differ, and of these the units that the other does not have."""

    output: FinishedOutput
    config: Config
    splits: Sequence[str]
    units: _Units
    other: _Units

    @cached_property
    def parts(self) -> list[tuple[str, Path, NDArray[np.bool_]]]:
        """List split and path of every shard, and which of its rows are compared."""
        found = []
        for split in self.splits:
            count = self.output.info["counts"][self.config.name][split]
            wanted = ~self.units.shared(self.other, f"{self.config.name}/{split}")
            if len(wanted) != count:
                wanted = np.ones(count, np.bool_)
            seen = 0
            for path in self.output.shards(self.config.name, split):
                rows = read_footer(path).num_rows
                found.append((split, path, wanted[seen : seen + rows]))
                seen += rows
            self.output.check_count(self.config.name, split, seen)
        return found

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The number of rows that are compared, up to the end of every shard."""
        return np.cumsum([wanted.sum() for _, _, wanted in self.parts], dtype=np.int64)

    def split_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place in `splits` of each of some rows that are compared."""
        numbers = np.array([self.splits.index(split) for split, _, _ in self.parts], np.int64)
        return numbers[np.searchsorted(self.ends, rows, side="right")] if len(rows) else rows

    def place(self, row: int) -> tuple[Path, int]:
        """Return the shard of a row that is compared, and its number there."""
        part = int(np.searchsorted(self.ends, row, side="right"))
        _, path, wanted = self.parts[part]
        return path, int(np.flatnonzero(wanted)[row - int(self.ends[part])])  # from the end of the shard

    def types(self) -> dict[str, tuple[pa.DataType, tuple[str, ...]]]:
        """Return the type of every column, and the names of a label's classes, as its first shard has them."""
        for _, path, _ in self.parts:
            schema = read_footer(path).schema.to_arrow_schema()
            stored = parse_json((schema.metadata or {}).get(b"huggingface", b"{}").decode("utf-8", "replace"))
            features = stored.get("info", {}).get("features", {})
            names = {name: tuple(feature.get("names", ())) for name, feature in features.items()}
            return {each.name: (each.type, names.get(each.name, ())) for each in schema}
        return {column.name: (column.arrow_type(), column.names) for column in self.config.columns}

    def column(self, name: str) -> list[Any]:
        """Read a column of the rows that are compared."""
        found: list[Any] = []
        for _, path, wanted in self.parts:
            if wanted.any():
                found += compress(read_columns_of(path, [name])[name], wanted.tolist())
        return found

    def keys(self, columns: Sequence[str]) -> pa.Table:
        """Return the key of every row that is compared, and its number.

        Raises:
            InputError: A key comes twice.
        """
        keys = pa.array(map(canonical_json, zip(*map(self.column, columns), strict=True)), pa.string())
        if len(pc.unique(keys)) != len(keys):
            raise InputError(
                f"{self.output.path}, table {self.config.name}: two rows have the same {', '.join(columns)} and cannot "
                "be told apart. `stressreel verify` says which (unique_ids); build again with --fresh."
            )
        return pa.table({"key": keys, "row": np.arange(len(keys))})


def _compare(
    config: Config, rows: tuple[int | None, int | None], a: _Side, b: _Side, *, decode: bool, most_videos: int | None
) -> TableDiff:
    """Compare a table that differs."""
    types = (a.types(), b.types())
    schema = tuple(_changes(*({name: _type(*each) for name, each in side.items()} for side in types)))
    both = [name for name in types[0] if name in types[1]]
    plain = [name for name in both if types[0][name][0] != VIDEO]
    videos = [name for name in both if types[0][name][0] == VIDEO]
    keys = config.key
    if lacking := [name for name in keys if name not in plain]:
        why = f"they are told apart by {', '.join(keys)}, and one of the two has no {', '.join(lacking)}"
        return TableDiff(config.name, rows, schema=schema, unmatched=why)
    here, there = a.keys(keys), b.keys(keys)
    joined = here.join(there, "key", right_suffix=" of b", join_type="inner").sort_by("row")
    in_a, in_b = (joined.column(name).to_numpy() for name in ("row", "row of b"))

    def key(place: int) -> str:
        return str(joined.column("key")[place])

    changed: set[int] = set()
    columns: list[tuple[int, Change]] = []
    videos_differ: list[int] = []
    for name in plain:
        before, after = a.column(name), b.column(name)
        pairs = enumerate(zip(in_a.tolist(), in_b.tolist(), strict=True))
        differing = [place for place, (x, y) in pairs if before[x] != after[y]]
        changed.update(differing)
        if differing:
            first = differing[0]
            classes = types[0][name][1] if types[0][name][1] == types[1][name][1] else ()
            was, now = (_named(value, classes) for value in (before[in_a[first]], after[in_b[first]]))
            columns.append((first, Change(name, was, now, len(differing), _shown(key(first)))))
        if name == "sha256":
            videos_differ = differing
    ways: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (x, y) in enumerate(zip(a.split_numbers(in_a), b.split_numbers(in_b), strict=True)):
        ways[a.splits[x], b.splits[y]].append(place)
    changed_videos = [(key(at), a.place(in_a[at]), b.place(in_b[at])) for at in videos_differ]
    return TableDiff(
        config.name,
        rows,
        schema=schema,
        new=_some(_keys_without(there, here)),
        gone=_some(_keys_without(here, there)),
        changed=_some([key(place) for place in sorted(changed)]),
        columns=tuple(change for _, change in sorted(columns, key=lambda each: (-each[1].count, each[0]))),
        moved=tuple(Move(*way, _some([key(place) for place in ways[way]])) for way in sorted(ways) if way[0] != way[1]),
        videos=_compare_videos(changed_videos, videos[0], decode, most_videos) if videos else None,
    )


def _type(kind: pa.DataType, names: Sequence[str]) -> str:
    return f"{kind}: {', '.join(names)}" if names else str(kind)


def _keys_without(here: pa.Table, there: pa.Table) -> list[str]:
    """Return the keys of one side that the other does not have, in order."""
    found: list[str] = here.join(there, "key", join_type="left anti").sort_by("row").column("key").to_pylist()
    return found


def _some(keys: Sequence[str]) -> SomeRows:
    return SomeRows(len(keys), tuple(map(_shown, keys[:EXAMPLES])))


def _shown(key: str) -> str:
    return legible(" ".join(map(str, parse_json(key))))


def _named(value: Any, names: Sequence[str]) -> Any:
    """Return the class that an integer stands for."""
    return names[value] if names and isinstance(value, int) and 0 <= value < len(names) else value


def _compare_videos(
    pairs: Sequence[tuple[str, tuple[Path, int], tuple[Path, int]]], column: str, decode: bool, most: int | None
) -> VideoDiff:
    """Compare videos whose SHA-256 differs, each given with its key and its places in A and B."""
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


# Telling


def sentence(found: Difference) -> str:
    """Sum the differences up for a reader: "8 videos re-encoded, pictures alike, worst 41.2 dB; questions the same"."""
    if found.same:
        return f"The same content: fingerprint {found.fingerprints[0][:16]} in both."
    videos = _videos_in_words([table.videos for table in found.tables if table.videos])
    parts = [_table_in_words(table) for table in found.tables if not table.same and not table.only_videos]
    same = [table.name for table in found.tables if table.same]
    if same:
        parts.append(f"{_listed(same) if len(same) <= LISTED else f'{len(same)} tables'} the same")
    return "; ".join(filter(None, [videos, *parts])) + "."


def _videos_in_words(videos: Sequence[VideoDiff]) -> str:
    """Describe the videos of all tables together; empty if none changed."""
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


def _table_in_words(table: TableDiff) -> str:
    if None in table.rows:
        return f"{table.name} only in {'A' if table.rows[1] is None else 'B'}"
    if table.unmatched:
        return f"{table.name} not compared"
    told = "sha256" if table.videos else ""  # by what is said of the videos
    columns = [change.what for change in table.columns if change.what != told]
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


def details(found: Difference) -> Iterator[str]:
    """Write what differs, a line each, under the parts that it is in."""
    if found.build:
        yield "\nbuild.json"
        yield from _first(f"  {change.what}: {_values(change)}" for change in found.build)
    for table in found.tables:
        if not table.same:
            counts = ("no table" if count is None else f"{count:,}" for count in table.rows)
            yield f"\n{table.name}: {' → '.join(counts)} rows"
            yield from _first(f"  {line}" for line in _of_table(table))


def _first(lines: Iterator[str]) -> Iterator[str]:
    yield from islice(lines, LINES)
    if more := sum(1 for _ in lines):
        yield f"  {more:,} more, which --json lists"


def _of_table(table: TableDiff) -> Iterator[str]:
    if table.unmatched:
        yield f"rows were not compared: {table.unmatched}"
    yield from (f"column {each.what}: {each.a or 'not there'} → {each.b or 'not there'}" for each in table.schema)
    for name, rows in (("new", table.new), ("gone", table.gone), ("changed", table.changed)):
        if rows.count:
            yield f"{name}: {rows}"
    for change in table.columns:
        yield f"  {change.what} in {change.count:,}, as in {change.key}: {_values(change)}"
    for move in table.moved:
        yield f"moved from {move.before} to {move.after}: {move.rows}"
    if table.reordered:
        yield "the same rows, in another order or by other units"
    if table.videos and table.videos.changed:
        yield _videos_in_words([table.videos])
        yield from (f"  {key}: {what}" for key, what in table.videos.examples)


def _values(change: Change) -> str:
    """Write two values as JSON, of long ones the part from a little before where they part."""
    texts = ["nothing" if value is None else json.dumps(value, ensure_ascii=False) for value in (change.a, change.b)]
    common = len(commonprefix(texts))  # noqa: RUF071 - of characters is meant
    start = max(common - CONTEXT, 0) if max(map(len, texts)) > SHOWN else 0
    return " → ".join(("…" if start else "") + _shortened(text[start:]) for text in texts)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _change_json(change: Change) -> dict[str, Any]:
    return {"what": legible(change.what), "a": _bounded(change.a), "b": _bounded(change.b)}


def _bounded(value: Any) -> Any:
    """Return a value, or of one that fills pages the beginning of its JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else text[:LONGEST] + "…"


def _rows_json(rows: SomeRows) -> dict[str, Any]:
    return {"count": rows.count, "examples": list(rows.examples)}


def _table_json(table: TableDiff) -> dict[str, Any]:
    videos = table.videos
    return {
        "name": table.name,
        "rows": dict(zip("ab", table.rows, strict=True)),
        "same": table.same,
        "reordered": table.reordered,
        "not_compared": table.unmatched,
        "schema": [_change_json(change) for change in table.schema],
        "new": _rows_json(table.new),
        "gone": _rows_json(table.gone),
        "changed": _rows_json(table.changed),
        "columns": [{**_change_json(change), "count": change.count, "key": change.key} for change in table.columns],
        "moved": [{"from": move.before, "to": move.after, **_rows_json(move.rows)} for move in table.moved],
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
