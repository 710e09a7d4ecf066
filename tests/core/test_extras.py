"""What the core does without any extra, and what is said where one is missing."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from commands import Ran, run_process
from stressreel.core.extras import EXTRAS

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
PACKAGES = [name.partition(".")[2].replace(".", "/") for name in SETTINGS["tool"]["setuptools"]["packages"]]
BLOCKED = [name for name in EXTRAS if name not in ("torch", "torchcodec", "transformers", "safetensors")]
"""`datasets` takes those four from the list of what is installed, so hiding them alone would break it."""
COPIED = ROOT / "exports" / "frames.py"  # into tasks of inspect-ai, where it imports nothing of ours
WITH_EXTRA = {
    *(f"corruptions/visual/{name}.py" for name in ("blur", "camera", "digital", "noise")),
    "evaluation/probes/interception.py",
    "language/chat.py",
}
"""Modules that import an extra's package at the top; they are reached by `import_extra` only."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables of a Python, and of its worker processes, that has no extra."""
    folder = tmp_path_factory.mktemp("site")
    packages = sorted({EXTRAS[name][0] for name in BLOCKED})
    code = f"""
import importlib.metadata as metadata, sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, *arguments):
        return None if name in {BLOCKED} else self.finder.find_spec(name, *arguments)
sys.meta_path[:] = map(Without, sys.meta_path)
distribution = metadata.distribution
def installed(name):
    if name in {packages}:
        raise metadata.PackageNotFoundError(name)
    return distribution(name)
metadata.distribution = installed
"""
    (folder / "sitecustomize.py").write_text(code)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def call(bare: dict[str, str], name: str, *arguments: object) -> Ran:
    return run_process(name, *arguments, env=bare)


@pytest.mark.full
def test_the_first_commands_need_no_extra(bare: dict[str, str], tmp_path: Path) -> None:
    out, small = tmp_path / "clavi", ("--limit", 1, "--preset", "ultrafast", "--workers", 1, "--no-progress")
    built = call(bare, "build-clavi", "--charades", "sample", "--out", out, *small)
    assert built.code == 0, built.err
    verified = call(bare, "stressreel", "verify", out)
    assert verified.code == 0, verified.out
    assert "not run: decord is not installed: pip install 'stressreel[decord]'" in verified.out
    assert call(bare, "stressreel", "card", out).code == 0
    assert call(bare, "stressreel", "list", "visual").code == 0


FULL = pytest.mark.full


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("build-perturbed", ["--msrvtt", "sample", "--perturbations", "jpeg"], ("opencv-python-headless", "perturb")),
        pytest.param("build-clavi", ["--charades", "sample", "--source", "sta"], ("spacy", "text"), marks=FULL),
        pytest.param("build-causal", ["--annotations", "sample"], ("sentence-transformers", "sbert"), marks=FULL),
        ("stressreel", ["data", "show"], ("nltk", "text")),
        ("stressreel", ["verify", "out", "--identity", "me", "--issuer", "x"], ("a signature", "sign")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_missing_extra_names_itself_and_its_command(
    bare: dict[str, str], tmp_path: Path, name: str, arguments: list[str], says: tuple[str, str]
) -> None:
    out = [] if name == "stressreel" else ["--out", tmp_path / "out", "--no-progress"]
    done = call(bare, name, *arguments, *out)
    assert done.code == 1
    assert re.search(
        rf"not installed.*: pip install 'stressreel\[([a-z]+,)*{says[1]}(,[a-z]+)*\]'", done.err, re.DOTALL
    )
    assert says[0] in done.err
    assert "fault in stressreel" not in done.err
    assert not (tmp_path / "out" / "build.json").exists()


@pytest.mark.parametrize("module", EXTRAS)
def test_every_extra_of_the_table_brings_its_package(module: str) -> None:
    package, extra = EXTRAS[module]
    listed = PROJECT["optional-dependencies"][extra]
    if module == "safetensors":  # transformers brings it
        package = "transformers"
    pinned = (f"{package}>=", f"{package}==")
    assert any(line.startswith(pinned) for line in listed)
    assert not any(line.startswith(pinned) for line in PROJECT["dependencies"])


def absolute_imports(nodes: Iterable[ast.AST]) -> set[str]:
    """The packages that nodes import by an absolute name."""
    found = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom) and not getattr(each, "level", 0)]
    names = [[alias.name for alias in each.names] if isinstance(each, ast.Import) else [each.module] for each in found]
    return {str(name).split(".")[0] for listed in names for name in listed}


def test_extras_are_imported_lazily() -> None:
    eager, users = set(), set()
    for folder in PACKAGES:
        for path in (ROOT / folder).glob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if absolute_imports(tree.body) & {*EXTRAS}:
                eager.add(path.relative_to(ROOT).as_posix())
            if "av" in absolute_imports(ast.walk(tree)) and path != COPIED:
                users.add(path.parent.name)
    assert eager == WITH_EXTRA
    assert users <= {"video", "core"}  # core names the version
    assert COPIED.is_file()
