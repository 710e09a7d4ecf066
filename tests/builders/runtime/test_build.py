"""Builds resume, notice changed sources, and can be divided into shares."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from commands import refuses, run, succeed
from number_units import INFO, Numbers, build_numbers, plan_of
from stressreel.builders.runtime import build
from stressreel.builders.runtime.executors import Executor, Inline, Processes
from stressreel.builders.runtime.output import BuildJournal, claim
from stressreel.core import shards
from stressreel.core.build_settings import Unfinished, WorkShare
from stressreel.core.errors import BuildError, InputError, OutputError, VideoError
from stressreel.core.files import file_stamp, sha256_file
from stressreel.core.plan import Facts, Skip, Unit


def test_missing_videos_do_not_count_towards_max_skip() -> None:
    missing = [Skip(f"u{n:02d}", f"v{n}", "missing_video", "it is not there") for n in range(5)]
    skips = [*missing, Skip("u05", "v5", "undecodable", "it is broken")]
    build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.2, allow_missing=True))
    with pytest.raises(BuildError, match=r"1 of 5 units \(20.0%\)"):
        build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.19, allow_missing=True))


def test_files_are_synced_before_their_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt that outlives a power cut promises files: they must have been synced, and shards must be whole."""
    synced: set[int] = set()
    add, seen = BuildJournal.add, []

    def added(journal: BuildJournal, entry: dict[str, Any]) -> None:
        if "facts" in entry:
            files = list((journal.path.parent / "staging" / entry["unit"]).iterdir())
            seen.extend(file.stat().st_ino in synced for file in files)
        elif "shard" in entry:
            shard = tmp_path / "out" / shards.part_path(*entry["shard"].split("/"), entry["parts"] - 1)
            seen.append(shard.stat().st_ino in synced and pq.read_metadata(shard).num_rows == entry["rows"])
        add(journal, entry)
        seen.append(journal.path.stat().st_ino in synced)

    monkeypatch.setattr(os, "fsync", lambda handle: synced.add(os.fstat(handle).st_ino))
    monkeypatch.setattr(BuildJournal, "add", added)
    build_numbers(tmp_path / "out", Numbers(), plan_of(4))
    assert seen == [True] * (8 + 9)  # and the journal after each of its entries


def test_videos_missing_or_without_times_are_named(tmp_path: Path, bars: Any) -> None:
    raw, out = tmp_path / "raw.mp4", tmp_path / "o"
    bars.write(tmp_path / "raw.h264", frames=12, rate=Fraction(25)).rename(raw)
    rows = ["raw,a dog runs", *(f"v{n:02d}.mp4,a cat sits" for n in range(12))]
    (tmp_path / "c.csv").write_text("\n".join(["video,caption", *rows]))
    given = ("build-perturbed", "--captions", tmp_path / "c.csv", "--videos", tmp_path, "--perturbations", "freeze")
    done = run(*given, "--severity", 1, "--out", out)
    refuses(done, f"searched: {tmp_path} ", f"listed in {tmp_path / 'o.missing.tsv'}")
    assert not out.exists()
    dry = succeed(*given, "--dry-run").out
    assert "source videos found: 1 of 13\n    missing: v00," in dry
    assert "v09 and 2 more\n    searched: " in dry
    (tmp_path / "c.csv").write_text("\n".join(["video,caption", rows[0]]))
    assert "nominal rate: raw\n" in succeed(*given, "--severity", 1, "--workers", 1, "--out", out).out
    assert json.loads((out / "build.json").read_text())["notes"]["videos_without_times"] == ["raw"]
    assert "nominal rate:\nraw.\n" in (out / "README.md").read_text()


# Sources that change while a build runs

COUNT = 9


@dataclass(frozen=True)
class Copies(Numbers):
    """Copies one file per unit. While unit u05 is rendered, `change` is applied to the folder of the sources."""

    folder: Path = Path()
    change: str = ""
    faults: Mapping[str, Exception] = field(default_factory=dict)

    def stamp(self, unit: Unit) -> str:
        return file_stamp(self.folder / unit.source_id)

    def missing(self, unit: Unit) -> Skip | None:
        there = (self.folder / unit.source_id).is_file()
        return None if there else Skip(unit.id, unit.source_id, "missing_video", "it is missing")

    def render(self, unit: Unit, folder: Path) -> Facts:
        if unit.id in self.faults:
            raise self.faults[unit.id]
        if unit.id == "u05" and self.change:
            CHANGES[self.change](self.folder, unit.source_id)
        try:
            content = (self.folder / unit.source_id).read_bytes()
        except OSError as error:
            if self.change == "unmount":
                raise  # as when a source is hashed or copied
            raise VideoError("unreadable_video", str(error)) from error
        file = folder / "clip.mp4"
        file.write_bytes(content)
        return {"files": {"clip.mp4": len(content)}, "sha256": sha256_file(file)}


CHANGES: dict[str, Callable[[Path, str], object]] = {
    "rename": lambda folder, source: folder.rename(folder.with_name("away")),
    "unmount": lambda folder, source: folder.rename(folder.with_name("away")),
    "delete": lambda folder, source: (folder / source).unlink(),
    "replace": lambda folder, source: (folder / source).write_bytes(b"another version"),
    "truncate": lambda folder, source: (folder / source).write_bytes(b""),
    "replace an earlier one": lambda folder, source: (folder / "v7").write_bytes(b"another version"),
}


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "videos")


def write_sources(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(COUNT):
        (folder / f"v{n}").write_bytes(b"v%d" % n)
    return folder


def fingerprint_of(videos: Path) -> str:
    """Return the fingerprint of a build of the sources as they are now."""
    return str(build_numbers(videos.with_name("plain"), Copies(folder=videos))["fingerprint"])


@pytest.mark.parametrize(
    ("change", "executor", "allow_missing"),
    [
        *((change, Inline(), allowed) for change in CHANGES for allowed in (False, True)),
        pytest.param("rename", Processes(2), False, marks=pytest.mark.full),
        pytest.param("replace", Processes(2), False, marks=pytest.mark.full),
    ],
)
def test_build_fails_and_rerun_continues(
    change: str, executor: Executor, allow_missing: bool, videos: Path, tmp_path: Path
) -> None:
    builder = Copies(folder=videos, change=change)
    with pytest.raises(BuildError, match=r"vanished|replaced") as failed:
        build_numbers(tmp_path / "out", builder, executor=executor, allow_missing=allow_missing)
    assert ("v7" if "earlier" in change else "v") in str(failed.value)
    assert not (tmp_path / "out" / "build.json").exists()
    if (away := tmp_path / "away").exists():
        away.rename(videos)
    if change == "delete":
        write_sources(videos)
    done = build_numbers(tmp_path / "out", replace(builder, change=""), executor=executor)
    assert done["skips"]["count"] == 0
    assert done["fingerprint"] == fingerprint_of(videos)


def test_late_faults_of_sources_are_not_skipped(videos: Path, tmp_path: Path) -> None:
    out, late = tmp_path / "out", VideoError("unreadable_video", "v3: Input/output error")
    with pytest.raises(BuildError, match="v3: Input/output error"):
        build_numbers(out, Copies(folder=videos, faults={"u03": late}), allow_missing=True)
    builder = Copies(folder=videos, faults={"u03": VideoError("unreadable_object", "v3: no moov atom")})
    with pytest.raises(InputError, match="v3: no moov atom"):
        build_numbers(out, builder, max_skip=1.0)
    done = build_numbers(out, builder, allow_missing=True, max_skip=0.0)
    assert done["skips"]["by_reason"] == {"unreadable_object": 1}


def test_resume_renders_units_of_a_replaced_source_again(videos: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="failed unexpectedly"):
        build_numbers(tmp_path / "out", Copies(folder=videos, faults={"u08": ValueError("out of luck")}))
    (videos / "v3").write_bytes(b"another version")
    done = build_numbers(tmp_path / "out", Copies(folder=videos))
    assert done["fingerprint"] == fingerprint_of(videos)


# Shares


def share(
    out: Path, builder: Numbers, number: int, count: int, said: list[str] | None = None, **options: Any
) -> dict[str, Any] | Unfinished:
    plan, say = options.pop("plan", plan_of(9)), [].append if said is None else said.append
    settings = build.RunSettings(progress=False, **options)
    run = build.BuildRun(plan, builder, settings, INFO, lambda path, info: None, say)
    return run.run_share(out, WorkShare(number, count))


def packings(out: Path) -> int:
    return (out / ".build" / "journal.jsonl").read_bytes().count(b'"packing"')


@pytest.mark.parametrize("count", [2, 20])
def test_last_share_packs_same_output_as_one_process(count: int, tmp_path: Path) -> None:
    builder, out, said = Numbers(bad=frozenset(["u01"])), tmp_path / "out", list[str]()
    plain = build_numbers(tmp_path / "plain", builder, max_skip=0.5)
    for number in range(count, 0, -1):
        done = share(out, builder, number, count, said, max_skip=0.5)
        assert isinstance(done, Unfinished) == (number > 1)
    assert (done, said, packings(out)) == (plain, [], 1)
    written = [path.relative_to(tmp_path / "plain") for path in (tmp_path / "plain").rglob("*.parquet")]
    for name in (*written, "build.json"):
        assert (out / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    assert not list((out / ".build").glob("lock-*"))
    assert not (out / ".build" / "staging").exists()


def test_packing_waits_for_running_shares(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert share(out, Numbers(), 1, 2) == Unfinished(out, "1/2", 4, 9, "unit")
    with claim(out, wait=lambda text: None) as output:
        lock = output.hold(WorkShare(1, 2))  # again, to try its skips
    try:
        assert share(out, Numbers(), 2, 2) == Unfinished(out, "2/2", 0, 9, "unit", ("1/2",))
        with pytest.raises(OutputError, match="another process is rendering share 1/2"):
            share(out, Numbers(), 1, 2)
        with pytest.raises(OutputError, match="is being built in shares; 1/2 are running"):
            build_numbers(out, Numbers())
    finally:
        lock.release()
    assert share(out, Numbers(), 1, 2) == build_numbers(tmp_path / "plain", Numbers())


def test_too_many_skips_fail_in_last_share(tmp_path: Path) -> None:
    bad = Numbers(bad=frozenset(["u00", "u01"]))
    assert isinstance(share(tmp_path / "out", bad, 1, 2), Unfinished)
    with pytest.raises(BuildError, match="2 of 9 units"):
        share(tmp_path / "out", bad, 2, 2)
    with pytest.raises(BuildError, match="1 of 9 units"):  # the videos were repaired: each tries its own again
        share(tmp_path / "out", Numbers(), 1, 2)
    assert share(tmp_path / "out", Numbers(), 2, 2) == build_numbers(tmp_path / "plain", Numbers())


def test_shares_do_not_mix_versions_of_a_source(videos: Path, tmp_path: Path) -> None:
    out, builder = tmp_path / "out", Copies(folder=videos)
    plan = replace(plan_of(COUNT), units=tuple(replace(unit, source_id="v0") for unit in plan_of(COUNT).units))
    assert isinstance(share(out, builder, 1, 2, plan=plan), Unfinished)
    for path in videos.iterdir():
        path.write_bytes(b"another version of " + path.name.encode())
    with pytest.raises(BuildError, match="replaced while the build ran: v0"):
        share(out, builder, 2, 2, plan=plan)
    done = share(out, builder, 1, 2, plan=plan)
    assert isinstance(done, dict)
    assert done["fingerprint"] == build_numbers(tmp_path / "plain", builder, plan)["fingerprint"]


# Disk space


def test_close_estimate_decides_if_space_may_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(free: float, rough: float, close: float, out: Path = tmp_path / "new" / "out") -> tuple[str, bool]:
        """Check a build against a disk; return what was said, and whether the close estimate was needed."""
        said: list[str] = []
        probed: list[bool] = []
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
        build.check_space(out, lambda probe: (probed.append(probe), close if probe else rough)[1], said.append)
        return " ".join(said), any(probed)

    assert check(100e9, rough=20e9, close=500e9) == ("", False)
    assert check(100e9, rough=60e9, close=70e9) == ("", True)
    assert "80.0 GB" in check(100e9, rough=60e9, close=80e9)[0]  # enough, but within the error
    with pytest.raises(OutputError, match=r"140 GB .*new.out.* 77\.0 GB .*--no-check-space"):
        check(77e9, rough=60e9, close=140e9)
    with pytest.raises(OutputError):
        check(2e6, rough=4e6, close=4e6, out=tmp_path)
    (tmp_path / ".build" / "staging").mkdir(parents=True)  # files of an earlier run count as free
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(4_000_000))
    assert check(2e6, rough=4e6, close=4e6, out=tmp_path) == ("", True)
