"""What builds return: outputs that show and load themselves, plans, and what remains."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
import stressreel
from commands import run
from stressreel.core.errors import InputError, UsageError

WITHOUT_TORCHCODEC = "import sys\nsys.modules['torchcodec'] = None\n"
SAMPLE: dict[str, Any] = {"charades": "sample", "limit": 3, "preset": "ultrafast", "progress": False, "workers": 1}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def no_torchcodec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchcodec", None)


def test_output_shows_its_tables(built: Path, built_suite: Path) -> None:
    out = stressreel.read(built)
    for text in (str(out), out._repr_html_()):
        for name, splits in out.configs.items():
            assert name in text
            assert all(split in text and f"{count:,}" in text for split, count in splits.items())
    for path in (built, built_suite):
        assert len(repr(stressreel.read(path))) < len(str(path)) + 60
    assert stressreel.verify(out, decode=False).output == str(built)


@pytest.mark.usefixtures("no_torchcodec")
def test_tables_are_loaded_without_torchcodec(built: Path) -> None:
    out = stressreel.read(built)
    for name, splits in out.configs.items():
        assert len(out.load(name)) == sum(splits.values())
        for split, count in splits.items():
            table = out.load(name, split=split)
            assert isinstance(table, datasets.Dataset)
            assert len(table) == count
    row = out.load("videos", split="test")[0]
    assert row["video"]["bytes"] == out.video(row["video_id"])
    assert stressreel.frames(row, count=2).shape == (2, row["height"], row["width"], 3)


def test_videos_are_decoders_with_torchcodec(built: Path) -> None:
    try:
        from torchcodec.decoders import VideoDecoder
    except (ImportError, RuntimeError):
        pytest.skip("needs torchcodec and the FFmpeg libraries")
    out = stressreel.read(built)
    row = out.load("videos", split="test")[0]
    assert isinstance(row["video"], VideoDecoder)
    assert (stressreel.frames(row, count=2) == stressreel.frames(out.video(row["video_id"]), count=2)).all()


def test_unknown_tables_and_splits_are_refused(built: Path) -> None:
    out = stressreel.read(built)
    with pytest.raises(UsageError, match=r"'answers'.*questions, videos, pairs"):
        out.load("answers")
    with pytest.raises(UsageError, match=r"'dev'.*train.*test"):
        out.load("questions", split="dev")


def test_damaged_output_is_refused(four_pairs: Path, tmp_path: Path) -> None:
    out = stressreel.read(shutil.copytree(four_pairs, tmp_path / "a[1]" / "out"))
    assert len(out.load("pairs")) == 4
    shards = sorted((out.path / "questions").glob("*.parquet"))
    content = bytearray(shards[0].read_bytes())
    content[50:300] = bytes(250)
    shards[0].write_bytes(content)
    with pytest.raises(InputError, match="questions"):
        out.load("questions")
    shards[0].unlink()
    with pytest.raises(InputError, match="questions"):
        out.load("questions")


def test_the_printed_code_loads_the_output_without_torchcodec(tmp_path: Path) -> None:
    built = run("build-clavi", "--charades", "sample", "--limit", 2, "--out", "out-1", "--no-progress", cwd=tmp_path)
    assert built.code == 0, built.err
    code = WITHOUT_TORCHCODEC + built.out.partition("\n\n")[2] + "print(questions[0]['question'], videos[0]['video'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "'bytes': b'" in done.stdout


def test_dry_run_returns_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = stressreel.build_clavi(**SAMPLE, out=tmp_path / "out", dry_run=True)
    assert isinstance(plan, stressreel.DryRun)
    assert capsys.readouterr().out == ""
    assert plan.counts == {"train": 2, "test": 1}
    assert (plan.benchmark, plan.noun, len(plan.plan.units)) == ("clavi", "pair", 3)
    assert plan.estimate is not None
    assert 0 < plan.estimate.size_bytes < plan.estimate.peak_disk_bytes
    assert len(repr(plan)) < 200
    printed = run("build-clavi", "--charades", "sample", "--limit", 3, "--no-render", "--dry-run", "--no-progress")
    unrendered = stressreel.build("clavi", charades="sample", limit=3, progress=False, render=False, dry_run=True)
    assert printed.out == f"{unrendered}\n"
    assert unrendered.estimate is None
    assert not (tmp_path / "out").exists()


def test_shares_return_remainder_then_output(tmp_path: Path) -> None:
    first = stressreel.build_clavi(**SAMPLE, out=tmp_path / "out", shard="1/2")
    assert isinstance(first, stressreel.Unfinished)
    assert (first.share, first.remaining, first.total, first.running) == ("1/2", 2, 3, ())
    assert "2 of 3 pairs" in str(first)
    second = stressreel.build_clavi(**SAMPLE, out=tmp_path / "out", shard="2/2")
    assert isinstance(second, stressreel.Output)
    assert second.configs["pairs"] == {"train": 2, "test": 1}


def test_python_m_runs_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stressreel"]
    done = subprocess.run([*command, "list", "benchmarks", "--json"], cwd=tmp_path, capture_output=True, check=True)
    assert "clavi" in {row["name"] for row in json.loads(done.stdout)}
    assert subprocess.run([*command, "verify", "nothing"], cwd=tmp_path, capture_output=True).returncode == 2


def test_probes_are_at_the_top() -> None:
    from stressreel.evaluation import probes

    assert (stressreel.quag, stressreel.labels_for) == (probes.quag, probes.labels_for)
