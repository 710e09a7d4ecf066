"""What the core does without any extra, and what is said where one is missing."""

import ast
import os
import re
import tomllib
from pathlib import Path

import pytest
from commands import refuses, run_process
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


WITHOUT = f"""
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
    if name in {[EXTRAS[name][0] for name in BLOCKED]}:
        raise metadata.PackageNotFoundError(name)
    return distribution(name)
metadata.distribution = installed
"""


@pytest.fixture
def bare(tmp_path):
    """Environment variables of a Python, and of its worker processes, that has no extra."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT)
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.full
def test_the_first_commands_need_no_extra(bare, tmp_path):
    out, small = tmp_path / "clavi", ("--limit", 1, "--preset", "ultrafast", "--workers", 1, "--no-progress")
    done = [
        run_process(name, *arguments, env=bare)
        for name, *arguments in (
            ("build-clavi", "--charades", "sample", "--out", out, *small),
            ("stressreel", "verify", out),
            ("stressreel", "card", out),
            ("stressreel", "list", "visual"),
        )
    ]
    assert [each.code for each in done] == [0, 0, 0, 0], done
    assert "not run: decord is not installed: pip install 'stressreel[decord]'" in done[1].out


FULL = pytest.mark.full
SAMPLE = "--out out --no-progress"


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        pytest.param(f"build-perturbed --msrvtt sample --perturbations jpeg {SAMPLE}", "opencv", "perturb", marks=FULL),
        pytest.param(f"build-clavi --charades sample --source sta {SAMPLE}", "spacy", "text", marks=FULL),
        pytest.param(f"build-causal --annotations sample {SAMPLE}", "sentence-transformers", "sbert", marks=FULL),
        ("stressreel data show", "nltk", "text"),
        pytest.param("stressreel verify out --identity me --issuer x", "a signature", "sign", marks=FULL),
    ],
)
def test_a_missing_extra_names_itself_and_its_command(bare, tmp_path, command, package, extra):
    done = run_process(*command.split(), env=bare, cwd=tmp_path)
    refuses(done, package)
    assert re.search(rf"not installed.*: pip install 'stressreel\[([a-z]+,)*{extra}(,[a-z]+)*\]'", done.err, re.DOTALL)
    assert not (tmp_path / "out" / "build.json").exists()


def test_every_extra_of_the_table_brings_its_package():
    for module, (package, extra) in EXTRAS.items():
        package = "transformers" if module == "safetensors" else package  # which brings it
        pinned = (f"{package}>=", f"{package}==")
        assert any(line.startswith(pinned) for line in PROJECT["optional-dependencies"][extra]), module
        assert not any(line.startswith(pinned) for line in PROJECT["dependencies"]), module


def absolute_imports(nodes):
    """The packages that nodes import by an absolute name."""
    found = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom) and not getattr(each, "level", 0)]
    names = [[alias.name for alias in each.names] if isinstance(each, ast.Import) else [each.module] for each in found]
    return {str(name).split(".")[0] for listed in names for name in listed}


def test_extras_are_imported_lazily():
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
