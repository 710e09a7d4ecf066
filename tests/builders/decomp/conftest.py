"""Small outputs of question graphs, built once for all workers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from agqa_questions import agqa_rows, write_agqa
from commands import run
from stressreel.annotations.samples.cache import cached_sample
from stressreel.core.seeds import rng_for


@pytest.fixture(scope="session")
def drawn(build_once: Callable[..., Path]) -> Path:
    """Graphs of the whole drawn sample, with its videos; read only."""
    return build_once("build-decomp", "--charades", "sample")


@pytest.fixture(scope="session")
def unembedded(build_once: Callable[..., Path]) -> Path:
    """The same without the videos; read only."""
    return build_once("build-decomp", "--charades", "sample", "--embed", "no")


@pytest.fixture(scope="session")
def charades(once: Callable[..., Path]) -> Path:
    """Annotations of 40 made-up videos in Charades' files, the same few actions in any order; read only."""
    return once("charades", write_charades)


def write_charades(folder: Path) -> None:
    folder.mkdir()
    sample = cached_sample("charades")
    for path in sample.glob("Charades_v1_*.txt"):
        shutil.copy(path, folder)
    header = (sample / "Charades_v1_train.csv").read_text("utf-8").splitlines()[0]
    for split, numbers in (("train", range(30)), ("test", range(30, 40))):
        lines = [header]
        for number in numbers:
            rng = rng_for(0, "made up", number)
            codes = rng.choice(["c008", "c106", "c143", "c015", "c026", "c020", "c118"], 5, replace=False)
            begun = [round(9 * place + float(rng.random()) * 3, 2) for place in range(5)]
            actions = ";".join(f"{code} {at} {at + 4:.2f}" for code, at in zip(codes, begun, strict=True))
            lines.append(f"V{number * 7 % 40:03d},S,Kitchen,7,7,Yes,,,,{actions},50.00")
        (folder / f"Charades_v1_{split}.csv").write_text("\n".join(lines) + "\n", "utf-8")


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
def published(once: Callable[..., Path], drawn: Path) -> Path:
    """The drawn sample's graphs in the published layout, both splits; read only."""

    def write(folder: Path) -> None:
        for split in ("train", "test"):
            to = folder / f"{split}_hierarchies"
            done = run("stressreel", "export", "released", drawn, "--to", to, "--split", split)
            assert done.code == 0, done.err

    return once("published", write)
