"""The Python of pages as a reader runs it, processes and all: a script, standard input, and a notebook."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pages import PAGES, WALKED, python_blocks

WAYS = ("script", "stdin", "notebook")
RUN = [page for page in PAGES if python_blocks(page) and page not in ("docs/decode.md", *WALKED)]
EXECUTE = "from nbclient.cli import NbClientApp; NbClientApp.launch_instance()"


@pytest.mark.full
@pytest.mark.parametrize("page", RUN)
@pytest.mark.parametrize("way", WAYS)
def test_python_runs_as_it_stands(way: str, page: str, folder_for: Callable[..., Path]) -> None:
    folder, blocks = folder_for(page), python_blocks(page)
    if way == "notebook":
        check_notebook(run_notebook(blocks, folder), builds=sum(map(builds, blocks)))
        return
    program = "\n".join(blocks)
    (folder / "example.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-W", "error", "example.py" if way == "script" else "-"]
    err = started(command, folder, given=program if way == "stdin" else None)
    assert "Traceback" not in err
    assert len(re.findall(r"^build-clavi: (\d+)/\1 pairs in", err, re.M)) == sum(map(builds, blocks)), err


def builds(block: str) -> int:
    """How often an example builds."""
    return block.count("stressreel.build_clavi(")


def started(command: Sequence[str], folder: Path, *, given: str | None = None) -> str:
    """Run a command in a folder with caches of its own; what it wrote on standard error."""
    places = {"HF_DATASETS_CACHE": "cache", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "runtime"}
    env = {**os.environ, **{name: str(folder / place) for name, place in places.items()}}
    done = subprocess.run(command, cwd=folder, env=env, input=given, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def run_notebook(cells: Sequence[str], folder: Path) -> dict[str, Any]:
    """Execute cells as `jupyter execute` does; the notebook with what they showed."""
    named = [
        {"cell_type": "code", "id": f"c{n}", "source": cell, "metadata": {}, "outputs": [], "execution_count": None}
        for n, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": named}
    (folder / "example.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    started([sys.executable, "-c", EXECUTE, "example.ipynb", "--inplace"], folder)
    done: dict[str, Any] = json.loads((folder / "example.ipynb").read_text("utf-8"))
    return done


def check_notebook(done: Mapping[str, Any], *, builds: int) -> None:
    """Progress was drawn by widgets, and nothing was warned of."""
    parts = [part for cell in done["cells"] for part in cell["outputs"] if part.get("name") == "stderr"]
    errors = "".join("".join(part["text"]) for part in parts)
    assert re.sub(r"^.*: \d+:\d\d\n", "", errors, flags=re.M) == ""  # but for stages that a slow machine reports
    models = [model for model in done["metadata"].get("widgets", {}).values() for model in model["state"].values()]
    labels = [str(model["state"].get("value")).replace("\u2007", " ") for model in models]
    assert labels.count("build-clavi: 100%") == builds
