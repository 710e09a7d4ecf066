"""What README and the docs show works: Python blocks run, commands are parsed, tables are up to date."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclopts import CycloptsError
from forgeries import know_the_example
from pages import BUILDING, PAGES, WALKED, commands, parse, python_blocks
from stressreel.api.list import options_page
from stressreel.core.errors import StressreelError

LONG = ("docs/probes.md",)  # trains a model
ELSEWHERE = {
    "docs/decode.md": "test_decode.py runs them",
    **dict.fromkeys(WALKED, "test_walkthrough.py runs them, between the commands"),
    **dict.fromkeys(BUILDING, "test_ways.py runs them, with the processes that they start"),
}


RUN = [page for page in PAGES if python_blocks(page) and page not in ELSEWHERE]


@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.full] if page in LONG else []) for page in RUN])
def test_python_blocks_run(page: str, folder_for: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_for(page)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "cache")  # else another run's rows are read
    names: dict[str, Any] = {}
    for number, block in enumerate(python_blocks(page)):
        exec(compile(block, f"{page}, block {number + 1}", "exec"), names)


@pytest.mark.parametrize(("page", "words"), [pytest.param(*each, id=shlex.join(each[1])) for each in commands()])
def test_commands_are_parsed(page: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: True)  # files that are not here
    know_the_example(monkeypatch)
    try:
        parse(words)
    except (CycloptsError, StressreelError) as error:
        pytest.fail(f"{page}: {shlex.join(words)}\n{error}")


def test_options_page_follows_the_settings() -> None:
    assert PAGES["docs/options.md"].read_text("utf-8").strip() == options_page().strip(), (
        "run `stressreel list options > docs/options.md`"
    )
