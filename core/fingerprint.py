"""The fingerprint of a dataset: a hash over the hashes of its units, which can be computed independently.

The rows of each unit and table are hashed as one line of canonical JSON per row; the `sha256` column represents the
videos. A table's hash covers the hashes of its units in plan order, and the dataset's hash covers its tables. The
division into files and row groups has no effect. `units.parquet` stores the hash and row count of every unit, so that
differing units can be located.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .files import atomic, canonical_json
from .schema import Config, Row
from .shards import read_rows

VERSION = 2
FILE = "units.parquet"
BATCH = 10_000
SCHEMA = pa.schema(
    [
        pa.field("unit_id", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("rows", pa.int32(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True)
class UnitRows:
    """Row count and SHA-256 of one unit in one table ("config/split")."""

    unit_id: str
    table: str
    rows: int
    sha256: str


def plain_json(config: Config, row: Row) -> str:
    """Serialize a row of storage values, excluding videos."""
    return canonical_json({name: row[name] for name in config.plain})


@dataclass
class UnitHasher:
    """Hasher for the rows of one unit, by table."""

    unit_id: str
    _hashes: dict[str, Any] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, line: str) -> None:
        """Add a row, serialized by `plain_json`, to the hash of a table ("config/split")."""
        self._hashes.setdefault(table, hashlib.sha256()).update((line + "\n").encode())
        self._rows[table] = self._rows.get(table, 0) + 1

    def done(self) -> list[UnitRows]:
        """Return the row count and hash for each table."""
        return [UnitRows(self.unit_id, table, self._rows[table], h.hexdigest()) for table, h in self._hashes.items()]


@dataclass
class Fingerprint:
    """The fingerprint of a dataset, computed from its units in plan order."""

    _hashes: dict[str, Any] = field(default_factory=dict)

    def add(self, unit: UnitRows) -> None:
        """Add the rows of a unit in one table."""
        self._hashes.setdefault(unit.table, hashlib.sha256()).update(f"{unit.sha256}\n".encode())

    def parts(self) -> dict[str, str]:
        """Return the hash of each table by "config/split"."""
        return {table: self._hashes[table].hexdigest() for table in sorted(self._hashes)}

    def hexdigest(self) -> str:
        """Return the hash of the whole dataset."""
        return hashlib.sha256(canonical_json({"version": VERSION, "tables": self.parts()}).encode()).hexdigest()


@contextmanager
def writing_units(folder: Path, canary: str = "") -> Iterator[Callable[[UnitRows], None]]:
    """Yield a function that appends to `units.parquet`, which is written atomically when the block ends."""
    held: list[UnitRows] = []
    schema = SCHEMA.with_metadata({"canary": canary}) if canary else SCHEMA
    with atomic(folder / FILE) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:

        def write() -> None:
            if held:
                writer.write_table(pa.Table.from_pylist([vars(unit) for unit in held], schema=schema))
            held.clear()

        def add(unit: UnitRows) -> None:
            held.append(unit)
            if len(held) >= BATCH:
                write()

        yield add
        write()


def read_units(folder: Path) -> Iterator[UnitRows]:
    """Read `units.parquet`, in plan order."""
    for row in read_rows(folder / FILE):
        yield UnitRows(**row)


def recomputed(units: Iterable[UnitRows], rows: Mapping[str, tuple[Config, Iterator[Row]]]) -> Iterator[UnitRows]:
    """Recompute the hashes of units from rows; the row count is lower if a table ends prematurely."""
    for unit in units:
        config, found = rows[unit.table]
        digest, count = hashlib.sha256(), 0
        for row in islice(found, unit.rows):
            digest.update((plain_json(config, row) + "\n").encode())
            count += 1
        yield UnitRows(unit.unit_id, unit.table, count, digest.hexdigest())
