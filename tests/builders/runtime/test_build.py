"""Builds resume, notice changed sources, and can be divided into shares."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from commands import run, start_python
from failing_units import Failing
from number_units import INFO, Numbers, build_numbers, plan_of
from stressreel.builders.runtime import build
from stressreel.builders.runtime.executors import Executor, Inline, Processes
from stressreel.builders.runtime.output import BuildJournal, claim
from stressreel.core import shards
from stressreel.core.build_settings import Unfinished, WorkShare
from stressreel.core.errors import BuildError, InputError, OutputError, VideoError
from stressreel.core.files import file_stamp, sha256_file
from stressreel.core.plan import BuildEstimate, Facts, PartEstimate, Skip, Unit


def test_missing_videos_do_not_count_towards_max_skip() -> None:
    missing = [Skip(f"u{n:02d}", f"v{n}", "missing_video", "it is not there") for n in range(5)]
    skips = [*missing, Skip("u05", "v5", "undecodable", "it is broken")]
    build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.2, allow_missing=True))
    with pytest.raises(BuildError, match=r"1 of 5 units \(20.0%\) had to be skipped"):
        build.check_skips(plan_of(10), skips, build.RunSettings(max_skip=0.19, allow_missing=True))


def test_files_are_synced_before_their_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_videos_without_times_are_named_in_the_output(tmp_path: Path, bars: Any) -> None:
    bars.write(tmp_path / "raw.h264", frames=12, rate=Fraction(25)).rename(tmp_path / "raw.mp4")
    bars.write(tmp_path / "timed.avi", frames=12, rate=Fraction(25))
    (tmp_path / "c.csv").write_text("video,caption\nraw,a dog runs\ntimed,a cat sits\n")
    given = ("--captions", tmp_path / "c.csv", "--videos", tmp_path, "--perturbations", "freeze", "--severity", 1)
    done = run("build-perturbed", *given, "--workers", 1, "--out", tmp_path / "o")
    assert done.code == 0, done.err
    assert "nominal rate: raw\n" in done.out
    info = json.loads((tmp_path / "o" / "build.json").read_text())
    assert info["notes"]["videos_without_times"] == ["raw"]
    assert "nominal rate:\nraw.\n" in (tmp_path / "o" / "README.md").read_text()
    checked = run("stressreel", "verify", tmp_path / "o", "--sources", tmp_path, "--no-decode").out
    assert "ok    record" in checked, checked
    assert "ok    card" in checked, checked


COUNT = 9


@dataclass(frozen=True)
class Copies(Numbers):
    """Copies one file per unit. While unit `trigger` is rendered, `change` is applied to the folder of the sources."""

    folder: Path = Path()
    trigger: str = ""
    change: str = ""

    def stamp(self, unit: Unit) -> str:
        return file_stamp(self.folder / unit.source_id)

    def missing(self, unit: Unit) -> Skip | None:
        there = (self.folder / unit.source_id).is_file()
        return None if there else Skip(unit.id, unit.source_id, "missing_video", "it is missing")

    def render(self, unit: Unit, folder: Path) -> Facts:
        if unit.id == self.trigger:
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


def away(folder: Path) -> Path:
    return folder.with_name("away")


CHANGES: dict[str, Callable[[Path, str], object]] = {
    "": lambda folder, source: None,
    "rename": lambda folder, source: folder.rename(away(folder)),
    "unmount": lambda folder, source: folder.rename(away(folder)),
    "delete": lambda folder, source: (folder / source).unlink(),
    "replace": lambda folder, source: (folder / source).write_bytes(b"another version"),
    "truncate": lambda folder, source: (folder / source).write_bytes(b""),
    "replace another": lambda folder, source: (folder / "v0").write_bytes(b"another version"),
}


def write_sources(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(COUNT):
        (folder / f"v{n}").write_bytes(b"v%d" % n)
    return folder


def fingerprint_of(tmp_path: Path) -> str:
    """Return the fingerprint of a build of the sources as they are now."""
    done = build_numbers(tmp_path / "plain", Copies(folder=tmp_path / "videos"), plan_of(COUNT))
    return str(done["fingerprint"])


@pytest.mark.parametrize(
    ("change", "executor", "allow_missing"),
    [
        *((change, Inline(), allowed) for change in CHANGES if change for allowed in (False, True)),
        ("rename", Processes(2), False),
        ("replace", Processes(2), False),
    ],
)
def test_build_fails_and_rerun_continues(change: str, executor: Executor, allow_missing: bool, tmp_path: Path) -> None:
    out, folder = tmp_path / "out", write_sources(tmp_path / "videos")
    builder = Copies(folder=folder, trigger="u05", change=change)
    with pytest.raises(BuildError, match=r"vanished|replaced") as failed:
        build_numbers(out, builder, plan_of(COUNT), executor, allow_missing=allow_missing)
    assert ("v0" if change == "replace another" else "v") in str(failed.value)
    assert not (out / "build.json").exists()
    if away(folder).exists():
        away(folder).rename(folder)
    if change == "delete":
        write_sources(folder)
    done = build_numbers(out, replace(builder, change=""), plan_of(COUNT), executor)
    assert done["skips"]["count"] == 0
    assert done["fingerprint"] == fingerprint_of(tmp_path)


def test_temporarily_unreadable_video_is_not_skipped_as_missing(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Flickering(Copies):
        def render(self, unit: Unit, folder: Path) -> Facts:
            raise VideoError("unreadable_video", f"{unit.source_id}: Input/output error")

    builder = Flickering(folder=write_sources(tmp_path / "videos"))
    with pytest.raises(BuildError, match=r"v[0-9]: Input/output error"):
        build_numbers(tmp_path / "out", builder, plan_of(COUNT), allow_missing=True)


def test_unreadable_object_is_skipped_only_with_allow_missing(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Damaged(Copies):
        def render(self, unit: Unit, folder: Path) -> Facts:
            if unit.id == "u03":
                raise VideoError("unreadable_object", "v3: no moov atom")
            return super().render(unit, folder)

    builder = Damaged(folder=write_sources(tmp_path / "videos"))
    with pytest.raises(InputError, match="v3: no moov atom"):
        build_numbers(tmp_path / "out", builder, plan_of(COUNT), max_skip=1.0)
    done = build_numbers(tmp_path / "out", builder, plan_of(COUNT), allow_missing=True, max_skip=0.0)
    assert done["skips"]["by_reason"] == {"unreadable_object": 1}


def test_resume_renders_units_of_a_replaced_source_again(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class FailingLast(Copies):
        def render(self, unit: Unit, folder: Path) -> Facts:
            if unit.id == "u08":
                raise ValueError("out of luck")
            return super().render(unit, folder)

    folder, out = write_sources(tmp_path / "videos"), tmp_path / "out"
    with pytest.raises(BuildError, match="failed unexpectedly"):
        build_numbers(out, FailingLast(folder=folder), plan_of(COUNT))
    (folder / "v3").write_bytes(b"another version")
    done = build_numbers(out, Copies(folder=folder), plan_of(COUNT))
    assert done["fingerprint"] == fingerprint_of(tmp_path)


ONE = """
import sys
from dataclasses import dataclass
from pathlib import Path
from commands import start_python
from failing_units import Failing
from test_build import share
marks, out, number, count, fault, seconds = sys.argv[1:]
share(Path(out), Failing(marks=Path(marks), fault=fault, unit="u06", seconds=float(seconds)), int(number), int(count))
"""


def share(
    out: Path, builder: Numbers, number: int, count: int, said: list[str] | None = None, **options: Any
) -> dict[str, Any] | Unfinished:
    plan, say = options.pop("plan", plan_of(9)), [].append if said is None else said.append
    settings = build.RunSettings(progress=False, **options)
    run = build.BuildRun(plan, builder, settings, INFO, lambda path, info: None, say)
    return run.run_share(out, WorkShare(number, count))


def shard_bytes(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.parquet")}


def start(marks: Path, out: Path, number: int, count: int, fault: str = "", seconds: float = 0) -> Any:
    """Start a share in a process of its own."""
    support = str(Path(__file__).parents[2] / "support")
    path = os.pathsep.join([support, str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    return start_python(ONE, marks, out, number, count, fault, seconds, env=environment)


def packings(out: Path) -> int:
    return (out / ".build" / "journal.jsonl").read_bytes().count(b'"packing"')


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.mark.parametrize("count", [2, 20])
def test_last_share_packs_same_output_as_one_process(count: int, tmp_path: Path) -> None:
    plain = build_numbers(tmp_path / "plain", Numbers(bad=frozenset(["u01"])), max_skip=0.5)
    out = tmp_path / "out"
    for number in range(count, 0, -1):
        said: list[str] = []
        done = share(out, Numbers(bad=frozenset(["u01"])), number, count, said, max_skip=0.5)
        assert isinstance(done, Unfinished) == (number > 1)
        assert said == []
    assert done == plain
    assert shard_bytes(out) == shard_bytes(tmp_path / "plain")
    assert (out / "build.json").read_bytes() == (tmp_path / "plain" / "build.json").read_bytes()
    assert packings(out) == 1
    assert not list((out / ".build").glob("lock-*"))
    assert not (out / ".build" / "staging").exists()


@pytest.mark.full
def test_killed_share_resumes(tmp_path: Path, marks: Path) -> None:
    out = tmp_path / "out"
    own = [unit.id for unit in WorkShare(1, 2).of(plan_of(9).units)]
    victim = start(marks, out, 1, 2, "kill")
    victim.communicate()
    builder = Failing(marks=marks)
    assert victim.returncode == -9
    journal = out / ".build" / "journal-1-of-2.jsonl"
    with open(journal, "ab") as file:
        file.write(b'{"facts": {"half')  # a line that the kill cut off
    before = {name: builder.begun(name) for name in own}
    receipts = [json.loads(line)["unit"] for line in journal.read_bytes().splitlines()[:-1]]
    assert receipts
    rest = share(out, builder, 2, 2)
    assert isinstance(rest, Unfinished)
    assert (rest.remaining, rest.running) == (len(own) - len(set(receipts)), ())
    done = share(out, builder, 1, 2)
    assert done == build_numbers(tmp_path / "plain", Numbers())
    assert {name for name in own if builder.begun(name) > before[name]} == set(own) - set(receipts)


@pytest.mark.full
def test_shares_that_finish_at_once_pack_once(tmp_path: Path, marks: Path) -> None:
    out = tmp_path / "out"
    running = [start(marks, out, number, 3, seconds=0.05) for number in (1, 2, 3)]
    for process in running:
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert json.loads((out / "build.json").read_text()) == build_numbers(tmp_path / "plain", Numbers())
    assert packings(out) == 1
    assert len(list(marks.iterdir())) == 9  # every unit once


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


def test_another_share_resumes_interrupted_packing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    share(out, Numbers(), 1, 2)

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build, "pack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            share(out, Numbers(), 2, 2)
    builder = Numbers(failing=frozenset(unit.id for unit in plan_of(9).units))  # nothing is rendered again
    assert share(out, builder, 1, 2) == build_numbers(tmp_path / "plain", Numbers())


def test_too_many_skips_fail_in_last_share(tmp_path: Path) -> None:
    bad = Numbers(bad=frozenset(["u00", "u01"]))
    assert isinstance(share(tmp_path / "out", bad, 1, 2), Unfinished)
    with pytest.raises(BuildError, match="2 of 9 units"):
        share(tmp_path / "out", bad, 2, 2)
    with pytest.raises(BuildError, match="1 of 9 units"):  # the videos were repaired: each tries its own again
        share(tmp_path / "out", Numbers(), 1, 2)
    assert share(tmp_path / "out", Numbers(), 2, 2) == build_numbers(tmp_path / "plain", Numbers())


@pytest.mark.parametrize("one_source", [True, False])
def test_shares_do_not_mix_versions_of_a_source(one_source: bool, tmp_path: Path) -> None:
    folder, out, plan = write_sources(tmp_path / "videos"), tmp_path / "out", plan_of(COUNT)
    if one_source:
        plan = replace(plan, units=tuple(replace(unit, source_id="v0") for unit in plan.units))
    builder = Copies(folder=folder)
    assert isinstance(share(out, builder, 1, 2, plan=plan), Unfinished)
    for path in folder.iterdir():
        path.write_bytes(b"another version of " + path.name.encode())
    with pytest.raises(
        BuildError, match="replaced while the build ran: v0" if one_source else "replaced while the build ran: v[0-9]"
    ):
        share(out, builder, 2, 2, plan=plan)
    done = share(out, builder, 1, 2, plan=plan)
    assert isinstance(done, dict)
    assert done["fingerprint"] == build_numbers(tmp_path / "plain", builder, plan)["fingerprint"]


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, bool]]:
    """Check a build against a disk; return what was said, and whether the close estimate was needed."""

    def check(free: float, rough: float, close: float, out: Path = tmp_path / "new" / "out") -> tuple[str, bool]:
        said: list[str] = []
        probed: list[bool] = []
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))

        def needs(probe: bool) -> float:
            probed.append(probe)
            return close if probe else rough

        build.check_space(out, needs, said.append)
        return " ".join(said), any(probed)

    return check


def test_close_estimate_decides_if_space_may_lack(space: Callable[..., Any]) -> None:
    assert space(100e9, rough=20e9, close=500e9) == ("", False)
    assert space(100e9, rough=60e9, close=70e9) == ("", True)
    warning, _ = space(100e9, rough=60e9, close=80e9)  # enough, but within the error
    assert "80.0 GB" in warning
    with pytest.raises(OutputError, match=r"140 GB .*new.out.* 77\.0 GB .*--no-check-space"):
        space(77e9, rough=60e9, close=140e9)


def test_files_of_earlier_run_count_as_free(space: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        space(2e6, rough=4e6, close=4e6, out=tmp_path)
    (tmp_path / ".build" / "staging").mkdir(parents=True)
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(4_000_000))
    assert space(2e6, rough=4e6, close=4e6, out=tmp_path) == ("", True)


@pytest.mark.parametrize(("free", "lacks"), [(2e9, True), (9e9, False)])
def test_dry_run_shows_sizes_and_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, lacks: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    parts = tuple(PartEstimate(*level, 10**9, 60) for level in (("clean", 0), ("jpeg", 1), ("jpeg", 3)))
    lines = build.in_words(BuildEstimate(3 * 10**9, 35 * 10**8, 3600, "from samples", parts), tmp_path)
    assert ["jpeg", "2.00", "GB", "02:00", "1.00", "GB", "1.00", "GB"] in [line.split() for line in lines]
    assert "  about 3.00 GB and 1:00:00 of CPU" in lines
    assert ("not enough" in lines[-1]) is lacks
