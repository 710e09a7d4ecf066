"""What README and the docs show works: Python blocks run, commands and their options exist, tables are up to date."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from stressreel.builders import BENCHMARKS
from stressreel.cli.list import options_page
from stressreel.cli.main import load_command, stressreel
from stressreel.samples.cache import cached_sample

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
PROGRAMS = ("stressreel", *(f"build-{name}" for name in BENCHMARKS))
ELSEWHERE = {
    "docs/decode.md": "test_decode.py runs them",
}


def python_blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGES[page].read_text("utf-8"), re.M | re.S)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the page and the words of every command of ours that is shown."""
    for page, path in PAGES.items():
        for line in path.read_text("utf-8").replace("\\\n", " ").splitlines():
            if re.match(rf" *(?:\$ )?({'|'.join(PROGRAMS)})(?= |$)", line) and (
                line.startswith("    ") or "$ " in line
            ):
                yield page, shlex.split(line.replace("$ ", "").partition(" | ")[0], comments=True)


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """Find the command that words name, and what is left of them."""
    command: Any = stressreel if words[0] == "stressreel" else load_command(words[0])
    rest = words[1:]
    if rest[:1] == ["score"] and rest[1] not in command.get_command(click.Context(command), "score").commands:
        rest.insert(1, "answers")  # what `stressreel score OUT` means
    while isinstance(command, click.Group) and rest:
        _, under, rest = command.resolve_command(click.Context(command), rest)
        assert under is not None
        command = under
    return command, rest


@pytest.fixture
def folder(page: str, tmp_path: Path, built: Path, build_once: Callable[..., Path]) -> Path:
    """A folder with the outputs and the videos that the blocks of a page name."""
    (tmp_path / "out").mkdir()
    if page != "docs/api.md":  # builds where README has its output
        (tmp_path / "out" / "clavi").symlink_to(built)
    arguments = ("--msrvtt", "sample", "--severity", 3, "--limit", 2)
    if page == "docs/text.md":
        texts = ("--text-perturbations", "no_verbs", "--tagger", "pattern", "--preset", "ultrafast")
        suite = build_once("build-perturbed", *arguments, "--modality", "multimodal", "--perturbations", "jpeg", *texts)
    else:
        suite = build_once("build-perturbed", *arguments, "--perturbations", "jumble,gaussian_noise", "--no-render")
    if page == "docs/decomp.md":
        graphs = build_once("build-decomp", "--charades", "sample")
        (tmp_path / "out" / "decomp").symlink_to(graphs)
    for name in ("perturbed", "msrvtt-p"):
        (tmp_path / "out" / name).symlink_to(suite)
    (tmp_path / "MSRVTT").symlink_to(cached_sample("msrvtt"))
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page) and page not in ELSEWHERE])
def test_python_blocks_run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "cache")  # else another run's rows are read
    names: dict[str, Any] = {}
    for number, block in enumerate(python_blocks(page)):
        exec(compile(block, f"{page}, block {number + 1}", "exec"), names)


def test_pages_whose_blocks_run_elsewhere_have_some() -> None:
    assert all(map(python_blocks, ELSEWHERE))


@pytest.mark.parametrize(("page", "words"), [pytest.param(*each, id=shlex.join(each[1])) for each in commands()])
def test_commands_and_options_exist(page: str, words: list[str]) -> None:
    command, rest = named(words)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    known |= set(command.get_help_option_names(click.Context(command)))
    unknown = [word for word in rest if word.startswith("-") and word.split("=")[0] not in known]
    assert not unknown, f"{page}: {shlex.join(words)}"


def test_the_page_of_options_is_that_of_the_settings() -> None:
    assert PAGES["docs/options.md"].read_text("utf-8").strip() == options_page().strip(), (
        "run `stressreel list options > docs/options.md`"
    )
