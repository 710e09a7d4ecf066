from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_models


@pytest.fixture(scope="session")
def suite(build_once: Callable[..., Path]) -> Path:
    """A suite with videos, captions and pairs."""
    given = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all")
    return build_once("build-perturbed", *given, "--text-perturbations", "random_noun", "--tagger", "pattern")


@pytest.fixture(scope="session")
def recipes(build_once: Callable[..., Path]) -> Path:
    """The same suite without videos."""
    given = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all", "--no-render")
    return build_once("build-perturbed", *given, "--text-perturbations", "random_noun", "--tagger", "pattern")


@pytest.fixture(scope="session")
def graphs(build_once: Callable[..., Path]) -> Path:
    return build_once("build-decomp", "--charades", "sample")


@pytest.fixture(scope="session")
def qwen(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    return once("qwen2-vl", _made(tiny_models.write_qwen2_vl))


@pytest.fixture(scope="session")
def llava(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    return once("llava-onevision", _made(tiny_models.write_llava_onevision))


def _made(write: Callable[[Path], Path]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        pytest.importorskip("transformers")
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)

    return make
