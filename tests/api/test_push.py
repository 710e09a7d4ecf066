"""`push`, against a Hub on loopback: what it returns is what the command prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
from commands import run
from hub import connected
from stressreel.core.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def test_a_push(build_once: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    out = build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2, "--version", "1.2.0")
    told: list[object] = []
    with connected(monkeypatch) as hub:
        dry = stressreel.push(out, "org/clavi", dry_run=True, each=told.append)
        assert told == [dry.contents, *dry.report]
        assert hub.requests == []
        assert f"{dry}\n" == run("stressreel", "push", out, "org/clavi", "--dry-run").out
        assert dry.to_pandas()["bytes"].sum() == sum(file.size for file in dry.contents.files)
        done = stressreel.push(out, "org/clavi", progress=False)
        assert not done.failed
        assert done.pushed is not None
        assert done.pushed.commit == hub.repositories["datasets/org/clavi"].head
        again = stressreel.push(out, "org/clavi", progress=False)
        assert f"{again}\n" == run("stressreel", "push", out, "org/clavi").out
        with pytest.raises(UsageError, match="is not a valid repository name"):
            stressreel.push(out, "clavi")
        with pytest.raises(UsageError, match="must be at least 1"):
            stressreel.push(out, "org/clavi", workers=0)
