"""A verification with the sources notices every forgery, and objects to nothing that a build leaves.

By default some forgeries of every benchmark are drawn by a seed; `-m full` tries every kind in every place, and more
seeds.
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

DRAWN = 6
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
        out = build_once(*forgeries.command_of(benchmark, sources))
        forgeries.OTHERS[out] = build_once(*forgeries.command_of(benchmark, sources, other=True))
        return out, sources

    return make


@pytest.fixture(params=forgeries.BENCHMARKS)
def benchmark(request: pytest.FixtureRequest) -> str:
    return request.param


def check(made: forgeries.Forged, sources: Sources) -> None:
    """The forger left no trace in files, schemas, counts and hashes, and is found out all the same."""
    assert made.structural or structural(made.out) == [], made
    assert forgeries.noticed(made.out, sources), made


def test_a_copy_is_the_output(honest: Make, benchmark: str, tmp_path: Path) -> None:
    """The forger writes as a build does: what he leaves as it was has the same bytes."""
    out, _ = honest(benchmark)
    assert forgeries.files_of(forge(out, tmp_path / "copy", lambda forged: None)) == forgeries.files_of(out)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
@pytest.mark.parametrize("number", range(DRAWN))
def test_a_forgery_is_noticed(honest: Make, benchmark: str, number: int, seed: int, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    check(forgeries.draw(out, tmp_path / "copy", number, seed), sources)


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", forgeries.KINDS)
def test_every_kind_is_noticed_in_every_place(honest: Make, benchmark: str, kind: str, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    for made in forgeries.forgeries(out, tmp_path / "copy", [kind], 0):
        check(made, sources)


class TestNoFalseAlarm:
    def test_what_was_built_passes(self, honest: Make, benchmark: str) -> None:
        assert forgeries.noticed(*honest(benchmark)) == []

    def test_so_does_what_users_may_add(self, honest: Make, benchmark: str, tmp_path: Path) -> None:
        out, sources = honest(benchmark)
        copy = Path(shutil.copytree(out, tmp_path / "copy"))
        card = (copy / "README.md").read_text()
        (copy / "README.md").write_text(card.replace(BEGIN, f"{BEGIN}\n\nOur own words."))
        (copy / "LICENSE").write_text("CC0")
        shutil.rmtree(copy / ".build")
        assert forgeries.noticed(copy, sources) == []

    @pytest.mark.full
    def test_so_does_what_three_workers_build(self, honest: Make, benchmark: str, tmp_path: Path) -> None:
        _, sources = honest(benchmark)
        done = run(
            *forgeries.command_of(benchmark, sources), "--workers", 3, "--out", tmp_path / "out", "--no-progress"
        )
        assert done.code == 0, done.err
        assert forgeries.noticed(tmp_path / "out", sources) == []

    @pytest.mark.full
    def test_so_does_what_was_resumed(
        self, honest: Make, benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _, sources = honest(benchmark)
        command = (*forgeries.command_of(benchmark, sources), "--out", tmp_path / "out", "--no-progress")

        def full(*_: object, **__: object) -> None:
            raise OutputError("no space is left.")

        with monkeypatch.context() as patch:
            patch.setattr(build, "pack", full)
            refuses(run(*command), "no space")
        assert run(*command).code == 0
        assert forgeries.noticed(tmp_path / "out", sources) == []
