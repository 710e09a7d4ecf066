"""What differs between two outputs of one benchmark: how they were built, tables, rows, videos.

`build.json` and `units.parquet` are believed (`stressreel verify` checks them): tables with equal fingerprints, and
units with equal hashes, are not read. All other rows of a table are laid into a database on disk by their key and
joined there, so memory does not grow with the rows. Videos whose SHA-256 differ are decoded, a pair at a time.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.documents import parse_json
from ...core.errors import InputError, OutputError, legible
from ...core.files import canonical_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import read_units
from ...core.output import FinishedOutput
from ...core.schema import Column, Config
from ...core.shards import group_rows, open_shard, read_footer
from ...video.likeness import Likeness, compare_videos
from .difference import Change, Difference, Move, Rows, TableDiff, Videos

SHOWN = 3
CONTENT = ("counts", "fingerprints", "fingerprint", "plan_sha256")  # of build.json: what follows from the rest
VIDEO = Column("", "video", "").arrow_type()
SCHEMA = "(key TEXT PRIMARY KEY, split TEXT, shard INT, piece INT, place INT, sha256 TEXT, line TEXT) WITHOUT ROWID"
BATCH = 10_000

Place = tuple[int, int, int]
"""The number of a shard, of a row group in it, and of a row in that."""


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
        config = here or there
        if config is None:
            continue
        rows = (_rows_of(a, here), _rows_of(b, there))
        splits = [
            [s for s in each.splits(config.name) if _part(a, config, s) != _part(b, config, s)] for each in (a, b)
        ]
        if None in rows:
            tables.append(TableDiff(config.name, rows))
        elif not any(splits):
            tables.append(TableDiff(config.name, rows, same=True))
        else:
            units = units or (_Units(a), _Units(b))
            sides = (_Side(a, config, splits[0], units[0], units[1]), _Side(b, config, splits[1], units[1], units[0]))
            tables.append(_compare(config, rows, *sides, decode=decode, most_videos=most_videos))
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
        self._hashes: dict[str, array[int]] = {}
        self._rows: dict[str, array[int]] = {}
        if (output.path / UNITS).is_file():
            for unit in read_units(output.path):
                digest = hashlib.sha256(f"{unit.unit_id}\0{unit.sha256}".encode()).digest()
                self._hashes.setdefault(unit.table, array("Q")).append(int.from_bytes(digest[:8]))
                self._rows.setdefault(unit.table, array("Q")).append(unit.rows)

    def shared(self, other: _Units, table: str) -> NDArray[np.bool_]:
        """Mark the rows of a table whose unit the other output has with the same content: bool, shape (rows,)."""
        none = array("Q")
        ours = np.array(self._hashes.get(table, none), np.uint64)
        theirs = np.array(other._hashes.get(table, none), np.uint64)
        return np.repeat(np.isin(ours, theirs), np.array(self._rows.get(table, none), np.int64))


@dataclass(frozen=True)
class _Side:
    """One output's part of a table: the splits that differ."""

    output: FinishedOutput
    config: Config
    splits: Sequence[str]
    units: _Units
    other: _Units

    def paths(self) -> list[Path]:
        return [path for split in self.splits for path in self.output.shards(self.config.name, split)]

    def columns(self) -> dict[str, tuple[pa.DataType, tuple[str, ...]]]:
        """Return the type of every column, and the names of a label's classes, as its first shard has them."""
        for path in self.paths():
            schema = read_footer(path).schema.to_arrow_schema()
            stored = parse_json((schema.metadata or {}).get(b"huggingface", b"{}").decode("utf-8", "replace"))
            features = stored.get("info", {}).get("features", {})
            names = {name: tuple(feature.get("names", ())) for name, feature in features.items()}
            return {each.name: (each.type, names.get(each.name, ())) for each in schema}
        return {column.name: (column.arrow_type(), column.names) for column in self.config.columns}

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str, Place, dict[str, Any]]]:
        """Read the rows of units that the other output does not have as they are, one row group at a time."""
        number = 0
        for split in self.splits:
            shared = self.units.shared(self.other, f"{self.config.name}/{split}")
            if len(shared) != self.output.info["counts"][self.config.name][split]:
                shared = np.zeros(self.output.info["counts"][self.config.name][split], np.bool_)
            seen = 0
            for path in self.output.shards(self.config.name, split):
                with open_shard(path) as file:
                    for piece in range(file.num_row_groups):
                        count = file.metadata.row_group(piece).num_rows
                        known = shared[seen : seen + count]
                        if not (len(known) == count and known.all()):
                            found = list(group_rows(file, piece, columns))
                            for place in np.flatnonzero(~known).tolist():
                                yield split, (number, piece, place), found[place]
                        seen += count
                number += 1
            self.output.check_count(self.config.name, split, seen)


def _compare(
    config: Config, rows: tuple[int | None, int | None], a: _Side, b: _Side, *, decode: bool, most_videos: int | None
) -> TableDiff:
    """Compare a table that differs."""
    types = (a.columns(), b.columns())
    schema = tuple(_changes(*({name: _type(*each) for name, each in side.items()} for side in types)))
    plain = [name for name, (kind, _) in types[0].items() if kind != VIDEO and name in types[1]]
    keys = [column.name for column in config.columns[: config.key_columns]]
    lacking = [name for name in keys if name not in plain]
    if lacking:
        why = f"they are told apart by {', '.join(keys)}, and one of the two has no {', '.join(lacking)}"
        return TableDiff(config.name, rows, schema=schema, unmatched=why)
    videos = [name for name, (kind, _) in types[0].items() if kind == VIDEO and name in types[1]]
    labels = {
        name: names for name, (_, names) in types[0].items() if names and types[1].get(name, ((), ()))[1] == names
    }
    with _database() as database:
        for name, side in (("a", a), ("b", b)):
            _lay_out(database, name, side, plain, keys, hashed=bool(videos) and "sha256" in plain)
        changed, columns = _changed(database, plain, labels)
        return TableDiff(
            config.name,
            rows,
            schema=schema,
            new=_alone(database, "b", "a"),
            gone=_alone(database, "a", "b"),
            changed=changed,
            columns=columns,
            moved=_moved(database),
            videos=_videos(database, a, b, videos[0], decode, most_videos) if videos else None,
        )


@contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """Open a database on disk for a `with` block, which nobody needs afterwards.

    Raises:
        OutputError: There is no space for it.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix="stressreel-diff-") as folder,
            closing(sqlite3.connect(Path(folder) / "rows.sqlite", isolation_level=None)) as database,
        ):
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            yield database
    except sqlite3.OperationalError as error:
        raise OutputError(
            f"rows cannot be laid out for comparison in {tempfile.gettempdir()} ({error}). They need about as much "
            "space as the rows that differ, without videos: free some, or name another folder in TMPDIR."
        ) from error


def _type(kind: pa.DataType, names: Sequence[str]) -> str:
    return f"{kind}: {', '.join(names)}" if names else str(kind)


def _lay_out(
    database: sqlite3.Connection, name: str, side: _Side, columns: Sequence[str], keys: Sequence[str], *, hashed: bool
) -> None:
    """Write the rows of a side into a table of the database, by key."""
    database.execute(f"CREATE TABLE {name} {SCHEMA}")
    held: list[tuple[Any, ...]] = []

    def write() -> None:
        try:
            database.execute("BEGIN")
            database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)", held)
            database.execute("COMMIT")
        except sqlite3.IntegrityError:
            raise InputError(
                f"{side.output.path}, table {side.config.name}: two rows have the same {', '.join(keys)} and cannot "
                "be told apart. `stressreel verify` says which (unique_ids); build again with --fresh."
            ) from None
        held.clear()

    for split, place, row in side.rows(columns):
        key = canonical_json([row[name] for name in keys])
        held.append((key, split, *place, str(row["sha256"]) if hashed else None, canonical_json(row)))
        if len(held) >= BATCH:
            write()
    write()


def _keys(database: sqlite3.Connection, query: str, *given: str) -> Rows:
    """Count the keys that a query gives, and keep the first."""
    count = database.execute(f"SELECT count(*) FROM ({query})", given).fetchone()[0]
    return Rows(count, tuple(_shown(key) for (key,) in database.execute(f"{query} LIMIT {SHOWN}", given)))


def _shown(key: str) -> str:
    return legible(" ".join(map(str, parse_json(key))))


def _alone(database: sqlite3.Connection, here: str, there: str) -> Rows:
    """Find the rows of one side whose key the other does not have."""
    order = "h.shard, h.piece, h.place"
    return _keys(
        database, f"SELECT h.key FROM {here} h LEFT JOIN {there} t USING (key) WHERE t.key IS NULL ORDER BY {order}"
    )


BOTH = "FROM a JOIN b USING (key) WHERE {} ORDER BY a.shard, a.piece, a.place"


def _moved(database: sqlite3.Connection) -> tuple[Move, ...]:
    ways = database.execute("SELECT DISTINCT a.split, b.split FROM a JOIN b USING (key) WHERE a.split != b.split")
    query = "SELECT a.key " + BOTH.format("a.split = ? AND b.split = ?")
    return tuple(Move(way[0], way[1], _keys(database, query, *way)) for way in sorted(ways.fetchall()))


def _changed(
    database: sqlite3.Connection, columns: Sequence[str], labels: Mapping[str, Sequence[str]]
) -> tuple[Rows, tuple[Change, ...]]:
    """Compare rows of both sides column by column."""
    differ = BOTH.format("a.line != b.line")
    counts: Counter[str] = Counter()
    first: dict[str, tuple[str, Any, Any]] = {}
    for key, *lines in database.execute(f"SELECT a.key, a.line, b.line {differ}"):
        here, there = map(parse_json, lines)
        for name in columns:
            if here[name] != there[name]:
                counts[name] += 1
                first.setdefault(name, (_shown(key), here[name], there[name]))
    found = []
    for name, count in counts.most_common():
        key, *values = first[name]
        before, after = (_named(value, labels.get(name)) for value in values)
        found.append(Change(name, before, after, count, key))
    return _keys(database, f"SELECT a.key {differ}"), tuple(found)


def _named(value: Any, names: Sequence[str] | None) -> Any:
    """Return the class that an integer stands for."""
    return names[value] if names and isinstance(value, int) and 0 <= value < len(names) else value


class _Bytes:
    """Reads the videos of a side by place; the last row group is kept, as neighbours are asked for in turn."""

    def __init__(self, side: _Side, column: str):
        self._paths, self._column = side.paths(), column
        self._at: tuple[int, int] | None = None
        self._group: Any = None

    def read(self, place: Place) -> bytes:
        shard, piece, row = place
        if self._at != (shard, piece):
            self._group = None  # before the next is read
            with open_shard(self._paths[shard]) as file:
                self._group = [each[self._column]["bytes"] or b"" for each in group_rows(file, piece, [self._column])]
            self._at = (shard, piece)
        found: bytes = self._group[row]
        return found


def _videos(database: sqlite3.Connection, a: _Side, b: _Side, column: str, decode: bool, most: int | None) -> Videos:
    """Compare the videos whose SHA-256 differs, in the order of A."""
    differ = BOTH.format("a.sha256 != b.sha256")
    changed = database.execute(f"SELECT count(*) {differ.split('ORDER')[0]}").fetchone()[0]
    if not decode:
        return Videos(changed)
    taken = min(changed, changed if most is None else most)
    chosen = {index * changed // taken for index in range(taken)}
    kinds: Counter[str] = Counter()
    worst: float | None = None
    sounds, examples = 0, list[tuple[str, str]]()
    read = (_Bytes(a, column), _Bytes(b, column))
    query = f"SELECT a.key, a.shard, a.piece, a.place, b.shard, b.piece, b.place {differ}"
    for number, (key, *places) in enumerate(database.execute(query)):
        if number not in chosen:
            continue
        found: Likeness = compare_videos(read[0].read(tuple(places[:3])), read[1].read(tuple(places[3:])))
        kinds[found.kind] += 1
        sounds += not found.same_sound
        if found.kind == "alike" and found.decibels is not None:
            worst = found.decibels if worst is None else min(worst, found.decibels)
        elif len(examples) < SHOWN:
            examples.append((_shown(key), found.detail))
    return Videos(changed, dict(kinds), worst, sounds, tuple(examples))
