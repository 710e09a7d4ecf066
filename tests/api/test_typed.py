"""Functions that are made from settings: what type checkers, editors and `help` know of them."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import stressreel
from stressreel.builders import BENCHMARKS, load_benchmark
from stressreel.core.settings import options_of
from stressreel.negatives.settings import MineSettings

ROOT = Path(__file__).parents[2]
SETTINGS = {f"build_{name}": load_benchmark(name).settings for name in BENCHMARKS} | {"mine": MineSettings}
SCRIPT = """import pandas
import stressreel
from typing_extensions import assert_type
stressreel.build_clavi(charades="sample", ouf="out/clavi")  # wrong
stressreel.build_clavi(charades="sample", out="o", crf=20).load("questions")
stressreel.build_clavi(charades="sample", out="o", crf="20")  # wrong
stressreel.build_perturbed(msrvtt="sample", severity="1-5", perturbations=["noise", "jpeg"])
stressreel.build_decomp(charades="sample", embed="sometimes")  # wrong
stressreel.build_causal()  # wrong
stressreel.mine("sample", balence="none")  # wrong
assert_type(stressreel.build_clavi(charades="sample", out="a"), stressreel.Output)
assert_type(stressreel.build_clavi(charades="sample", dry_run=True), stressreel.DryRun)
assert_type(stressreel.build_clavi(charades="sample", out="a", shard="1/2"), stressreel.Output | stressreel.Unfinished)
assert_type(stressreel.build("clavi", charades="sample", dry_run=True), stressreel.DryRun)
out = stressreel.read("a")
scores = stressreel.score(out, [{"id": "a", "answer": "yes"}])
stressreel.score("a", {"id": ["a"], "answer": ["yes"]})
stressreel.score("a", out.load("questions"))
stressreel.score("a", 3)  # wrong
stressreel.compare(scores, "b")
stressreel.score_modalities(out, {"video": "v.jsonl", "text": {"a": "yes"}, "video+text": pandas.DataFrame()})
stressreel.verify("a", charades="~/Charades", sample=3)
"""


def imports_for_type_checkers() -> dict[str, str]:
    """Return the module of every name that `stressreel/__init__.py` imports for type checkers, by name."""
    tree = ast.parse(Path(str(stressreel.__file__)).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    return {
        str(alias.asname): "." * node.level + str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_see_all_public_names() -> None:
    assert imports_for_type_checkers() == stressreel._HOMES
    assert stressreel.__all__ == [*stressreel._HOMES]
    for name, home in stressreel._HOMES.items():
        assert getattr(importlib.import_module(home, "stressreel"), name) is getattr(stressreel, name)


@pytest.mark.parametrize("name", SETTINGS)
def test_signature_and_docstring_have_every_option(name: str) -> None:
    function = getattr(stressreel, name)
    parameters = inspect.signature(function).parameters
    options = {option.name: option for option in options_of(SETTINGS[name])}
    assert {*parameters} == {*options}
    entries, returns, raises = inspect.getdoc(function).split("\nArgs:\n")[1].split("\n\n")
    assert (returns[:9], raises[:8]) == ("Returns:\n", "Raises:\n"), name
    for option in options.values():
        assert parameters[option.name].default == (inspect.Parameter.empty if option.required else option.default)
        assert f"    {option.name}: {option.help}" in entries


@pytest.mark.full
def test_a_type_checker_finds_wrong_keywords_and_types(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "stressreel").symlink_to(ROOT)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    wrong = {number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")}
    assert {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line} == wrong, done.stdout
