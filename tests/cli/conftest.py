"""The built-in sample, and an environment of its own."""

import os
from pathlib import Path

import pytest
from stressreel.annotations.samples import cached_sample
from stressreel.core.files import user_cache


@pytest.fixture(scope="session")
def sample() -> Path:
    """The Charades sample where `--charades sample` keeps it; read only."""
    return cached_sample("charades")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache folder has the embeddings that others made, and nothing else."""
    embeddings = user_cache() / "embeddings"
    embeddings.mkdir(parents=True, exist_ok=True)
    cache = tmp_path / "cache" / "stressreel"
    cache.mkdir(parents=True)
    (cache / "embeddings").symlink_to(embeddings)
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}
