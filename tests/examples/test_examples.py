"""The examples run on the built-in samples as their texts say, and what they write is scored."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def scores(*arguments: object) -> dict[str, float]:
    done = run("stressreel", "score", *arguments, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["answers"].get("unreadable", 0) == 0
    return {name: estimate["value"] for name, estimate in found["headline"].items()}


@pytest.fixture(scope="session")
def clavi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("examples") / "clavi"
    assert run("build-clavi", "--charades", "sample", "--out", out, "--no-progress").code == 0
    return out


def test_clavi(clavi: Path, tmp_path: Path) -> None:
    example("clavi", clavi, "--to", tmp_path)
    blind = scores(clavi, "--predictions", tmp_path / "question_only.jsonl")
    assert blind["CAcc_V complement"] == blind["CAcc_T complement"] == 0  # what a blind model must score
    assert 0.5 < blind["balanced accuracy"] < 0.756  # at most the text-only oracle: docs/scores.md
    scores(clavi, "--predictions", tmp_path / "frame_difference.jsonl")


def test_perturbed(clavi: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    suite, folder = tmp_path / "suite", tmp_path / "similarity"
    arguments = ("--severity", "5", "--perturbations", "jumble", "--out", suite, "--no-progress")
    assert run("build-perturbed", "--msrvtt", "sample", *arguments).code == 0
    assert "fitted on 22 pieces" in example("perturbed", suite, "--train", clavi, "--to", folder)
    assert {path.name for path in folder.iterdir()} == {"clean.npy", "jumble-5.npy"}
    found = scores(suite, "--similarity", folder)
    assert found["R@1 clean"] > 3 / 12  # of twelve clips, none of whose performances it has seen: chance is 1 / 12
    assert "R@1 γa video" in found


def test_causal(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    out, file = tmp_path / "causal", tmp_path / "nearest.jsonl"
    arguments = ("--annotations", "sample", "--no-render", "--tagger", "pattern", "--out", out, "--no-progress")
    assert run("build-causal", *arguments).code == 0
    example("causal", out, "--to", file)
    for table in ("ud", "ps", "un", "causal_confusion"):
        found = scores(out, "--predictions", file, "--config", table)
        assert 0 <= found["A+E"] <= min(found["A"], found["E"])
