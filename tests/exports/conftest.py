"""One small output of each builder, with videos; read only."""

from pathlib import Path

import pytest
from commands import run
from stressreel.records.output import FinishedOutput, open_output

BUILDS = {
    "clavi": ("build-clavi", "--charades", "sample"),
    "causal": ("build-causal", "--annotations", "sample", "--tagger", "pattern"),
    "perturbed": (
        *("build-perturbed", "--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg"),
        *("--modality", "all", "--text-perturbations", "random_noun", "--tagger", "pattern"),
    ),
}


@pytest.fixture(scope="session")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    pytest.importorskip("sentence_transformers")
    found = {}
    for name, (command, *arguments) in BUILDS.items():
        found[name] = tmp_path_factory.mktemp("outputs") / name
        done = run(command, *arguments, "--out", found[name], "--no-progress", "--workers", 2)
        assert done.code == 0, done.err
    return found


@pytest.fixture(scope="session")
def opened(outputs: dict[str, Path]) -> dict[str, FinishedOutput]:
    return {name: open_output(path) for name, path in outputs.items()}
