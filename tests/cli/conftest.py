"""The built-in sample, and an environment of its own."""

import os
from pathlib import Path

import pytest
from stressreel.samples.cache import cached_sample


@pytest.fixture(scope="session")
def sample() -> Path:
    """The Charades sample where `--charades sample` keeps it; read only."""
    return cached_sample("charades")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache folder is empty."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}
