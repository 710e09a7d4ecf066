from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_models

Once = Callable[[str, Callable[[Path], object]], Path]
SUITE = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all")
TEXTS = ("--text-perturbations", "random_noun", "--tagger", "pattern")


@pytest.fixture(scope="session")
def suite(build_once: Callable[..., Path]) -> Path:
    """A suite with videos, captions and pairs."""
    return build_once("build-perturbed", *SUITE, *TEXTS)


@pytest.fixture(scope="session")
def recipes(build_once: Callable[..., Path]) -> Path:
    """The same suite without videos."""
    return build_once("build-perturbed", *SUITE, "--no-render", *TEXTS)


@pytest.fixture(scope="session")
def graphs(build_once: Callable[..., Path]) -> Path:
    return build_once("build-decomp", "--charades", "sample")


@pytest.fixture(scope="session")
def qwen(once: Once) -> Path:
    return once("qwen2-vl", tiny_models.write_qwen2_vl)


@pytest.fixture(scope="session")
def llava(once: Once) -> Path:
    return once("llava-onevision", tiny_models.write_llava_onevision)
