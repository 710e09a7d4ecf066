"""Outputs built again: what is found of them, what is said where that cannot be, and that what is whole passes."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import run
from stressreel.annotations.samples import cached_sample
from stressreel.api.build import build
from stressreel.api.verify import verify
from stressreel.builders import load_benchmark
from stressreel.builders.rebuild import RebuiltVideo, Sources, drawn, prepare_again
from stressreel.builders.runtime.verify import Verification
from stressreel.core import shards
from stressreel.core.errors import UsageError
from stressreel.core.fingerprint import canary_of
from stressreel.core.output import open_output

SUITE = ("--modality", "all", "--perturbations", "jpeg,jumble,mpeg1", "--severity", "3,5", "--pairs", "jpeg:typos")
SMALL: dict[str, tuple[object, ...]] = {
    "clavi": ("--charades", "sample", "--limit", 2, "--audio", "keep", "--preset", "ultrafast"),
    "perturbed": ("--msrvtt", "sample", "--limit", 2, "--text-perturbations", "typos", *SUITE),
    "decomp": ("--charades", "sample", "--limit", 2),
}
VIDEOS = tuple(RebuiltVideo("t", "s", (str(n), f"kind {n % 15}"), n, "f") for n in range(200))


@pytest.fixture
def clavi(build_once: Callable[..., Path], tmp_path: Path) -> Path:
    """An output that may be changed."""
    return shutil.copytree(build_once("build-clavi", *SMALL["clavi"]), tmp_path / "clavi")


def problems(report: Verification) -> dict[str, tuple[str, ...]]:
    return {outcome.name: outcome.problems for outcome in report.outcomes if outcome.problems}


def change(out: Path, **values: Any) -> None:
    file = out / "build.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")


@pytest.mark.parametrize("name", ["clavi", *(pytest.param(n, marks=pytest.mark.full) for n in ("perturbed", "decomp"))])
def test_verify_passes_on_builds(name: str, build_once: Callable[..., Path]) -> None:
    report = verify(build_once(f"build-{name}", *SMALL[name]), sources="sample", sample="all", workers=1)
    assert not report.failed, str(report)
    assert {"rows", "record", "videos", "figures"} <= {outcome.name for outcome in report.outcomes}


def test_other_division_into_shards_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
    build("clavi", charades="sample", out=tmp_path / "out", render=False, progress=False, workers=1)
    assert len(list((tmp_path / "out" / "questions").iterdir())) > 3
    assert not problems(verify(tmp_path / "out", sources="sample"))
    monkeypatch.setattr(shards, "SHARD_BYTES", 12_000)
    assert "shards do not start" in problems(verify(tmp_path / "out", sources="sample"))["hashes"][0]


def test_changed_entries_of_build_json_are_reported(build_once: Callable[..., Path], tmp_path: Path) -> None:
    plain = ("build-clavi", "--charades", "sample", "--no-render", "--limit", 2)
    clavi = Path(shutil.copytree(build_once(*plain), tmp_path / "clavi"))
    skip = {"unit_id": "u", "source_id": "S", "reason": "undecodable", "detail": "d"}
    skips = {"count": 1, "by_reason": {"undecodable": 1}, "list": [skip], "more": 1}
    changes: tuple[dict[str, Any], ...] = (
        {"skips": skips, "license": "mit", "split": "test", "plan_sha256": "0" * 64},
        {"notes": {}},
        {"inputs": {}},
    )
    whole = json.loads((clavi / "build.json").read_text("utf-8"))
    for values in changes:  # apart, as a check names its first ten problems
        change(clavi, **{**whole, **values})
        found = str(problems(verify(clavi, sources="sample", decode=False))["record"])
        assert [name for name in values if name not in found] == []
        assert "skips" not in values or "skips.more" in found


def test_other_tool_versions_count_as_unverified(clavi: Path) -> None:
    prepared = prepare_again(open_output(clavi), load_benchmark("clavi"), Sources())
    assert isinstance(prepared, tuple), prepared
    plan = prepared[0].plan
    tools = {**plan.identity["tools"], "av": "9.9"}
    digest = replace(plan, identity={**plan.identity, "tools": tools}).hash
    change(clavi, tools=tools, plan_sha256=digest, canary=canary_of(digest))
    report = verify(clavi, sources="sample", sample=1, seed=5)
    assert report.failed
    assert not problems(report).keys() - {"schema", "written", "card", "croissant"}
    assert "av 9.9" in str(report)
    assert "--allow-unverified tools" in report.closing()
    allowed = verify(clavi, sources="sample", decode=False, allow_unverified=["tools"])
    assert not any(outcome.unverified for outcome in allowed.outcomes)
    change(clavi, tools={**tools, "stressreel": "0.0.7"})
    report = verify(clavi, sources="sample", decode=False)
    assert report.failed
    assert "pip install stressreel==0.0.7" in str(report)
    assert "rows" not in {outcome.name for outcome in report.outcomes}


def test_missing_inputs_are_requested(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-clavi", "--charades", cached_sample("charades"), "--no-render", "--limit", 2)
    report = verify(out, sources=tmp_path)
    assert report.failed
    assert "the input of --charades was not found" in str(report)
    assert not verify(out, charades=cached_sample("charades")).failed
    assert not verify(out, annotations=cached_sample("charades")).failed
    with pytest.raises(UsageError, match="--charade is not an option of verify"):
        verify(out, charade="x")
    with pytest.raises(UsageError, match="crf"):
        verify(out, crf=99)
    with pytest.raises(UsageError, match="wording is not"):  # would replace what is recorded
        verify(out, wording="natural")
    assert "--charades-sta is not" not in run("stressreel", "verify", out, "--charades-sta", tmp_path).err


def test_sample_starts_with_two_of_each_kind() -> None:
    assert drawn(VIDEOS[:60], None, 1) == list(VIDEOS[:60])
    assert drawn(VIDEOS, "all", 1) == list(VIDEOS)
    found = drawn(VIDEOS, None, 1)
    assert len(found) == 30
    assert {video.key[1] for video in found} == {video.key[1] for video in VIDEOS}
    assert len(drawn(VIDEOS, 7, 1)) == 7
    assert drawn(VIDEOS, None, 1) == found != drawn(VIDEOS, None, 2)
