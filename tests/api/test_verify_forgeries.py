"""A verification with the sources notices every forgery, and objects to nothing that a build leaves.

By default one forgery of every benchmark is drawn; `-m full` draws more, and tries every kind in every place.
"""

import shutil
from collections.abc import Callable, Iterator
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


@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.full) for number in range(1, 30))])
def test_a_forgery_is_noticed(honest: Make, benchmark: str, number: int, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    check(forgeries.draw(out, tmp_path / "copy", number), sources)


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", forgeries.KINDS)
def test_every_kind_is_noticed_in_every_place(honest: Make, benchmark: str, kind: str, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    for made in forgeries.forgeries(out, tmp_path / "copy", [kind], 0):
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
