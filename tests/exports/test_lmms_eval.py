"""Tasks of lmms-eval: what is written, what `utils.py` makes of a document, and the real harness."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from commands import score_json
from stressreel.builders.parts import open_rows
from stressreel.evaluation.metrics.open_ended import read_generated, read_references
from stressreel.evaluation.metrics.predictions import read_predictions

# lmms-eval wants other versions than stressreel, so it may live in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_LMMS_PYTHON", sys.executable)


Loader = type("Loader", (yaml.SafeLoader,), {})
Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.mark.parametrize("name", ["clavi", "causal", "perturbed", "decomp"])
def test_tasks_have_samples_and_functions(name, exported, asked, opened, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder, info = exported("lmms-eval", name), opened[name].info
    spec = importlib.util.spec_from_file_location("utils", folder / "utils.py")  # as lmms-eval does
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    assert yaml.safe_load((folder / f"stressreel_{name}.yaml").read_text())["task"] == [*asked(name)]
    for task, samples in asked(name).items():
        about = yaml.load((folder / f"{task}.yaml").read_text(), Loader)
        assert about["metadata"]["version"] == f"{info['dataset_version']}+{info['fingerprint'][:16]}"
        assert about["dataset_kwargs"] == {"data_files": {"test": f"{task}.jsonl"}}
        names = [about[key].removeprefix("utils.") for key in ("doc_to_visual", "doc_to_text", "doc_to_target")]
        visual, text, target = (getattr(utils, each) for each in names)
        docs = [json.loads(line) for line in (folder / f"{task}.jsonl").read_text().splitlines()]
        prompt = about["lmms_eval_specific_kwargs"]["default"]
        assert [doc | {"input": text(doc, prompt)} for doc in docs] == samples
        for doc in docs[:20]:
            results = getattr(utils, about["process_results"].removeprefix("utils."))(doc, [target(doc)])
            assert {*results} == {"stressreel", *(each["metric"] for each in about["metric_list"])}
            assert not doc["target"] or results.get("accuracy", results.get("exact")) == 1
            assert Path(visual(doc)[0]).is_file()


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "response", "score"),
    [("clavi", "Yes.", "accuracy"), ("causal", "B", "A+E"), ("perturbed", "(A)", "accuracy clean")],
)
def test_lmms_eval_runs_and_logs_are_scored(name, response, score, exported, outputs, tmp_path):
    """The real package, with caches of its own and no network."""
    done = subprocess.run([PYTHON, "-c", "import lmms_eval.tasks, pytablewriter"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(
            f"no lmms-eval ({done.stderr.strip().splitlines()[-1]}): see CONTRIBUTING.md, STRESSREEL_LMMS_PYTHON"
        )
    folder, logs, cache = exported("lmms-eval", name), tmp_path / "logs", tmp_path / "cache"
    shutil.copytree(folder, tmp_path / "moved", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path / "moved").iterdir():
        assert str(folder) not in path.read_text()
    done = subprocess.run(
        [
            *(PYTHON, "-m", "lmms_eval", "--log_samples", "--model", "dummy", "--batch_size", "1"),
            *("--model_args", f"response={response},read_bytes=64", "--include_path", str(tmp_path / "moved")),
            *("--tasks", f"stressreel_{name}", "--output_path", str(logs)),
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "HF_HOME": str(cache / "hf"), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result = score_json(outputs[name], logs)
    assert result["answers"]["unreadable"] == 0
    asked = {"clavi": ("questions",), "causal": ("ud_answer", "ud_explanation"), "perturbed": ("clean",)}[name]
    files = [(folder / f"stressreel_{name}_{each}.jsonl").read_text().splitlines() for each in asked]
    right = [[json.loads(doc)["metadata"]["right"] for doc in docs] for docs in files]
    said = 0 if name == "perturbed" else 1
    expected = np.mean([set(numbers) == {said} for numbers in zip(*right, strict=True)])
    assert result["headline"][score]["value"] == pytest.approx(expected)
    if name == "causal":
        generated = read_generated(read_predictions(logs), read_references(outputs[name], open_rows))
        assert generated.texts == {letter: [response] * len(right[0]) for letter in "AE"}
