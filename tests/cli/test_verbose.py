"""`-v` tells on standard error how long each step took, and changes nothing else."""

import re
from pathlib import Path

from commands import run, succeed

TIME = re.compile(r"^(.+): (\d+\.\d) s$", re.M)


def steps(err: str) -> list[str]:
    return [name for name, _ in TIME.findall(err)]


def test_verbose_times_steps_of_build_and_verify(sample: Path, tmp_path: Path) -> None:
    given = ("--charades", sample, "--limit", 1, "--no-render", "--no-progress")
    build = succeed("stressreel", "build", "clavi", *given, "--out", tmp_path / "out", "-v")
    first, *between, last = steps(build.err)
    assert (first, last) == ("reading the annotations and planning", "stressreel build")
    assert {"packing", "writing the card"} <= set(between)
    verify = succeed("stressreel", "verify", tmp_path / "out", "--verbose")
    for check in ("files", "schema", "counts", "card"):
        assert f"checking {check}" in steps(verify.err)
    assert steps(verify.err)[-1] == "stressreel verify"
    assert not steps(build.out + verify.out)
    assert "\x1b" not in build.out + build.err + verify.err
    quiet = run("stressreel", "verify", tmp_path / "out")
    assert quiet.out == verify.out
    assert not steps(quiet.err)
