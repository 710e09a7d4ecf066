"""A builder of tests: a small file and three rows for each unit; and its builds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stressreel.builders.runtime import build
from stressreel.builders.runtime.executors import Executor, Inline
from stressreel.builders.runtime.output import claim
from stressreel.core.errors import VideoError
from stressreel.core.files import sha256_file
from stressreel.core.plan import Facts, Plan, Skip, Unit
from stressreel.core.schema import Column, Config, Row

NUMBERS = Config("numbers", "numbers", (Column("id", "string", "id"), Column("number", "int32", "n")), default=True)
CLIPS = Config(
    "clips",
    "clips",
    (Column("id", "string", "id"), Column("sha256", "string", "of `video`"), Column("video", "video", "v")),
)
INFO = {"builder": "numbers", "dataset_version": "1.0.0"}


@dataclass(frozen=True)
class Numbers:
    """Writes a file of `size` bytes for each unit, and three rows about it."""

    size: int = 1000
    bad: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    calls: list[str] = field(default_factory=list)

    def renders(self, unit: Unit) -> bool:
        return True

    def missing(self, unit: Unit) -> Skip | None:
        return None

    def stamp(self, unit: Unit) -> str:
        return "same"

    def render(self, unit: Unit, folder: Path) -> Facts:
        assert list(folder.iterdir()) == []
        if unit.id in self.bad:
            raise VideoError("undecodable", f"{unit.id} is broken")
        if unit.id in self.failing:
            raise ValueError("out of luck")
        file = folder / "clip.mp4"
        file.write_bytes(unit.id.encode() * self.size)
        return {"files": {"clip.mp4": file.stat().st_size}, "sha256": sha256_file(file)}

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        self.calls.append(unit.id)
        for number in range(2):
            yield "numbers", {"id": f"{unit.id}_{number}", "number": number}
        yield "clips", {"id": unit.id, "sha256": facts["sha256"], "video": "clip.mp4"}


def plan_of(count: int) -> Plan:
    units = [Unit(f"u{n:02d}", ("train", "test")[n % 3 == 0], f"v{n}", {}, float(n % 4)) for n in range(count)]
    return Plan("numbers", {"settings": {}}, tuple(units), (NUMBERS, CLIPS))


def build_numbers(
    out: Path,
    builder: Numbers,
    plan: Plan | None = None,
    executor: Executor | None = None,
    *,
    fresh: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Build in a folder, from where it was left; return the content of `build.json`."""
    how = build.RunSettings(executor or Inline(), progress=False, **options)
    run = build.BuildRun(plan or plan_of(9), builder, how, INFO, lambda path, info: None, lambda text: None)
    with claim(out) as output:
        return run.run(output, fresh=fresh)
