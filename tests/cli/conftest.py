"""The built-in sample, outputs of it, and an environment of its own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from stressreel.annotations.samples import cached_sample
from stressreel.core.files import user_cache


@pytest.fixture(scope="session")
def sample() -> Path:
    """The Charades sample where `--charades sample` keeps it; read only."""
    return cached_sample("charades")


@pytest.fixture(scope="session")
def unrendered(build_once: Callable[..., Path]) -> Path:
    """CLAVI on two videos of the built-in sample, without the videos; read only."""
    return build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache folder has the embeddings that others made, and nothing else."""
    embeddings = user_cache() / "embeddings"
    embeddings.mkdir(parents=True, exist_ok=True)
    cache = tmp_path / "cache" / "stressreel"
    cache.mkdir(parents=True)
    (cache / "embeddings").symlink_to(embeddings)
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}
