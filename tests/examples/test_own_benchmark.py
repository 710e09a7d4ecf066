"""A benchmark of another package, once installed, has everything that ours have, without an edit elsewhere."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from commands import Ran, run, run_process
from datasets import load_dataset
from forgeries import EXAMPLE, know_the_example
from stressreel import builders
from stressreel.core.shards import open_shard

Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def command() -> Iterator[Command]:
    """The `stressreel` command, in this process, as if the package were installed."""

    def call(*arguments: object, code: int = 0) -> Ran:
        done = run("stressreel", *arguments)
        assert done.code == code, done.err
        return done

    with pytest.MonkeyPatch.context() as patch:
        know_the_example(patch)
        yield call
    builders.load_benchmark.cache_clear()


@pytest.fixture(scope="module")
def built(command: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("backwards") / "out"
    command("build", "backwards", "--captions", "sample", "--limit", 2, "--out", out)
    return out


@pytest.mark.full
def test_the_installed_package_is_found_by_another_process(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "source")  # setuptools writes beside what it builds
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(tmp_path / "site"), str(source)]
    subprocess.run(install, check=True, capture_output=True)
    path = os.pathsep.join(filter(None, (str(tmp_path / "site"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    build = ("build", "backwards", "--captions", "sample", "--limit", 2, "--out", tmp_path / "out")
    for arguments in (("list", "benchmarks"), build, ("verify", tmp_path / "out")):
        done = run_process("stressreel", *arguments, env=environment)
        assert done.code == 0, done.err
        assert arguments[0] != "list" or "backwards" in done.out


def rows(out: Path, config: str, columns: Sequence[str]) -> list[dict[str, str]]:
    found = []
    for path in sorted((out / config).glob("*.parquet")):
        with open_shard(path) as file:
            found += file.read(columns=list(columns)).to_pylist()
    return found


def test_benchmark_is_listed_builds_and_loads(command: Command, built: Path) -> None:
    assert "backwards" in command("list", "benchmarks").out
    assert "--captions" in command("build", "backwards", "--help").out
    questions = load_dataset(str(built), "questions", split="test")
    assert sorted(questions["answer"]) == [0, 0, 1, 1]
    assert set(load_dataset(str(built), "videos", split="test")["video_id"]) == set(questions["video_id"])
    described = json.loads((built / "croissant.json").read_text("utf-8"))
    assert [each["@id"] for each in described["recordSet"]] == ["questions", "videos"]
    before = (built / "README.md").read_text("utf-8")
    assert "config_name: questions" in before
    command("card", built)
    assert (built / "README.md").read_text("utf-8") == before


def test_it_verifies_and_is_not_fooled(command: Command, built: Path, tmp_path: Path) -> None:
    command("verify", built)
    changed = shutil.copytree(built, tmp_path / "out")
    shard = next((changed / "videos").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1000])
    command("verify", changed, code=1)


def test_its_answers_are_scored_and_it_is_exported(command: Command, built: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    said = [{"id": row["question_id"], "answer": "yes"} for row in rows(built, "questions", ["question_id"])]
    answers.write_text("".join(json.dumps(each) + "\n" for each in said), "utf-8")
    scored = json.loads(command("score", built, "--predictions", answers, "--json").out)
    assert [estimate["value"] for estimate in scored["headline"].values()] == [0.5]
    command("export", "lmms-eval", built, "--to", tmp_path / "tasks")
    assert list((tmp_path / "tasks").glob("*.yaml"))


def test_it_has_a_gallery(command: Command, built: Path, tmp_path: Path) -> None:
    ids = [row["question_id"] for row in rows(built, "questions", ["question_id"])]
    command("gallery", built, "--to", tmp_path / "gallery")
    assert len(list((tmp_path / "gallery" / "media").glob("*.mp4"))) == 4
    text = (tmp_path / "gallery" / "data" / "items-00000.js").read_text("utf-8")
    part = json.loads(text.removeprefix("galleryItems(").removesuffix(");\n"))
    assert [(item["id"], item["view"]) for item in part["items"]] == [(each, "question") for each in ids]
