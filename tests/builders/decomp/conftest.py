from collections.abc import Callable
from pathlib import Path

import pytest
from agqa_questions import agqa_rows, write_agqa
from commands import succeed


@pytest.fixture(scope="session")
def agqa(once: Callable[..., Path]) -> Path:
    """AGQA's files: questions of all templates about two videos, and their scene graphs; read only."""
    return once("agqa", lambda folder: write_agqa(folder, agqa_rows(every=4)))


@pytest.fixture(scope="session")
def plain(build_once: Callable[..., Path], agqa: Path) -> Path:
    """Graphs of AGQA's questions without scene graphs; read only."""
    return build_once("build-decomp", "--agqa", agqa)


@pytest.fixture(scope="session")
def graphed(build_once: Callable[..., Path], agqa: Path) -> Path:
    """Graphs of AGQA's questions with scene graphs; read only."""
    return build_once("build-decomp", "--agqa", agqa, "--graphs", agqa)


@pytest.fixture(scope="session")
def published(once: Callable[..., Path], built_graphs: Path) -> Path:
    """The sample's graphs in the published layout, both splits; read only."""

    def write(folder: Path) -> None:
        for split in ("train", "test"):
            to = folder / f"{split}_hierarchies"
            succeed("stressreel", "export", "released", built_graphs, "--to", to, "--split", split)

    return once("published", write)
