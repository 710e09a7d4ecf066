"""Executor, store, journal and packing: the same output however the work is done, interrupted and taken up."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from failing_units import Failing
from number_units import Numbers, build_numbers, plan_of
from stressreel.builders.runtime import build
from stressreel.builders.runtime.executor import Executor, Inline, Processes
from stressreel.builders.runtime.output import BuildJournal
from stressreel.builders.runtime.store import FolderStore
from stressreel.core import shards
from stressreel.core.errors import BuildError, MismatchError, OutputError
from stressreel.core.fingerprint import read_units
from stressreel.core.plan import Skip, Unit

EXECUTORS = (Inline(), Processes(2))


def tables(out: Path) -> dict[str, list[Mapping[str, Any]]]:
    return {
        path.relative_to(out).as_posix(): pq.read_table(path).to_pylist() for path in sorted(out.glob("*/*.parquet"))
    }


@pytest.mark.full
def test_a_killed_worker_ends_the_build_in_words(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    builder, store = Failing(marks=tmp_path / "marks", fault="kill", times=9), FolderStore(tmp_path / "store")
    with pytest.raises(BuildError, match=r"a worker process died, .* Run the same command again, with fewer --workers"):
        list(Processes(2).execute(builder, plan_of(5).units, store))


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
class TestExecutors:
    def test_every_unit_comes_back_once(self, executor: Executor, tmp_path: Path) -> None:
        plan, store = plan_of(7), FolderStore(tmp_path)
        done = list(executor.execute(Numbers(bad=frozenset(["u03"])), plan.units, store))
        assert sorted(unit.id for unit, _ in done) == [unit.id for unit in plan.units]
        found = {unit.id: result for unit, result in done}
        skip = found["u03"]
        assert isinstance(skip, Skip)
        assert (skip.reason, skip.detail) == ("undecodable", "u03 is broken")
        for name, facts in found.items():
            if not isinstance(facts, Skip):
                assert store.has(name, facts["files"])
        assert not (tmp_path / "u03").exists()

    def test_a_fault_names_the_unit(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(BuildError, match="u01 of video v1 failed unexpectedly: ValueError"):
            list(executor.execute(Numbers(failing=frozenset(["u01"])), plan_of(2).units, FolderStore(tmp_path)))


class TestJournal:
    def test_receipts_come_back_from_the_file(self, tmp_path: Path) -> None:
        journal = BuildJournal(tmp_path / "journal.jsonl")
        unit = plan_of(1).units[0]
        journal.add_result(unit, {"files": {}, "n": 1}, "a")
        journal.add_result(unit, {"files": {}, "n": 2}, "b")
        journal.add_result(plan_of(2).units[1], Skip("u01", "v1", "undecodable", "x"), "c")
        journal.add_shard("numbers", "test", 12, 1)
        again = BuildJournal.read(journal.path)
        for each in (journal, again):
            assert each.facts("u00") == {"files": {}, "n": 2}
            assert each.facts("u01") == {}
            assert (each.rendered("u00"), each.rendered("u01")) == (True, False)
            assert each.stamps == {"u00": "b"}
            assert each.shards == {"numbers/test": (12, 1)}

    def test_a_line_cut_off_by_a_kill_is_dropped(self, tmp_path: Path) -> None:
        journal = BuildJournal(tmp_path / "journal.jsonl")
        for unit in plan_of(2).units:
            journal.add_result(unit, {"files": {}}, "")
        whole = journal.path.read_bytes()
        journal.path.write_bytes(whole[:-5])
        again = BuildJournal.read(journal.path)
        assert (again.rendered("u00"), again.rendered("u01")) == (True, False)
        again.add_result(plan_of(2).units[1], {"files": {}}, "")
        assert journal.path.read_bytes() == whole

    @pytest.mark.parametrize("line", [b"not JSON\n", b'{"facts": 1}\n'])
    def test_damage_is_one_clear_error(self, line: bytes, tmp_path: Path) -> None:
        path = tmp_path / "journal.jsonl"
        path.write_bytes(line)
        with pytest.raises(OutputError, match="is damaged"):
            BuildJournal.read(path)


class TestPacking:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
        monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 4000)

    def test_the_content_does_not_depend_on_how_it_is_made(self, tmp_path: Path) -> None:
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
    def test_shards_hold_all_rows_in_order_and_as_many_as_fit(self, size: int, tmp_path: Path) -> None:
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
    def test_packing_goes_on_where_it_stopped(self, stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_a_file_that_something_changed_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def changed(store: FolderStore, unit_id: str, name: str, sha256: str) -> bytes:
            return b"something else"

        monkeypatch.setattr(FolderStore, "read", changed)
        with pytest.raises(BuildError, match="has changed since it was rendered"):
            build_numbers(tmp_path / "out", Numbers(), plan_of(2))


def test_videos_that_may_be_missing_do_not_thin_the_share_of_skips() -> None:
    missing = [Skip(f"u{n:02d}", f"v{n}", "missing_video", "it is not there") for n in range(5)]
    skips = [*missing, Skip("u05", "v5", "undecodable", "it is broken")]
    build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.2, allow_missing=True))
    with pytest.raises(BuildError, match=r"1 of 5 units \(20.0%\) had to be skipped"):
        build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.19, allow_missing=True))


def test_files_are_safe_before_their_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt that outlives a power cut promises files: they must have been synced, and shards must be whole."""
    synced: set[int] = set()
    sync, add_result, add_shard = os.fsync, BuildJournal.add_result, BuildJournal.add_shard
    seen = []

    def noted(handle: int) -> None:
        sync(handle)
        synced.add(os.fstat(handle).st_ino)

    def result_added(journal: BuildJournal, unit: Unit, *rest: Any) -> None:
        files = list((journal.path.parent / "staging" / unit.id).iterdir())
        seen.extend(file.stat().st_ino in synced for file in files)
        add_result(journal, unit, *rest)

    def shard_added(journal: BuildJournal, config: str, split: str, rows: int, parts: int) -> None:
        shard = tmp_path / "out" / shards.part_path(config, split, parts - 1)
        seen.append(shard.is_file() and shard.stat().st_ino in synced and pq.read_metadata(shard).num_rows == rows)
        add_shard(journal, config, split, rows, parts)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(BuildJournal, "add_result", result_added)
    monkeypatch.setattr(BuildJournal, "add_shard", shard_added)
    build_numbers(tmp_path / "out", Numbers(), plan_of(4))
    assert seen == [True] * 8
