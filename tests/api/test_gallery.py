"""`gallery`: what it returns is what the command prints, and in a notebook it links the page."""

from __future__ import annotations

import shutil
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


def test_a_gallery(build_once: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    out = build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")
    found = stressreel.gallery(out, to=tmp_path / "to", embed="none", open=True)
    assert found.page.is_file()
    assert opened == [found.page.as_uri()]
    assert f'<a href="{found.page.as_uri()}"' in found._repr_html_()
    shutil.rmtree(tmp_path / "to")
    assert f"{found}\n" == run("stressreel", "gallery", out, "--to", tmp_path / "to", "--embed", "none").out
    with pytest.raises(UsageError, match="must be one of none, thumbnails, videos"):
        stressreel.gallery(out, to=tmp_path / "to", embed="all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be at least 1"):
        stressreel.gallery(out, to=tmp_path / "to", limit=0)
