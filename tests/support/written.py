"""Files of outputs, written at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stressreel.core.fingerprint import UnitRows, writing_units
from stressreel.core.schema import Config, Row
from stressreel.core.shards import ShardWriter


def write_shard(path: Path, config: Config, rows: Iterable[tuple[Row, int]], canary: str = "") -> None:
    """Write storage rows, each given with its size in bytes."""
    writer = ShardWriter(path, config, canary)
    try:
        for row, size in rows:
            writer.add(row, size)
        writer.close()
    except BaseException:
        writer.abandon()
        raise


def write_units(folder: Path, units: Iterable[UnitRows], canary: str = "") -> None:
    with writing_units(folder, canary) as add:
        for unit in units:
            add(unit)
