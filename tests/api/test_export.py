"""The exports as functions: what they return is what their commands print."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


@pytest.fixture(scope="module")
def clavi(build_once: Callable[..., Path]) -> Path:
    return build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")


@pytest.mark.parametrize("name", ["lmms-eval", "inspect", "files", "webdataset", "released"])
def test_the_result_is_what_the_command_prints(
    clavi: Path, build_once: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    to = tmp_path / "to"
    out = build_once("build-decomp", "--charades", "sample") if name == "released" else clavi
    export = getattr(stressreel, f"export_{name}", None) or partial(stressreel.export_tasks, harness=name)
    found = export(out, to=to)
    if name == "lmms-eval":
        tasks = found.to_pandas()["task"].tolist()
        assert tasks == [f"stressreel_clavi_{task.name}" for task in found.tasks]
        assert all((to / f"{task}.yaml").is_file() for task in tasks)
    if name == "released":
        assert found.count == len(list(found.folder.iterdir()))
    shutil.rmtree(to)
    assert f"{found}\n" == run("stressreel", "export", name, out, "--to", to).out


def test_values_that_are_not_allowed(clavi: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be True or False"):
        stressreel.export_files(clavi, to=tmp_path / "to", force="yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="lies in the output itself"):
        stressreel.export_files(clavi, to=clavi / "files")
