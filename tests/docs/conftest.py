"""What the pages name: outputs and videos of the samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stressreel.annotations.samples import cached_sample


@pytest.fixture
def folder_for(tmp_path: Path, built: Path, build_once: Callable[..., Path]) -> Callable[..., Path]:
    """Makes a folder with the outputs and the videos that the Python of pages names."""

    def make(page: str) -> Path:
        (tmp_path / "out").mkdir()
        if page != "docs/api.md":  # which builds it
            (tmp_path / "out" / "clavi").symlink_to(built)
        arguments: tuple[object, ...] = ("--msrvtt", "sample", "--limit", 2)
        if page == "docs/text.md":
            arguments += ("--modality", "multimodal", "--perturbations", "jpeg", "--preset", "ultrafast")
            arguments += ("--text-perturbations", "no_verbs")
        else:
            arguments += ("--severity", 3, "--perturbations", "jumble,gaussian_noise", "--no-render")
        suite = build_once("build-perturbed", *arguments)
        if page == "docs/decomp.md":
            graphs = build_once("build-decomp", "--charades", "sample")
            (tmp_path / "out" / "decomp").symlink_to(graphs)
        for name in ("perturbed", "msrvtt-p"):
            (tmp_path / "out" / name).symlink_to(suite)
        (tmp_path / "MSRVTT").symlink_to(cached_sample("msrvtt"))
        return tmp_path

    return make
