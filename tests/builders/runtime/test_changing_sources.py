"""Source videos that vanish or are replaced while a build runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from number_units import INFO, Numbers, build_numbers, plan_of
from stressreel.builders.runtime import build
from stressreel.builders.runtime.executor import Executor, Inline, Processes
from stressreel.core.errors import BuildError, InputError, VideoError
from stressreel.core.files import file_stamp, sha256_file
from stressreel.core.plan import Facts, Plan, Skip, Unit
from stressreel.core.share import Unfinished, WorkShare

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


def test_video_that_cannot_be_opened_for_a_moment_is_no_missing_one(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Flickering(Copies):
        def render(self, unit: Unit, folder: Path) -> Facts:
            raise VideoError("unreadable_video", f"{unit.source_id}: Input/output error")

    builder = Flickering(folder=write_sources(tmp_path / "videos"))
    with pytest.raises(BuildError, match=r"v[0-9]: Input/output error"):
        build_numbers(tmp_path / "out", builder, plan_of(COUNT), allow_missing=True)


def test_unreadable_object_counts_as_missing_only_if_that_is_allowed(tmp_path: Path) -> None:
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


def share(out: Path, builder: Numbers, number: int, plan: Plan) -> dict[str, Any] | Unfinished:
    options = build.RunSettings(progress=False)
    return build.run_share(
        plan, builder, out, WorkShare(number, 2), options,
        info=INFO, write_card=lambda path, info: None, say=lambda text: None,
    )  # fmt: skip


@pytest.mark.parametrize("one_source", [True, False])
def test_shares_do_not_mix_versions_of_a_source(one_source: bool, tmp_path: Path) -> None:
    folder, out, plan = write_sources(tmp_path / "videos"), tmp_path / "out", plan_of(COUNT)
    if one_source:
        plan = replace(plan, units=tuple(replace(unit, source_id="v0") for unit in plan.units))
    builder = Copies(folder=folder)
    assert isinstance(share(out, builder, 1, plan), Unfinished)
    for path in folder.iterdir():
        path.write_bytes(b"another version of " + path.name.encode())
    with pytest.raises(
        BuildError, match="replaced while the build ran: v0" if one_source else "replaced while the build ran: v[0-9]"
    ):
        share(out, builder, 2, plan)
    done = share(out, builder, 1, plan)
    assert isinstance(done, dict)
    assert done["fingerprint"] == build_numbers(tmp_path / "plain", builder, plan)["fingerprint"]


def test_resume_renders_units_of_a_replaced_source_again(tmp_path: Path) -> None:
    folder, out = write_sources(tmp_path / "videos"), tmp_path / "out"
    with pytest.raises(BuildError, match="failed unexpectedly"):
        build_numbers(out, _failing(folder), plan_of(COUNT))
    (folder / "v3").write_bytes(b"another version")
    done = build_numbers(out, Copies(folder=folder), plan_of(COUNT))
    assert done["fingerprint"] == fingerprint_of(tmp_path)
    shutil.rmtree(folder)


def _failing(folder: Path) -> Numbers:
    @dataclass(frozen=True)
    class Failing(Copies):
        def render(self, unit: Unit, folder: Path) -> Facts:
            if unit.id == "u08":
                raise ValueError("out of luck")
            return super().render(unit, folder)

    return Failing(folder=folder)
