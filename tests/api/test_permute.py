"""`permute`: what it returns is what the command prints, and the rows that it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


def test_questions_of_a_file(tmp_path: Path) -> None:
    rows = [{"id": f"q{n}", "video_id": f"v{n}", "source_id": f"s{n}", "question": f"Is it {n}?"} for n in range(4)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = stressreel.permute(tmp_path / "mine.jsonl", to=tmp_path / "p.jsonl", sets=2)
    written = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert found.to_pandas().to_dict("records") == written
    assert (found.items, len(written)) == (4, 16)
    found.path.unlink()
    done = run("stressreel", "permute", tmp_path / "mine.jsonl", "--to", tmp_path / "p.jsonl", "--sets", 2)
    assert f"{found}\n" == done.out
    with pytest.raises(UsageError, match="must be at least 1"):
        stressreel.permute(tmp_path / "mine.jsonl", sets=0)
