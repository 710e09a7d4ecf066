"""Packing gives the same shards regardless of executor and interruption."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from number_units import Numbers, build_numbers, plan_of
from stressreel.builders.runtime.executors import Processes
from stressreel.builders.runtime.output import BuildJournal
from stressreel.builders.runtime.store import FolderStore
from stressreel.core import shards
from stressreel.core.errors import BuildError, MismatchError
from stressreel.core.fingerprint import read_units


def tables(out: Path) -> dict[str, list[Mapping[str, Any]]]:
    return {
        path.relative_to(out).as_posix(): pq.read_table(path).to_pylist() for path in sorted(out.glob("*/*.parquet"))
    }


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 4000)


def test_content_does_not_depend_on_executor(tmp_path: Path) -> None:
    one = build_numbers(tmp_path / "one", Numbers())
    two = build_numbers(tmp_path / "two", Numbers(), executor=Processes(2))
    assert one == two
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    clips = sorted(path.name for path in (tmp_path / "one" / "clips").iterdir())
    assert clips[0] == "test-00000-of-00002.parquet"
    assert not (tmp_path / "one" / ".build" / "staging").exists()
    assert {
        row["video"]["bytes"] for name, rows in tables(tmp_path / "one").items() if "clips" in name for row in rows
    } == {unit.id.encode() * 1000 for unit in plan_of(9).units}
    assert sum(unit.rows for unit in read_units(tmp_path / "one")) == 27


@pytest.mark.parametrize("size", [1000, 20_000])
def test_shards_hold_as_many_rows_as_fit(size: int, tmp_path: Path) -> None:
    builder = Numbers(size)
    build_numbers(tmp_path / "out", builder)
    parts: dict[str, list[list[Mapping[str, Any]]]] = {}
    for name, rows in tables(tmp_path / "out").items():
        parts.setdefault(name.rpartition("-of-")[0].rpartition("-")[0], []).append(rows)
    for split in ("train", "test"):
        cut = parts[f"clips/{split}"]
        units = [unit.id for unit in plan_of(9).units if unit.split == split]
        assert [row["id"] for rows in cut for row in rows] == units
        # a clip and its row are some 3 * size + 100 bytes; a row alone may be larger than a shard
        held = [sum(len(row["video"]["bytes"]) + 100 for row in rows) for rows in cut]
        assert all(total <= shards.SHARD_BYTES or len(rows) == 1 for total, rows in zip(held, cut, strict=True))
        assert all(total + 3 * size + 100 > shards.SHARD_BYTES for total in held[:-1])


@pytest.mark.parametrize("stop", [0, 3, 7])
def test_interrupted_packing_resumes(stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = build_numbers(tmp_path / "plain", Numbers())
    out = tmp_path / "out"
    done: list[str] = []
    finish = BuildJournal.add_shard

    def interrupted(journal: BuildJournal, *values: Any) -> None:
        if len(done) == stop:
            raise KeyboardInterrupt
        done.append("shard")
        finish(journal, *values)

    with monkeypatch.context() as patch:
        patch.setattr(BuildJournal, "add_shard", interrupted)
        if stop < 7:
            with pytest.raises(KeyboardInterrupt):
                build_numbers(out, Numbers())
    if stop < 7:
        with pytest.raises(MismatchError):
            build_numbers(out, Numbers(), plan_of(5))
    again = build_numbers(out, Numbers())
    assert again == plain
    assert tables(out) == tables(tmp_path / "plain")
    leftovers = [path.name for path in out.rglob("*") if ".part" in path.name or path.name.endswith(".tmp")]
    assert leftovers == []


def test_file_changed_after_rendering_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(store: FolderStore, unit_id: str, name: str, sha256: str) -> bytes:
        return b"something else"

    monkeypatch.setattr(FolderStore, "read", changed)
    with pytest.raises(BuildError, match="has changed since it was rendered"):
        build_numbers(tmp_path / "out", Numbers(), plan_of(2))
