"""What builds record is what they are built again from: what is whole passes, and what is not is found or said."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import run, succeed
from stressreel.annotations.samples import cached_sample
from stressreel.api.build import build
from stressreel.api.verify import verify
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.builders.rebuild import RebuiltVideo, Sources, drawn, prepare_again
from stressreel.builders.runtime.verify import Verification
from stressreel.core import shards
from stressreel.core.build_settings import BuildSettings, check_record
from stressreel.core.errors import InputError, UsageError
from stressreel.core.fingerprint import canary_of
from stressreel.core.output import open_output
from stressreel.core.settings import create

CHARADES = ("build-clavi", "--charades", "sample")
TEXT = ("--modality", "text", "--text-perturbations", "typos,no_verbs")
CAPTIONS = "video,caption\nfilm,a man sweeps the red floor\nfilm,a woman throws a pillow\n"
PAIR = {
    "vid_id": "SR0A1",
    "vid_len": "27.00",
    "info": [["c015", "1.50", "5.60"], ["c061", "6.80", "11.20"]],
    "other_actions": [],
    "ext": {"out_a": "1.0", "in_a": "6.0", "in_b": "6.3", "out_b": "11.6"},
}
BUILDS: dict[str, tuple[object, ...]] = {
    "videos": (*CHARADES, "--limit", 2, "--audio", "keep", "--preset", "ultrafast"),
    "given pairs": (*CHARADES, "--pairs", "{folder}/my pairs.json", "--no-render"),
    "captions with spaces": ("build-perturbed", "--captions", "{folder}/my own -- clips.csv", *TEXT),
    "graphs": ("build-decomp", "--charades", "sample", "--limit", 2),
    "sound and quality": (
        *(*CHARADES, "--audio", "keep", "--crf", 30, "--preset", "ultrafast", "--limit", 1),
        *("--max-skip", 0.5, "--allow-missing", "--version", "1.2.3-rc.1"),
    ),
    "suite": (
        *("build-perturbed", "--msrvtt", "sample", "--limit", 2, "--text-perturbations", "typos", "--modality", "all"),
        *("--perturbations", "jpeg,jumble,mpeg1", "--severity", "3,5", "--pairs", "jpeg:typos"),
    ),
    "given combinations": (
        *("build-perturbed", "--msrvtt", "sample", "--modality", "multimodal", "--no-render"),
        *("--pairs", "jpeg:no_verbs,jumble:typos"),
    ),
    "preset": ("build-causal", "--annotations", "sample", "--splits", "UN", "--no-render", "--imitate-release"),
    "own columns and names": (
        *("build-causal", "--annotations", "{folder}/my questions.csv", "--columns", "question=The Question"),
        *("--splits", "UD", "--pool", "all", "--no-render", "--cast", "{folder}/the cast.txt"),
    ),
}
BY_DEFAULT = [*BUILDS][:3]
VIDEOS = tuple(RebuiltVideo("t", "s", (str(n), f"kind {n % 15}"), n, "f") for n in range(200))


@pytest.mark.parametrize("name", benchmark_names())
def test_sample_uses_existing_options(name: str) -> None:
    benchmark = load_benchmark(name)
    assert benchmark.sample
    assert isinstance(create(benchmark.settings, benchmark.sample), BuildSettings)


def test_unknown_name_suggests_a_benchmark() -> None:
    with pytest.raises(InputError, match=r"'clavy'.* 'clavi'\? .*perturbed"):
        load_benchmark("clavy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with spaces in their names."""
    made = tmp_path_factory.mktemp("my files")
    (made / "my pairs.json").write_text(json.dumps({"0a0b0c0d": PAIR}))
    (made / "my own -- clips.csv").write_text(CAPTIONS)
    (made / "the cast.txt").write_text("Fred\n")
    table = (cached_sample("causal-annotations") / "Annotations.csv").read_text(encoding="utf-8")
    (made / "my questions.csv").write_text(table.replace(",Question,", ",The Question,", 1), encoding="utf-8")
    return made


@pytest.mark.parametrize("name", [n if n in BY_DEFAULT else pytest.param(n, marks=pytest.mark.full) for n in BUILDS])
def test_builds_verify_with_every_kind_of_option(name: str, folder: Path, build_once: Callable[..., Path]) -> None:
    command, *options = (str(word).format(folder=folder) for word in BUILDS[name])
    if command == "build-causal":
        pytest.importorskip("sentence_transformers")
    out = build_once(command, *options)
    benchmark = load_benchmark(command.removeprefix("build-"))
    assert list(check_record(open_output(out).info, benchmark.program, benchmark.settings, benchmark.decide)) == []
    own = any(str(folder) in option for option in options)
    sources = "sample" if "sample" in options else folder
    report = verify(out, sources=sources, annotations=folder if own else None, sample="all", workers=1)
    assert not report.failed, str(report)
    checks = {"rows", "record", *(("videos", "figures") if name == "videos" else ())}
    assert checks <= {outcome.name for outcome in report.outcomes}


def test_record_does_not_depend_on_input_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, elsewhere = tmp_path / "a", tmp_path / "b" / "my files"
    own.mkdir()
    (own / "clips.csv").write_text(CAPTIONS)
    (own / "own.bib").write_text("@misc{own, title = {Own}}\n")
    shutil.copytree(own, elsewhere)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("HOME", str(elsewhere))
    records = []
    for number, place in enumerate((f"{own}/", "", "~/", f"{own}/../b/my files/")):
        given = ("--captions", f"{place}clips.csv", "--cite", f"{place}own.bib", *TEXT)
        succeed("build-perturbed", *given, "--no-progress", "--out", tmp_path / f"out{number}")
        records.append((tmp_path / f"out{number}" / "build.json").read_text())
    assert len(set(records)) == 1
    assert str(tmp_path) not in records[0]


def problems(report: Verification) -> dict[str, tuple[str, ...]]:
    return {outcome.name: outcome.problems for outcome in report.outcomes if outcome.problems}


def change(out: Path, **values: Any) -> None:
    file = out / "build.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")


@pytest.fixture
def clavi(build_once: Callable[..., Path], tmp_path: Path) -> Path:
    """An output without videos that may be changed."""
    return shutil.copytree(build_once(*CHARADES, "--no-render", "--limit", 2), tmp_path / "clavi")


def test_other_division_into_shards_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
    build("clavi", charades="sample", out=tmp_path / "out", render=False, progress=False, workers=1)
    assert len(list((tmp_path / "out" / "questions").iterdir())) > 3
    assert not problems(verify(tmp_path / "out", sources="sample"))
    monkeypatch.setattr(shards, "SHARD_BYTES", 12_000)
    assert "shards do not start" in problems(verify(tmp_path / "out", sources="sample"))["hashes"][0]


def test_changed_entries_of_build_json_are_reported(clavi: Path) -> None:
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


def test_other_tool_versions_count_as_unverified(build_once: Callable[..., Path], tmp_path: Path) -> None:
    clavi = Path(shutil.copytree(build_once(*BUILDS["videos"]), tmp_path / "clavi"))
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
    charades = cached_sample("charades")
    out = build_once("build-clavi", "--charades", charades, "--no-render", "--limit", 2)
    report = verify(out, sources=tmp_path)
    assert report.failed
    assert "the input of --charades was not found" in str(report)
    assert not verify(out, charades=charades).failed
    assert not verify(out, annotations=charades).failed
    for given in ({"charade": "x"}, {"crf": 99}, {"wording": "natural"}):  # would replace what is recorded
        with pytest.raises(UsageError, match=next(iter(given))):
            verify(out, **given)
    assert "--charades-sta is not" not in run("stressreel", "verify", out, "--charades-sta", tmp_path).err


def test_sample_starts_with_two_of_each_kind() -> None:
    assert drawn(VIDEOS[:60], None, 1) == list(VIDEOS[:60])
    assert drawn(VIDEOS, "all", 1) == list(VIDEOS)
    found = drawn(VIDEOS, None, 1)
    assert len(found) == 30
    assert {video.key[1] for video in found} == {video.key[1] for video in VIDEOS}
    assert len(drawn(VIDEOS, 7, 1)) == 7
    assert drawn(VIDEOS, None, 1) == found != drawn(VIDEOS, None, 2)
