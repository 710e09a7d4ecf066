"""`stressreel.ask`: what it returns is what its command prints and writes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import stressreel
from commands import run
from endpoint import running
from extras import needs
from stressreel.core.errors import UsageError

pytestmark = needs("openai")


def test_answers_are_what_the_command_writes_and_prints(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running() as server:
        asked = {"endpoint": server.url, "model": "m", "frames": 1, "limit": 3, "prices": (1, 10)}
        found = stressreel.ask(built, to=to, request={"top_p": 1}, **asked)
        options = ("--endpoint", server.url, "--model", "m", "--frames", 1, "--limit", 3, "--prices", "1,10")
        done = run("stressreel", "ask", built, "--to", to, "--request", '{"top_p": 1}', *options)

        async def notebook() -> None:  # where a loop runs already
            stressreel.ask(built, to=tmp_path / "b.jsonl", request={"top_p": 1}, **asked)

        asyncio.run(notebook())
    assert (done.code, done.out, found.files) == (0, f"{found}\n", {"video": to})
    assert len(to.read_text().splitlines()) == 3
    assert to.read_text() == (tmp_path / "b.jsonl").read_text()
    assert found.as_json() == json.loads((tmp_path / "a.json").read_text())
    assert found.to_pandas().to_dict("records") == [
        {"modalities": "video", "file": str(to), "answers": 3, "unreadable": 0, "cut short": 0, "no answer": 0}
    ]


def test_a_dry_run_returns_the_plan_and_a_wrong_value_is_refused(built: Path) -> None:
    found = stressreel.ask(built, dry_run=True, modalities=["video", "blind"])
    done = run("stressreel", "ask", built, "--dry-run", "--modalities", "video,blind")
    assert (done.code, done.out, found.files) == (0, f"{found}\n", {})
    assert found.to_pandas()["requests"].tolist() == [found.as_json()["requests"]]
    for wrong in ({"prices": 1}, {"frames": 0}, {"send": "sound"}, {"request": "{"}, {"setting": "x"}):
        with pytest.raises(UsageError):
            stressreel.ask(built, dry_run=True, **wrong)
