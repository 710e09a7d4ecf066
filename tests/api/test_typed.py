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
from stressreel.core.build_options import RunOptions
from stressreel.core.errors import InputError
from stressreel.core.options import options_of
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
from typing_extensions import assert_type
import pandas
flag: bool = input() == "y"
share: str | None = input() or None
assert_type(stressreel.build_clavi(charades="sample", out="a"), stressreel.Output)
assert_type(stressreel.build_causal(annotations="sample", dry_run=True), stressreel.DryRun)
assert_type(stressreel.build_clavi(charades="sample", out="a", shard="1/2"), stressreel.Output | stressreel.Unfinished)
assert_type(stressreel.build_clavi(charades="sample", out="a", shard=share), stressreel.Output | stressreel.Unfinished)
assert_type(
    stressreel.build_clavi(charades="sample", dry_run=flag),
    stressreel.Output | stressreel.DryRun | stressreel.Unfinished,
)
assert_type(stressreel.build("clavi", out="a", charades="sample"), stressreel.Output)
assert_type(stressreel.build("clavi", charades="sample", dry_run=True), stressreel.DryRun)
assert_type(stressreel.build("clavi", out="a", shard="1/2"), stressreel.Output | stressreel.Unfinished)
out = stressreel.read("a")
scores = stressreel.score(out, [{"id": "a", "answer": "yes"}])
stressreel.score("a", {"a": "yes"})
stressreel.score("a", {"id": ["a"], "answer": ["yes"]})
stressreel.score("a", pandas.DataFrame())
stressreel.score("a", out.load("questions"))
stressreel.score("a", 3)
stressreel.compare(scores, "b")
stressreel.score_modalities(out, {"video": "v.jsonl", "text": {"a": "yes"}, "video+text": pandas.DataFrame()})
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
    wrong = SCRIPT.splitlines().index('stressreel.score("a", 3)') + 1
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {3, 5, 7, wrong}, done.stdout
