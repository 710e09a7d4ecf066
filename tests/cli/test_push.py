"""`stressreel push`, against a Hub on loopback: what is verified, said and sent, and what others get."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
from commands import info, refuses, rows, run, run_process, succeed
from hub import TOKEN, Hub, running
from stressreel.annotations.charades import CHARADES
from stressreel.annotations.samples import cached_sample
from stressreel.annotations.samples.charades import annotation_table, sample_videos
from stressreel.core.files import sha256_file

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture(scope="module")
def rendered(build_once: Callable[..., Path]) -> Path:
    return build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")


def message(hub: Hub) -> str:
    repository = hub.repositories["datasets/org/clavi"]
    return repository.commits[repository.head][0]


def test_dry_run_lists_files_and_sends_nothing(unrendered: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: pytest.fail("a token was asked for"))
    done = succeed("stressreel", "push", unrendered, "org/clavi", "--dry-run")
    for path in (unrendered / "build.json", *unrendered.glob("*/*.parquet")):
        assert f"{path.stat().st_size:,}  {path.relative_to(unrendered).as_posix()}\n" in done.out
    assert ".build" not in done.out
    assert "to org/clavi, private if it is new, tag v1.4.0\nlicence: the built-in sample" in done.out
    assert f"{stressreel.push(unrendered, 'org/clavi', dry_run=True)}\n" == done.out
    assert hub.requests == []


def test_push_reports_files_and_never_the_token(unrendered: Path, hub: Hub) -> None:
    done = succeed("stressreel", "push", unrendered, "org/clavi", "--no-decode")
    repository = hub.repositories["datasets/org/clavi"]
    count = len(repository.files()) - 1
    assert f"Pushed to {hub.url}/datasets/org/clavi (private), commit {repository.head[:12]}: {count} files" in done.out
    assert f"All {count} files match their hashes on the Hub" in done.out
    assert 'load_dataset("org/clavi", revision="v1.4.0")' in done.out
    assert message(hub).endswith("\nVerified before, without decoding the videos.")
    again = succeed("stressreel", "push", unrendered, "org/clavi")
    assert "Nothing to push" in again.out
    assert len(repository.commits) == 2
    assert TOKEN not in done.out + done.err + again.out + again.err


def test_what_verify_finds_stops_the_push(unrendered: Path, hub: Hub, tmp_path: Path) -> None:
    out = Path(shutil.copytree(unrendered, tmp_path / "out"))
    (out / "README.md").write_text((out / "README.md").read_text() + "more\n")
    done = run("stressreel", "push", out, "org/clavi")
    refuses(done, "checks failed: card. Nothing was sent.")
    assert "FAIL  card" in done.out
    assert {method for method, _ in hub.requests} == {"GET"}
    assert hub.repositories == {}


def test_charades_needs_confirmation_and_keeps_its_videos(
    hub: Hub, build_once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, videos = tmp_path_factory.mktemp("charades"), list(sample_videos())[:1]
    (folder / "Charades_v1_train.csv").write_text(annotation_table(videos))  # in the name of Charades
    shutil.copy(next(cached_sample("charades").rglob(f"{videos[0].id}.mp4")), folder)
    with_videos = build_once("build-clavi", "--charades", folder, "--preset", "ultrafast")
    without = build_once("build-clavi", "--charades", folder, "--no-render")
    assert info(with_videos)["source"]["key"] == CHARADES.key
    for more in ((), ("--licence-confirmed", "I may."), ("--dry-run",)):
        done = run("stressreel", "push", with_videos, "org/clavi", *more)
        refuses(done, "the videos may not be published", CHARADES.terms)
    refuses(run("stressreel", "push", without, "org/clavi"), CHARADES.terms, "--licence-confirmed")
    assert hub.requests == []
    succeed("stressreel", "push", without, "org/clavi", "--licence-confirmed", "The owners said so.")
    assert 'Confirmed by the uploader: "The owners said so."' in message(hub)


def test_missing_or_wrong_token_is_reported(unrendered: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    done = run("stressreel", "push", unrendered, "org/clavi")
    refuses(done, "does not accept the token")
    assert "hf_secretsecret" not in done.out + done.err
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    done = run("stressreel", "push", unrendered, "org/clavi")
    refuses(done, "no token", "hf auth login")
    assert done.out == ""  # nothing was verified


READ = """
import hashlib, json, sys
import datasets
datasets.disable_progress_bars()
from datasets import load_dataset
questions = load_dataset("org/clavi", revision="v1.4.0")
streamed = load_dataset("org/clavi", "videos", split="test", revision="v1.4.0", streaming=True)
hashes = {}
for row in streamed.cast_column("video", datasets.Video(decode=False)):
    hashes[row["sha256"]] = hashlib.sha256(row["video"]["bytes"]).hexdigest()
from huggingface_hub import snapshot_download
snapshot_download("org/clavi", repo_type="dataset", revision="v1.4.0", local_dir=sys.argv[1])
print(json.dumps([{split: rows["question_id"][:] for split, rows in questions.items()}, hashes]))
"""


@pytest.mark.full
@pytest.mark.usefixtures("paint")
def test_others_load_stream_and_verify_what_was_pushed(rendered: Path, tmp_path: Path) -> None:
    """In processes of their own, which know the Hub by HF_ENDPOINT alone."""
    copy, fetched = Path(shutil.copytree(rendered, tmp_path / "copy")), tmp_path / "fetched"
    assert run("stressreel", "card", copy).code == 0
    with running() as hub:
        env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "hf")}
        command = [sys.executable, "-c", READ, str(fetched)]
        token = {"HF_TOKEN": TOKEN}
        done = run_process("stressreel", "push", copy, "org/clavi", "--no-decode", env=env | token)
        assert done.code == 0, done.err
        read = subprocess.run(command, env=env | token, capture_output=True, text=True, cwd=tmp_path)
        assert read.returncode == 0, read.stderr[-3000:]
        env["HF_HOME"] = str(tmp_path / "x")
        assert subprocess.run(command, env=env, capture_output=True, cwd=tmp_path).returncode == 1  # it is private
    questions, hashes = json.loads(read.stdout)
    for split, ids in questions.items():
        assert ids == [row["question_id"] for row in rows(copy, "questions", split)]
    assert hashes
    assert all(stated == found for stated, found in hashes.items())
    names = [path.relative_to(fetched).as_posix() for path in fetched.rglob("*.parquet")]
    assert all(sha256_file(copy / name) == sha256_file(fetched / name) for name in names)
    succeed("stressreel", "verify", fetched, "--no-decode")
