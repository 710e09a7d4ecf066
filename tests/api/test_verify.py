"""A verification with the sources notices every forgery, and objects to nothing that a build leaves.

By default one forgery of two benchmarks is made; `-m full` makes every kind of forgery of every benchmark.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import forgeries
import pytest
from figures import painted
from file_forgeries import FILE_KINDS, again, noticed_in_files
from forger import forge, structural
from stressreel import builders
from stressreel.core.output_files import BEGIN

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


@pytest.mark.parametrize(("benchmark", "kind"), CASES)
def test_forgery_of_rows_or_records_is_noticed(honest: Make, benchmark: str, kind: str, tmp_path: Path) -> None:
    """Files, schemas, counts and hashes tell nothing of it."""
    out, sources = honest(benchmark)
    if not forgeries.make(out, tmp_path / "copy", kind):
        pytest.skip("there is nothing to forge so")
    assert structural(tmp_path / "copy") == []
    assert forgeries.noticed(tmp_path / "copy", sources)


@pytest.mark.full
@pytest.mark.parametrize("kind", FILE_KINDS)
def test_forgery_of_files_is_noticed(honest: Make, benchmark: str, kind: str, tmp_path: Path) -> None:
    """The rows are those that were built, but other programs or people see something else."""
    out, _ = honest(benchmark)
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    with painted():
        if kind.startswith("figure"):
            again(copy)
        try:
            FILE_KINDS[kind](copy)
        except forgeries.NothingThereError:
            pytest.skip("there is nothing to forge so")
        assert noticed_in_files(copy)


@pytest.mark.full
def test_unchanged_copy_passes_with_notes_and_licence(honest: Make, benchmark: str, tmp_path: Path) -> None:
    out, sources = honest(benchmark)
    copy = forge(out, tmp_path / "copy", lambda forged: None)  # who writes as a build does
    assert forgeries.files_of(copy) == forgeries.files_of(out)
    assert forgeries.noticed(copy, sources) == []
    card = (copy / "README.md").read_text()
    (copy / "README.md").write_text(card.replace(BEGIN, f"{BEGIN}\n\nOur own words."))
    (copy / "LICENSE").write_text("CC0")
    shutil.rmtree(copy / ".build")
    assert forgeries.noticed(copy, sources) == []
