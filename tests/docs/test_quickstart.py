"""docs/quickstart.md and the example on README's first screen: they run in order, print and build what they show."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import run
from pages import PAGES, ROOT, blocks

QUICKSTART = [block for block in blocks() if block.page == "docs/quickstart.md" and block.language]
QUOTED = re.findall(r'"([^"]+\?)"', " ".join(PAGES["docs/quickstart.md"].read_text("utf-8").split()))
README = [block for block in blocks() if block.language == "console"]


def printed(command: str) -> list[str]:
    """Run a command, and return the lines it prints with single spaces."""
    words = shlex.split(command)
    if words[0] == "python":
        script = [sys.executable, str(ROOT / words[1]), *words[2:]]
        out = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    else:
        done = run(*words)
        assert done.code == 0, done.err
        out = done.out
    return [" ".join(line.split()) for line in out.splitlines()]


@pytest.mark.full
def test_quickstart_and_readme_print_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")  # else another run's rows are read
    names: dict[str, Any] = {}
    lines: list[str] = []
    for number, block in enumerate(QUICKSTART):
        if block.language == "python":
            exec(compile(block.text, f"docs/quickstart.md, block {number + 1}", "exec"), names)
        elif block.language == "bash":
            lines = [line for statement in block.statements for line in printed(statement)]
        else:
            assert [line for line in block.statements if " ".join(line.split()) not in lines] == [], lines
    asked = {question for split in names["questions"].values() for question in split["question"]}
    assert QUOTED != []
    assert [question for question in QUOTED if question not in asked] == []
    for line in README[0].statements:
        if line.startswith("$ "):
            lines = printed(line.removeprefix("$ "))
        else:
            assert " ".join(line.split()) in lines, lines
