"""`stressreel.ask`: what it returns is what its command prints and writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import stressreel
from commands import run
from endpoint import Endpoint, running
from stressreel.core.errors import UsageError

pytest.importorskip("openai", reason="the extra ask is not installed")


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with running(lambda request, before: "yes") as found:
        yield found


def test_answers_are_what_the_command_writes_and_prints(built: Path, server: Endpoint, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    asked = {"endpoint": server.url, "model": "m", "frames": 1, "limit": 3, "prices": (1, 10)}
    found = stressreel.ask(built, to=to, request={"top_p": 1}, **asked)
    assert found.files == {"video": to}
    assert len(to.read_text().splitlines()) == 3
    assert found.as_json() == json.loads((tmp_path / "a.json").read_text())
    frame = found.to_pandas()
    assert frame.to_dict("records") == [
        {"modalities": "video", "file": str(to), "answers": 3, "unreadable": 0, "cut short": 0, "no answer": 0}
    ]
    options = ("--endpoint", server.url, "--model", "m", "--frames", 1, "--limit", 3, "--prices", "1,10")
    done = run("stressreel", "ask", built, "--to", to, "--request", '{"top_p": 1}', *options)
    assert (done.code, done.out) == (0, f"{found}\n")


def test_a_dry_run_returns_the_plan(built: Path) -> None:
    found = stressreel.ask(built, dry_run=True, modalities=["video", "blind"])
    done = run("stressreel", "ask", built, "--dry-run", "--modalities", "video,blind")
    assert (done.code, done.out) == (0, f"{found}\n")
    assert found.files == {}
    assert found.to_pandas()["requests"].tolist() == [found.as_json()["requests"]]


def test_it_asks_where_a_loop_runs_already(built: Path, server: Endpoint, tmp_path: Path) -> None:
    async def notebook() -> int:
        done = stressreel.ask(built, to=tmp_path / "a.jsonl", endpoint=server.url, model="m", limit=1, frames=1)
        return len(done.files)

    assert asyncio.run(notebook()) == 1


@pytest.mark.parametrize("wrong", [{"prices": 1}, {"frames": 0}, {"send": "sound"}, {"request": "{"}, {"setting": "x"}])
def test_a_wrong_value_is_refused(built: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        stressreel.ask(built, dry_run=True, **wrong)
