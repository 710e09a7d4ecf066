"""`stressreel.ask`: what it returns is what its command prints and writes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import stressreel
from commands import run
from endpoint import running
from extras import needs

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
