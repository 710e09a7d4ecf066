"""The exports as functions: what they return is what their commands print."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


@pytest.fixture(scope="module")
def clavi(build_once: Callable[..., Path]) -> Path:
    return build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")


@pytest.mark.parametrize("name", ["lmms-eval", "inspect", "files", "webdataset"])
def test_the_result_is_what_the_command_prints(clavi: Path, tmp_path: Path, name: str) -> None:
    to = tmp_path / "to"
    found = getattr(stressreel, f"export_{name.replace('-', '_')}")(clavi, to=to)
    shutil.rmtree(to)
    assert f"{found}\n" == run("stressreel", "export", name, clavi, "--to", to).out


def test_tasks_are_a_table(clavi: Path, tmp_path: Path) -> None:
    found = stressreel.export_lmms_eval(clavi, to=tmp_path / "to", name="mine")
    assert found.to_pandas()["task"].tolist() == [f"mine_{task.name}" for task in found.tasks]
    assert all((tmp_path / "to" / f"{name}.yaml").is_file() for name in found.to_pandas()["task"])


def test_the_layout_of_the_authors(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-decomp", "--charades", "sample")
    found = stressreel.export_released(out, to=tmp_path / "to")
    assert found.count == len(list(found.folder.iterdir()))
    shutil.rmtree(found.folder)
    assert f"{found}\n" == run("stressreel", "export", "released", out, "--to", tmp_path / "to").out


def test_values_that_are_not_allowed(clavi: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        stressreel.export_inspect(clavi, to=tmp_path / "to", name="a-b")
    with pytest.raises(UsageError, match="must be True or False"):
        stressreel.export_files(clavi, to=tmp_path / "to", force="yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least 11kB"):
        stressreel.export_webdataset(clavi, to=tmp_path / "to", shard_size="5")
    with pytest.raises(UsageError, match="lies in the output itself"):
        stressreel.export_files(clavi, to=clavi / "files")
