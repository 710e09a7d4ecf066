"""Functions that are made from settings, and their stub."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stressreel
from stressreel.api import typed
from stressreel.builders import BENCHMARKS, load_benchmark
from stressreel.core.errors import InputError
from stressreel.core.options import RunOptions, options_of
from stubs import stub

ROOT = Path(__file__).parents[2]
STUB = ROOT / "api/typed.pyi"
SCRIPT = """import stressreel
stressreel.build_clavi(charades="sample", out="out/clavi", limit=2)
stressreel.build_clavi(charades="sample", ouf="out/clavi")
stressreel.build_perturbed(msrvtt="sample", severity="1-5", perturbations=["noise", "jpeg"])
stressreel.build_decomp(charades="sample", embed="sometimes")
stressreel.mine("sample", balance="none", tau=0.5)
stressreel.mine("sample", balence="none")
"""


def test_the_stub_is_that_of_the_settings() -> None:
    text = stub([*(getattr(typed, f"build_{name}") for name in sorted(BENCHMARKS)), stressreel.mine])
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN") == "1":
        STUB.write_text(text, encoding="utf-8")
    assert STUB.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_option_is_a_keyword(name: str) -> None:
    function = getattr(stressreel, f"build_{name}")
    wanted = [each.keyword for kind in (load_benchmark(name).settings, RunOptions) for each in options_of(kind)]
    assert list(inspect.signature(function).parameters) == wanted
    assert all(f"    {keyword}: " in function.__doc__ for keyword in wanted)


def test_it_builds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown option 'ouf'"):
        stressreel.build_clavi(charades="sample", ouf=tmp_path)  # type: ignore[call-arg]
    out = stressreel.build_clavi(charades="sample", out=tmp_path / "out", limit=1, workers=1, progress=False)
    assert out is not None
    assert out.info["counts"]["pairs"]


@pytest.mark.full
def test_a_type_checker_finds_a_wrong_keyword(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "stressreel").symlink_to(ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["3", "5", "7"], (
        done.stdout
    )
