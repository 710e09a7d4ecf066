"""What the core does without any extra, and what is said where one is missing."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import Ran, run_process
from stressreel.core.errors import InputError
from stressreel.core.extras import EXTRAS, MissingExtraError, import_extra, missing

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCKED = [name for name in EXTRAS if name not in ("torch", "torchcodec", "transformers", "safetensors")]
"""`datasets` takes those four from the list of what is installed, so hiding them alone would break it."""
COPIED = ROOT / "exports" / "frames.py"  # into tasks of inspect-ai, where it imports nothing of ours
WITH_EXTRA = {
    *(f"corruptions/visual/{name}.py" for name in ("blur", "camera", "digital", "noise")),
    "evaluation/models/bounded.py",
    "evaluation/probes/capture.py",
    "evaluation/probes/interception.py",
    "evaluation/probes/simulation.py",
}
"""Modules that import an extra's package at the top; they are reached by `import_extra` only."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables of a Python, and of its worker processes, that has no extra."""
    folder = tmp_path_factory.mktemp("site")
    code = f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED}))\n"
    (folder / "sitecustomize.py").write_text(code)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def call(bare: dict[str, str], name: str, *arguments: object) -> Ran:
    return run_process(name, *arguments, env=bare)


def test_the_first_commands_need_no_extra(bare: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "clavi"
    built = call(
        bare,
        "build-clavi",
        "--charades",
        "sample",
        "--out",
        out,
        "--limit",
        1,
        "--preset",
        "ultrafast",
        "--workers",
        1,
        "--no-progress",
    )
    assert built.code == 0, built.err
    verified = call(bare, "stressreel", "verify", out)
    assert verified.code == 0, verified.out
    assert "not checked: decord is not installed: pip install 'stressreel[decord]'" in verified.out
    assert "FAIL" not in verified.out
    assert call(bare, "stressreel", "card", out).code == 0
    assert call(bare, "stressreel", "list", "visual").code == 0


def test_the_samples_are_drawn_without_extras(bare: dict[str, str]) -> None:
    code = """
from stressreel.annotations.samples import cartoon, causal, charades
print(next(charades.frames(charades.sample_videos()[0])).shape)
print(next(cartoon.frames(causal.sample_episodes()[0], 0)).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True)
    assert done.stdout.splitlines()[:2] == ["(240, 320, 3)"] * 2, done.stderr


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("build-perturbed", ["--msrvtt", "sample", "--perturbations", "jpeg"], ("jpeg", "perturb")),
        ("build-perturbed", ["--msrvtt", "sample", "--perturbations", "mpeg2"], ("FFmpeg's program", "perturb")),
        ("build-perturbed", ["--msrvtt", "sample", "--modality", "text"], ("nltk", "text")),
        ("build-clavi", ["--charades", "sample", "--source", "sta", "--no-render"], ("textblob", "text")),
        ("build-causal", ["--annotations", "sample", "--no-render"], ("sentence-transformers", "sbert")),
        ("stressreel", ["data", "show"], ("nltk", "text")),
        ("stressreel", ["verify", "out", "--identity", "me", "--issuer", "x"], ("a signature", "sign")),
        ("stressreel", ["data", "download"], ("nltk", "text")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_missing_extra_names_itself_and_its_command(
    bare: dict[str, str], tmp_path: Path, name: str, arguments: list[str], says: tuple[str, str]
) -> None:
    out = [] if name == "stressreel" else ["--out", tmp_path / "out", "--no-progress"]
    done = call(bare, name, *arguments, *out)
    assert done.code == 1
    assert f"not installed here: pip install 'stressreel[{says[1]}]'" in done.err
    assert says[0] in done.err
    assert "fault in stressreel" not in done.err
    assert not (tmp_path / "out" / "build.json").exists()


def test_from_python_too(bare: dict[str, str]) -> None:
    code = """
import numpy, stressreel
from stressreel.core.errors import InputError
for call in (lambda: stressreel.corrupt(numpy.zeros((1, 8, 8, 3), numpy.uint8), "jpeg", severity=1, key="a"),
             lambda: stressreel.corrupt_text("a man runs", "drop_last", key="a")):
    try:
        call()
    except InputError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True)
    assert [line.rpartition("[")[2] for line in done.stdout.splitlines()] == ["perturb]'", "text]'"], done.stderr


def test_our_own_processes_import_nltk_alone() -> None:
    code = """
import sys
from stressreel.core.extras import import_extra, own_process
own_process()
print(import_extra("nltk.tag.perceptron").PerceptronTagger.__name__, import_extra("textblob.en").tag.__name__)
print([name for name in sys.modules if name.split(".")[0] in ("scipy", "sklearn")])
import scipy.stats
"""
    pytest.importorskip("nltk")
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["PerceptronTagger tag", "[]"]


@pytest.mark.parametrize("module", EXTRAS)
def test_every_extra_of_the_table_brings_its_package(module: str) -> None:
    package, extra = EXTRAS[module]
    listed = PROJECT["optional-dependencies"][extra]
    if module == "safetensors":  # transformers brings it
        package = "transformers"
    assert any(line.startswith(f"{package}>=") for line in listed)
    assert not any(line.startswith(f"{package}>=") for line in PROJECT["dependencies"])


def test_every_package_has_bounds() -> None:
    extras = {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name not in ("dev", "bench")}
    for line in [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]:
        if not line.startswith("stressreel["):
            assert ">=" in line, line
            assert "<" in line.partition(";")[0], line


def test_extras_are_imported_where_they_are_used() -> None:
    eager = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if not {"tests", "benchmarks", "docs", "examples", ".ci", ".venv", "build"} & set(path.relative_to(ROOT).parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name.split(".")[0] in EXTRAS
    }
    assert eager == WITH_EXTRA


def test_only_video_talks_to_av() -> None:
    users = {
        path.parent.name
        for path in ROOT.rglob("*.py")
        if not {"tests", "benchmarks", "docs", "examples", ".ci", ".venv", "build"} & set(path.relative_to(ROOT).parts)
        if path != COPIED
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name.split(".")[0] == "av"
    }
    assert users <= {"video", "core"}  # core names the version
    assert COPIED.is_file()


def test_one_text() -> None:
    error = missing("torch", "transformers", what="back_trans")
    assert isinstance(error, InputError)
    assert str(error) == (
        "back_trans needs torch and transformers, not installed here: pip install 'stressreel[models]'"
    )


@pytest.mark.parametrize("module", ["torch", "transformers"])
def test_probes_name_their_own_extra(tmp_path: Path, module: str) -> None:
    """Both come with more than one extra; whoever probes needs no other than `probes`."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path}
    says = f"needs {module}, not installed here: pip install 'stressreel[probes]'"
    if module == "torch":
        done = run_process("stressreel", "simulate-quag", "--out", tmp_path / "s.png", env=env)
        assert (done.code, done.err.strip()) == (1, f"Error: simulate-quag {says}")
        code = "quag(None, 'video', modality=[1])"
    else:
        code = (
            "import torch; quag(torch.nn.MultiheadAttention(2, 1), 'video', modality=[1], operator='merge',"
            " save_work=True).__enter__()"
        )
    code = f"from stressreel.evaluation.probes import quag; {code}"
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert says in found.stderr.splitlines()[-1]
    assert "MissingExtraError" in found.stderr.splitlines()[-1]


def test_another_missing_module_stays_what_it_is() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught:
        import_extra("no_such_module")
    assert not isinstance(caught.value, MissingExtraError)
