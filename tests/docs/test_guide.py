"""docs/guide.md, from its first command to its last score, in order and as it stands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from commands import run
from pages import blocks

GUIDE = [block for block in blocks() if block.page == "docs/guide.md" and block.language]


def test_the_guide_runs_and_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")  # else another run's rows are read
    names: dict[str, object] = {}
    printed = ""
    for number, block in enumerate(GUIDE):
        if block.language == "python":
            exec(compile(block.text, f"docs/guide.md, block {number + 1}", "exec"), names)
        elif block.language == "bash":
            printed = ""
            for statement in block.statements:
                done = run(*shlex.split(statement))
                assert done.code == 0, done.err
                printed += done.out
        else:
            lines = [" ".join(line.split()) for line in printed.splitlines()]
            for line in block.statements:
                assert " ".join(line.split()) in lines, printed


def test_the_guide_has_every_kind_of_block() -> None:
    assert {block.language for block in GUIDE} == {"python", "bash", "text"}
