"""Compute the fingerprint that identifies the content of a dataset, from hashes of its units.

The rows of each unit and table are hashed as lines of canonical JSON, in which the `sha256` column represents the
videos. A table's hash covers the hashes of its units in plan order, and the fingerprint covers the hashes of the
tables. How rows are divided into files and row groups has no effect. `units.parquet` stores the hash and row count of
every unit, so that differing units can be located.

The canary GUID marks a dataset, so that copies of it in training corpora can be found and removed. The idea is from
BIG-bench (Srivastava et al. 2022, "Beyond the Imitation Game"). It is derived from the hash of the plan because shards
are written before the fingerprint is known.
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

from .files import atomic, canonical_json, sha256_text
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
    """The number of rows that a unit has in a table ("config/split"), and the SHA-256 of these rows."""

    unit_id: str
    table: str
    rows: int
    sha256: str


def plain_json(config: Config, row: Row) -> str:
    """Serialize a row of storage values to canonical JSON, without its videos."""
    return canonical_json({name: row[name] for name in config.plain})


@dataclass
class UnitHasher:
    """Hashes the rows of one unit, separately for each table."""

    unit_id: str
    _hashes: dict[str, Any] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, line: str) -> None:
        """Add a row, serialized by `plain_json`, to the hash of a table ("config/split")."""
        self._hashes.setdefault(table, hashlib.sha256()).update((line + "\n").encode())
        self._rows[table] = self._rows.get(table, 0) + 1

    def done(self) -> list[UnitRows]:
        """Return the unit's row count and hash for each table."""
        return [UnitRows(self.unit_id, table, self._rows[table], h.hexdigest()) for table, h in self._hashes.items()]


@dataclass
class Fingerprint:
    """Computes the fingerprint of a dataset. Units must be added in plan order."""

    _hashes: dict[str, Any] = field(default_factory=dict)

    def add(self, unit: UnitRows) -> None:
        """Add the hash of a unit's rows in one table."""
        self._hashes.setdefault(unit.table, hashlib.sha256()).update(f"{unit.sha256}\n".encode())

    def parts(self) -> dict[str, str]:
        """Return the hash of each table, by "config/split"."""
        return {table: self._hashes[table].hexdigest() for table in sorted(self._hashes)}

    def hexdigest(self) -> str:
        """Return the hash of the whole dataset."""
        return sha256_text(canonical_json({"version": VERSION, "tables": self.parts()}))


def units_schema(canary: str = "") -> pa.Schema:
    """Return the schema of `units.parquet`, with the canary in its metadata."""
    return SCHEMA.with_metadata({"canary": canary}) if canary else SCHEMA


def units_writer(target: Any, schema: pa.Schema) -> Any:
    """Open `units.parquet` (a path or stream) for writing."""
    return pq.ParquetWriter(target, schema, compression="zstd")


@contextmanager
def writing_units(folder: Path, canary: str = "") -> Iterator[Callable[[UnitRows], None]]:
    """Yield a function that appends to `units.parquet`, which is written atomically when the block ends."""
    waiting: list[UnitRows] = []
    schema = units_schema(canary)
    with atomic(folder / FILE) as temporary, units_writer(temporary, schema) as writer:

        def write() -> None:
            if waiting:
                writer.write_table(pa.Table.from_pylist([vars(unit) for unit in waiting], schema=schema))
            waiting.clear()

        def add(unit: UnitRows) -> None:
            waiting.append(unit)
            if len(waiting) >= BATCH:
                write()

        yield add
        write()


def read_units(folder: Path) -> Iterator[UnitRows]:
    """Yield the entries of `units.parquet` in plan order."""
    for row in read_rows(folder / FILE):
        yield UnitRows(**row)


def recomputed(units: Iterable[UnitRows], lines: Mapping[str, Iterator[str]]) -> Iterator[UnitRows]:
    """Yield the entry of each unit, recomputed from the `plain_json` of all rows by table.

    The row count is lower if a table is missing or too short.
    """
    for unit in units:
        hasher = UnitHasher(unit.unit_id)
        for line in islice(lines.get(unit.table, iter(())), unit.rows):
            hasher.add(unit.table, line)
        yield from hasher.done() or [UnitRows(unit.unit_id, unit.table, 0, "")]


CANARY_NOTICE = "Benchmark data must not be in training data. Canary GUID"


def canary_of(plan_sha256: str) -> str:
    """Return the canary GUID (version 8, RFC 9562) of the dataset whose plan has this SHA-256."""
    digest = sha256_text(f"stressreel canary {plan_sha256}")
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
