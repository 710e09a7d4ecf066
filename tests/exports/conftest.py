"""One small output of each builder, with videos; read only."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stressreel.core.output import FinishedOutput, open_output


@pytest.fixture(scope="module", autouse=True)
def _undecoded() -> Iterator[None]:
    """Let `datasets` hand out videos as bytes without torchcodec, which needs FFmpeg's shared libraries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datasets.config.TORCHCODEC_AVAILABLE", False)
        yield


@pytest.fixture(scope="session")
def outputs(built: Path, built_causal: Path, build_once: Callable[..., Path]) -> dict[str, Path]:
    given = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all")
    more = ("--text-perturbations", "random_noun", "--tagger", "pattern")
    return {"clavi": built, "causal": built_causal, "perturbed": build_once("build-perturbed", *given, *more)}


@pytest.fixture(scope="session")
def opened(outputs: dict[str, Path]) -> dict[str, FinishedOutput]:
    return {name: open_output(path) for name, path in outputs.items()}
