"""The built-in sample, drawn and built once."""

import os
from pathlib import Path

import pytest
from commands import run
from stressreel.samples.cache import cached_sample


@pytest.fixture(scope="session")
def sample() -> Path:
    """The Charades sample where `--charades sample` keeps it; read only."""
    return cached_sample("charades")


@pytest.fixture(scope="session")
def built(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole sample, built once; read only."""
    out = tmp_path_factory.mktemp("built") / "clavi"
    done = run("build-clavi", "--charades", sample, "--out", out, "--workers", 2, "--version", "1.2.0")
    assert done.code == 0, done.err
    return out


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache folder is empty."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}
