"""What builds return: outputs that show and load themselves, plans, and what remains."""

import shutil
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
import stressreel
from commands import run
from stressreel.api.build import report
from stressreel.core.errors import InputError, UsageError

SAMPLE: dict[str, Any] = {"charades": "sample", "limit": 3, "preset": "ultrafast", "progress": False, "workers": 1}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def test_output_shows_its_tables(built: Path) -> None:
    out = stressreel.read(built)
    for text in (str(out), out._repr_html_()):
        for name, splits in out.configs.items():
            assert name in text
            assert all(split in text and f"{count:,}" in text for split, count in splits.items())
    assert len(repr(out)) < len(str(built)) + 60
    assert stressreel.verify(out, decode=False).output == str(built)


def test_tables_and_printed_code_need_no_torchcodec(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchcodec", None)
    out = stressreel.read(built)
    for name, splits in out.configs.items():
        tables = [out.load(name), *(out.load(name, split=split) for split in splits)]
        assert [len(table) for table in tables] == [sum(splits.values()), *splits.values()]
    names: dict[str, Any] = {}
    exec(report(out).partition("\n\n")[2], names)
    assert isinstance(names["questions"], datasets.Dataset)
    row = names["videos"][0]
    assert row["video"]["bytes"] == out.video(row["video_id"])
    assert stressreel.frames(row, count=2).shape == (2, row["height"], row["width"], 3)


def test_what_is_not_there_or_damaged_is_refused(four_pairs: Path, tmp_path: Path) -> None:
    out = stressreel.read(shutil.copytree(four_pairs, tmp_path / "a[1]" / "out"))
    assert len(out.load("pairs")) == 4
    with pytest.raises(UsageError, match=r"'answers'.*questions, videos, pairs"):
        out.load("answers")
    with pytest.raises(UsageError, match=r"'dev'.*train.*test"):
        out.load("questions", split="dev")
    shard = min((out.path / "questions").glob("*.parquet"))
    content = bytearray(shard.read_bytes())
    content[50:300] = bytes(250)
    shard.write_bytes(content)
    with pytest.raises(InputError, match="questions"):
        out.load("questions")
    shard.unlink()
    with pytest.raises(InputError, match="questions"):
        out.load("questions")


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
    assert (printed.out, unrendered.estimate) == (f"{unrendered}\n", None)
    assert not (tmp_path / "out").exists()


def test_shares_return_remainder_then_output(tmp_path: Path) -> None:
    first = stressreel.build_clavi(**SAMPLE, out=tmp_path / "out", shard="1/2")
    assert isinstance(first, stressreel.Unfinished)
    assert (first.share, first.remaining, first.total, first.running) == ("1/2", 2, 3, ())
    assert "2 of 3 pairs" in str(first)
    second = stressreel.build_clavi(**SAMPLE, out=tmp_path / "out", shard="2/2")
    assert isinstance(second, stressreel.Output)
    assert second.configs["pairs"] == {"train": 2, "test": 1}
