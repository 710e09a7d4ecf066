"""A benchmark of another package, once installed, has everything that ours have, without an edit elsewhere."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import refuses, rows, run, run_json, run_process, succeed
from datasets import load_dataset
from forgeries import EXAMPLE, know_the_example
from stressreel import builders

BUILD = ("build", "backwards", "--captions", "sample", "--limit", 2, "--out")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An output, while the example is as good as installed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        know_the_example(patch)
        out = tmp_path_factory.mktemp("backwards") / "out"
        succeed("stressreel", *BUILD, out)
        yield out
    builders.load_benchmark.cache_clear()


@pytest.mark.full
def test_the_installed_package_is_found_by_another_process(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "source")  # setuptools writes beside what it builds
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(tmp_path / "site"), str(source)]
    subprocess.run(install, check=True, capture_output=True)
    path = os.pathsep.join(filter(None, (str(tmp_path / "site"), os.environ.get("PYTHONPATH"))))
    for arguments in (("list", "benchmarks"), (*BUILD, tmp_path / "out"), ("verify", tmp_path / "out")):
        done = run_process("stressreel", *arguments, env={**os.environ, "PYTHONPATH": path})
        assert done.code == 0, done.err
        assert arguments[0] != "list" or "backwards" in done.out


def test_benchmark_is_listed_builds_and_loads(built: Path) -> None:
    assert "backwards" in succeed("stressreel", "list", "benchmarks").out
    assert "--captions" in succeed("stressreel", "build", "backwards", "--help").out
    questions = load_dataset(str(built), "questions", split="test")
    assert sorted(questions["answer"]) == [0, 0, 1, 1]
    assert set(load_dataset(str(built), "videos", split="test")["video_id"]) == set(questions["video_id"])
    described = json.loads((built / "croissant.json").read_text("utf-8"))
    assert [each["@id"] for each in described["recordSet"]] == ["questions", "videos"]
    before = (built / "README.md").read_text("utf-8")
    assert "config_name: questions" in before
    succeed("stressreel", "card", built)
    assert (built / "README.md").read_text("utf-8") == before


def test_it_verifies_and_is_not_fooled(built: Path, tmp_path: Path) -> None:
    succeed("stressreel", "verify", built)
    changed = shutil.copytree(built, tmp_path / "out")
    shard = next((changed / "videos").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1000])
    refuses(run("stressreel", "verify", changed))


def test_it_is_scored_exported_and_shown(built: Path, tmp_path: Path) -> None:
    ids = [row["question_id"] for row in rows(built, "questions")]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f'{{"id": "{name}", "answer": "yes"}}\n' for name in ids), "utf-8")
    scored = run_json("stressreel", "score", built, "--predictions", answers)
    assert [estimate["value"] for estimate in scored["headline"].values()] == [0.5]
    succeed("stressreel", "export", "lmms-eval", built, "--to", tmp_path / "tasks")
    assert list((tmp_path / "tasks").glob("*.yaml"))
    succeed("stressreel", "gallery", built, "--to", tmp_path / "gallery")
    assert len(list((tmp_path / "gallery" / "media").glob("*.mp4"))) == 4
    text = (tmp_path / "gallery" / "data" / "items-00000.js").read_text("utf-8")
    part = json.loads(text.removeprefix("galleryItems(").removesuffix(");\n"))
    assert [(item["id"], item["view"]) for item in part["items"]] == [(name, "question") for name in ids]
