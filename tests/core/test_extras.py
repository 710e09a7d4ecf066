"""What the core does without any extra, and what is said where one is missing."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from commands import refuses, run_process
from stressreel.core.extras import EXTRAS

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BLOCKED = [name for name in EXTRAS if name not in ("torch", "torchcodec", "transformers", "safetensors")]
"""`datasets` takes those four from the list of what is installed, so hiding them alone would break it."""
COPIED = ROOT / "exports" / "frames.py"  # into tasks of inspect-ai, where it imports nothing of ours
EAGER = {
    *(f"corruptions/visual/{name}.py" for name in ("blur", "camera", "digital", "extra", "noise")),
    *("evaluation/probes/interception.py", "language/chat.py"),
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
    """Runs a command in a folder of its own, in a process that has no extra, nor have its workers."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return lambda line: run_process(*line.split(), env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path)


@pytest.mark.full
def test_the_first_commands_need_no_extra(bare):
    build = "build-clavi --charades sample --out o --limit 1 --preset ultrafast --workers 1 --no-progress"
    done = [bare(line) for line in (build, "stressreel verify o", "stressreel card o", "stressreel list visual")]
    assert [each.code for each in done] == [0, 0, 0, 0], done
    assert "not run: decord is not installed: pip install 'stressreel[decord]'" in done[1].out


FULL = pytest.mark.full
LACKING = {
    "build-perturbed --msrvtt sample --out o": ("opencv", "perturb"),
    "build-clavi --charades sample --source sta --out o": ("spacy", "text"),
    "build-causal --annotations sample --out o": ("sentence-transformers", "sbert"),
    "stressreel verify o --identity me --issuer x": ("a signature", "sign"),
    "stressreel data show": ("nltk", "text"),
}


@pytest.mark.parametrize("line", [*(pytest.param(line, marks=FULL) for line in [*LACKING][:4]), [*LACKING][4]])
def test_a_missing_extra_names_itself_and_its_command(bare, tmp_path, line):
    package, extra = LACKING[line]
    done = bare(line)
    refuses(done, package)
    assert re.search(rf"not installed.*: pip install 'stressreel\[([a-z]+,)*{extra}(,[a-z]+)*\]'", done.err, re.DOTALL)
    assert not (tmp_path / "o" / "build.json").exists()


def test_every_extra_of_the_table_brings_its_package():
    for module, (package, extra) in EXTRAS.items():
        package = "transformers" if module == "safetensors" else package  # which brings it
        pinned = (f"{package}>=", f"{package}==")
        assert any(line.startswith(pinned) for line in SETTINGS["project"]["optional-dependencies"][extra]), module
        assert not any(line.startswith(pinned) for line in SETTINGS["project"]["dependencies"]), module


def test_extras_are_imported_lazily():
    folders = [name.partition(".")[2].replace(".", "/") for name in SETTINGS["tool"]["setuptools"]["packages"]]
    texts = {path: path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).glob("*.py")}
    at_top = {path: {*re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)} for path, text in texts.items()}
    assert {path.relative_to(ROOT).as_posix() for path, names in at_top.items() if names & {*EXTRAS}} == EAGER
    users = {path for path, text in texts.items() if re.search(r"^ *(?:import|from) av\b", text, re.MULTILINE)}
    assert {path.parent.name for path in users - {COPIED}} <= {"video", "core"}  # core names the version
    assert COPIED in users
