"""A verification with the sources notices every forgery, and objects to nothing that a build leaves.

By default one forgery of two benchmarks is made; `-m full` makes every kind of forgery of every benchmark.
"""

import shutil
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import forgeries
import pytest
from commands import refuses, run
from forger import forge, structural
from stressreel import builders
from stressreel.builders.runtime import build
from stressreel.core.card_file import BEGIN
from stressreel.core.errors import OutputError

Sources = Path | str
BY_DEFAULT = {"clavi": "row added", "backwards": "frames reversed"}
CASES = [
    pytest.param(benchmark, kind, marks=() if BY_DEFAULT.get(benchmark) == kind else pytest.mark.full)
    for benchmark in forgeries.BENCHMARKS
    for kind in forgeries.KINDS
]
Make = Callable[..., tuple[Path, Sources]]


@pytest.fixture(scope="module", autouse=True)
def _example() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        forgeries.know_the_example(patch)
        yield
    builders.load_benchmark.cache_clear()


@pytest.fixture(scope="module")
def honest(once: Callable[..., Path], build_once: Callable[..., Path]) -> Make:
    """Build a small output once in a session; return it and its sources."""

    def make(benchmark: str) -> tuple[Path, Sources]:
        if benchmark != "clavi":
            sources: Sources = forgeries.sources_of(benchmark, Path())
        else:
            sources = once("clavi-sources", lambda folder: forgeries.sources_of(benchmark, folder))
        return build_once(*forgeries.command_of(benchmark, sources)), sources

    return make


@pytest.fixture(params=forgeries.BENCHMARKS)
def benchmark(request: pytest.FixtureRequest) -> str:
    return request.param


def check(made: forgeries.Forged, sources: Sources) -> None:
    """The forger left no trace in files, schemas, counts and hashes, and is found out all the same."""
    assert made.structural or structural(made.out) == [], made
    assert forgeries.noticed(made.out, sources), made


@pytest.mark.full
def test_a_copy_is_the_output(honest: Make, benchmark: str, tmp_path: Path) -> None:
    """The forger writes as a build does: what he leaves as it was has the same bytes."""
    out, _ = honest(benchmark)
    assert forgeries.files_of(forge(out, tmp_path / "copy", lambda forged: None)) == forgeries.files_of(out)


@pytest.mark.parametrize(("benchmark", "kind"), CASES)
def test_a_forgery_is_noticed(honest: Make, benchmark: str, kind: str, tmp_path: Path) -> None:
    """In one of the places where this kind can be tried, if there is one."""
    out, sources = honest(benchmark)
    for made in islice(forgeries.forgeries(out, tmp_path / "copy", [kind], 0), 1):
        check(made, sources)


@pytest.mark.full
def test_what_was_built_passes_and_so_does_what_users_may_add(honest: Make, benchmark: str, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    assert forgeries.noticed(copy, sources) == []
    card = (copy / "README.md").read_text()
    (copy / "README.md").write_text(card.replace(BEGIN, f"{BEGIN}\n\nOur own words."))
    (copy / "LICENSE").write_text("CC0")
    shutil.rmtree(copy / ".build")
    assert forgeries.noticed(copy, sources) == []


@pytest.mark.full
def test_so_does_what_three_workers_build_and_what_was_resumed(
    honest: Make, benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sources = honest(benchmark)
    command = (*forgeries.command_of(benchmark, sources), "--out", tmp_path / "out", "--no-progress", "--workers", 3)

    def full(*_: object, **__: object) -> None:
        raise OutputError("no space is left.")

    with monkeypatch.context() as patch:
        patch.setattr(build, "pack", full)
        refuses(run(*command), "no space")
    assert run(*command).code == 0
    assert forgeries.noticed(tmp_path / "out", sources) == []
