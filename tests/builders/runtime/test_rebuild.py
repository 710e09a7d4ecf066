"""Outputs built again: what is found of them, what is said where that cannot be, and that what is whole passes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.samples.cache import cached_sample
from stressreel.api.build import build
from stressreel.api.verify import verify
from stressreel.builders import load_benchmark
from stressreel.builders.rebuilt import Sources, prepare_again
from stressreel.builders.runtime import pack
from stressreel.builders.runtime.rebuild import Again, Rebuild, Video, drawn
from stressreel.builders.runtime.verify import Verification
from stressreel.core.errors import UsageError
from stressreel.core.output import open_output
from stressreel.core.shards import shard_path

SUITE = ("--modality", "all", "--perturbations", "jpeg,jumble,mpeg1", "--severity", "3,5", "--pairs", "jpeg:typos")
SMALL: dict[str, tuple[object, ...]] = {
    "clavi": ("--charades", "sample", "--limit", 2, "--audio", "keep", "--preset", "ultrafast"),
    "perturbed": ("--msrvtt", "sample", "--limit", 2, "--text-perturbations", "typos", *SUITE),
    "decomp": ("--charades", "sample", "--limit", 2),
}


@pytest.fixture(scope="module", params=SMALL)
def small(request: pytest.FixtureRequest, build_once: Callable[..., Path]) -> Path:
    return build_once(f"build-{request.param}", *SMALL[request.param])


@pytest.fixture
def clavi(build_once: Callable[..., Path], tmp_path: Path) -> Path:
    """An output that may be changed."""
    return shutil.copytree(build_once("build-clavi", *SMALL["clavi"]), tmp_path / "clavi")


def prepared(out: Path) -> Rebuild:
    output = open_output(out)
    found = prepare_again(output, load_benchmark(output.info["builder"]), Sources())
    assert isinstance(found, tuple), found
    return Rebuild(found[0].plan, found[0].builder, None, found[1], found[1]["tools"], Again())


def problems(report: Verification) -> dict[str, tuple[str, ...]]:
    return {outcome.name: outcome.problems for outcome in report.outcomes if outcome.problems}


def change(out: Path, **values: Any) -> None:
    file = out / "build.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")


class TestWhole:
    def test_it_passes(self, small: Path) -> None:
        report = verify(small, sources="sample", sample="all")
        assert not report.failed, str(report)
        assert {"rows", "record", "videos", "figures"} <= {outcome.name for outcome in report.outcomes}

    def test_several_shards_begin_where_a_build_begins_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(pack, "SHARD_BYTES", 9000)
        build("clavi", charades="sample", out=tmp_path / "out", render=False, progress=False, workers=1)
        assert len(list((tmp_path / "out" / "questions").iterdir())) > 3
        assert not problems(verify(tmp_path / "out", sources="sample"))
        monkeypatch.setattr(pack, "SHARD_BYTES", 12_000)
        assert "shards do not begin" in problems(verify(tmp_path / "out", sources="sample"))["rows"][0]


class TestRecord:
    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"skips": {"count": 0, "by_reason": {}, "list": [], "more": 1}}, "skips.more"),
            ({"notes": {}}, "notes"),
            ({"inputs": {}}, "inputs"),
            ({"license": "mit"}, "license"),
            ({"split": "test"}, "split"),
            ({"plan_sha256": "0" * 64}, "plan_sha256"),
        ],
    )
    def test_what_no_build_writes_is_told(self, clavi: Path, values: dict[str, Any], words: str) -> None:
        change(clavi, **values)
        report = verify(clavi, sources="sample")
        assert report.failed
        assert words in str(report)


class TestNotVerified:
    def test_other_tools_leave_it_unverified_unless_that_is_allowed(self, clavi: Path) -> None:
        plan = prepared(clavi).plan
        tools = {**plan.identity["tools"], "av": "9.9"}
        change(clavi, tools=tools, plan_sha256=replace(plan, identity={**plan.identity, "tools": tools}).hash)
        report = verify(clavi, sources="sample", sample=1, seed=5)
        assert report.failed
        assert not problems(report).keys() - {"card", "croissant"}
        assert "av 9.9" in str(report)
        assert "--allow-unverified tools" in report.closing()
        allowed = verify(clavi, sources="sample", sample=1, seed=5, allow_unverified=["tools"])
        assert not any(outcome.unverified for outcome in allowed.outcomes)

    def test_another_version_of_stressreel_is_named_with_how_to_get_it(self, clavi: Path) -> None:
        tools = json.loads((clavi / "build.json").read_text("utf-8"))["tools"]
        change(clavi, tools={**tools, "stressreel": "0.0.7"})
        report = verify(clavi, sources="sample")
        assert report.failed
        assert "pip install stressreel==0.0.7" in str(report)
        assert "rows" not in {outcome.name for outcome in report.outcomes}

    def test_inputs_that_are_nowhere_are_asked_for(self, build_once: Callable[..., Path], tmp_path: Path) -> None:
        out = build_once("build-clavi", "--charades", cached_sample("charades"), "--no-render")
        report = verify(out, sources=tmp_path)
        assert report.failed
        assert "--charades named is not here" in str(report)
        assert not verify(out, inputs={"charades": cached_sample("charades")}).failed
        assert not verify(out, annotations=cached_sample("charades")).failed

    def test_an_option_that_is_none_is_named(self, clavi: Path) -> None:
        with pytest.raises(UsageError, match="--charade is an option of neither verify nor build-clavi"):
            verify(clavi, inputs={"charade": "x"})
        with pytest.raises(UsageError, match="crf"):
            verify(clavi, inputs={"crf": 99})


class TestDraw:
    videos = tuple(Video(str(n), (f"t{n % 15}",), Path(shard_path("t", "s", 0, 1)), n, n, "f") for n in range(200))

    def test_few_are_all_taken(self) -> None:
        assert drawn(self.videos[:60], None, 1) == list(self.videos[:60])
        assert drawn(self.videos, "all", 1) == list(self.videos)

    def test_two_of_each_kind_come_first(self) -> None:
        found = drawn(self.videos, None, 1)
        assert len(found) == 30
        assert {video.kind for video in found} == {video.kind for video in self.videos}
        assert len(drawn(self.videos, 7, 1)) == 7
