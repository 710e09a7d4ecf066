"""`stressreel push`, against a Hub on loopback: what is verified, said and sent, and what others get."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import stressreel
from commands import info, refuses, run, run_process
from hub import TOKEN, Hub, connected, running
from stressreel.annotations.charades import CHARADES
from stressreel.core.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with connected(monkeypatch) as found:
        yield found


@pytest.fixture(scope="module")
def rendered(build_once: Callable[..., Path]) -> Path:
    return build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")


@pytest.fixture(scope="module")
def written(build_once: Callable[..., Path]) -> Path:
    return build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2, "--version", "1.2.0")


def relicensed(out: Path, to: Path) -> Path:
    """Copy an output, as if it was built from Charades itself."""
    shutil.copytree(out, to)
    (to / "build.json").write_text(json.dumps({**info(out), "source": CHARADES.as_json()}))
    assert run("stressreel", "card", to).code == 0
    return to


def test_a_dry_run_lists_what_would_go_and_asks_nobody(
    written: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: pytest.fail("a token was asked for"))
    told: list[object] = []
    dry = stressreel.push(written, "org/clavi", dry_run=True, each=told.append)
    assert told == [dry.contents, *dry.report]
    assert dry.to_pandas()["bytes"].sum() == sum(file.size for file in dry.contents.files)
    done = run("stressreel", "push", written, "org/clavi", "--dry-run")
    assert (done.code, done.out) == (0, f"{dry}\n")
    for path in (written / "build.json", *written.glob("*/*.parquet")):
        assert f"{path.stat().st_size:,}  {path.relative_to(written).as_posix()}\n" in done.out
    assert ".build" not in done.out
    assert "to org/clavi, private if it is new, tag v1.2.0\nlicence: the built-in sample" in done.out
    assert "\nok    load_dataset" in done.out
    assert hub.requests == []
    for wrong in (("clavi",), ("org/clavi", "v 1")):
        with pytest.raises(UsageError):
            stressreel.push(written, wrong[0], tag=wrong[-1])


def test_a_push_says_what_went_and_never_the_token(
    written: Path, rendered: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("stressreel", "push", written, "org/clavi", "--tag", "v1.0.0")
    assert done.code == 0, done.err
    repository = hub.repositories["datasets/org/clavi"]
    assert repository.private
    count = len(repository.files()) - 1
    assert f"Pushed to {hub.url}/datasets/org/clavi (private), commit {repository.head[:12]}: {count} files" in done.out
    assert f"All {count} files were read back" in done.out
    assert 'load_dataset("org/clavi", revision="v1.0.0")' in done.out
    assert f"upload: {count}/{count} files" in done.err
    assert repository.commits[repository.head][0].endswith("\nVerified before.")
    again = stressreel.push(written, "org/clavi", tag="v1.0.0", decode=False, progress=False)
    assert again.pushed is not None
    assert (again.failed, again.pushed.commit) == (False, repository.head)
    assert "Nothing to push" in str(again)
    assert len(repository.commits) == 2
    other = run("stressreel", "push", rendered, "org/clavi")
    refuses(other, "has the tag v1.0.0 already, for other content", "a higher --version")
    assert other.out == ""
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    wrong = run("stressreel", "push", written, "org/clavi")
    refuses(wrong, "does not accept the token")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    without = run("stressreel", "push", written, "org/clavi")
    refuses(without, "there is no token", "hf auth login")
    assert without.out == ""
    for each in (done, other, wrong):
        assert not {TOKEN, "hf_secretsecret"} & {*(each.out + each.err).split()}


def test_what_verify_finds_stops_the_push(written: Path, hub: Hub, tmp_path: Path) -> None:
    out = Path(shutil.copytree(written, tmp_path / "out"))
    (out / "README.md").write_text((out / "README.md").read_text() + "more\n")
    for more in ((), ("--dry-run",)):
        done = run("stressreel", "push", out, "org/clavi", *more)
        refuses(done, "checks failed: card. Nothing was sent.")
        assert "FAIL  card" in done.out
    assert {method for method, _ in hub.requests} == {"GET"}
    assert hub.repositories == {}


def test_videos_are_decoded_unless_that_is_left_out(rendered: Path, hub: Hub) -> None:
    assert "ok    shown" in run("stressreel", "push", rendered, "org/a", "--dry-run").out
    done = run("stressreel", "push", rendered, "org/a", "--no-decode")
    assert done.code == 0, done.err
    assert "ok    shown" not in done.out
    repository = hub.repositories["datasets/org/a"]
    assert repository.commits[repository.head][0].endswith("Verified before, without decoding the videos.")


def test_charades_videos_stay_and_its_questions_need_a_word(
    written: Path, rendered: Path, hub: Hub, tmp_path: Path
) -> None:
    with_videos, without = (relicensed(out, tmp_path / out.name) for out in (rendered, written))
    for more in ((), ("--licence-confirmed", "I may."), ("--dry-run",)):
        done = run("stressreel", "push", with_videos, "org/clavi", *more)
        refuses(done, "the videos may not be passed on", CHARADES.terms)
    refuses(run("stressreel", "push", without, "org/clavi"), CHARADES.terms, "--licence-confirmed")
    assert hub.requests == []
    said = "The owners wrote that questions may be shared."
    done = run("stressreel", "push", without, "org/clavi", "--licence-confirmed", said)
    assert done.code == 0, done.err
    repository = hub.repositories["datasets/org/clavi"]
    assert f'Confirmed by the uploader: "{said}"' in repository.commits[repository.head][0]


READ = """
import hashlib, json, sys
import datasets
datasets.disable_progress_bars()
from datasets import load_dataset
questions = load_dataset("org/clavi", revision="v1.0.0")
streamed = load_dataset("org/clavi", "videos", split="test", revision="v1.0.0", streaming=True)
hashes = {}
for row in streamed.cast_column("video", datasets.Video(decode=False)):
    hashes[row["sha256"]] = hashlib.sha256(row["video"]["bytes"]).hexdigest()
from huggingface_hub import snapshot_download
snapshot_download("org/clavi", repo_type="dataset", revision="v1.0.0", local_dir=sys.argv[1])
print(json.dumps([{split: rows["question_id"][:] for split, rows in questions.items()}, hashes]))
"""


@pytest.mark.full
@pytest.mark.usefixtures("paint")
def test_others_load_stream_and_verify_what_was_pushed(rendered: Path, tmp_path: Path) -> None:
    """In processes of their own, which know the Hub by HF_ENDPOINT alone."""
    rendered = Path(shutil.copytree(rendered, tmp_path / "rendered"))
    assert run("stressreel", "card", rendered).code == 0
    with running() as hub:
        env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "hf")}
        done = run_process("stressreel", "push", rendered, "org/clavi", "--no-decode", env=env | {"HF_TOKEN": TOKEN})
        assert done.code == 0, done.err
        read, denied = (
            subprocess.run(
                [sys.executable, "-c", READ, str(tmp_path / "fetched")],
                env=env | more,
                capture_output=True,
                text=True,
                cwd=tmp_path,
            )
            for more in ({"HF_TOKEN": TOKEN}, {"HF_HOME": str(tmp_path / "x")})
        )
    assert denied.returncode == 1  # it is private
    assert read.returncode == 0, read.stderr[-3000:]
    questions, hashes = json.loads(read.stdout)
    expected = [row for path in sorted(rendered.glob("questions/*.parquet")) for row in pq.read_table(path).to_pylist()]
    assert questions == {"test": [row["question_id"] for row in expected]}
    assert hashes
    assert all(stated == found for stated, found in hashes.items())
    for path in (tmp_path / "fetched").rglob("*.parquet"):
        there = rendered / path.relative_to(tmp_path / "fetched")
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(there.read_bytes()).digest()
    verified = run("stressreel", "verify", tmp_path / "fetched", "--no-decode")
    assert verified.code == 0, verified.out
