"""Tasks of inspect-ai: what is written, what is shown, and the real package."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import score_json
from endpoint import running
from stressreel.builders import benchmark_of
from stressreel.evaluation.tasks import prompts
from stressreel.exports.task_folder import samples

# inspect-ai brings 89 packages, so it lives in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_INSPECT_PYTHON", sys.executable)
RUN_TIME = {"tasks.py", "frames.py", "harness.py", "answers.py", "output.json"}
NAMES = ("clavi", "causal", "perturbed", "decomp")


def lines_of(folder):
    """The samples of every task, in the order in which they are asked."""
    named = json.loads((folder / "output.json").read_text())["tasks"]
    texts = {name: (folder / f"{name}.jsonl").read_text(encoding="utf-8") for name in named}
    return {name: [json.loads(line) for line in text.splitlines()] for name, text in texts.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_function_with_samples(name, exported, opened):
    folder, output = exported("inspect", name), opened[name]
    about = json.loads((folder / "output.json").read_text())
    assert {path.name for path in folder.iterdir()} == RUN_TIME | {f"{task}.jsonl" for task in about["tasks"]}
    functions = [
        node.name
        for node in ast.parse((folder / "tasks.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and [ast.unparse(each) for each in node.decorator_list] == ["task"]
    ]
    assert functions == list(about["tasks"])
    tasks = benchmark_of(output).tasks(output, None)
    for task, (shown, found) in zip(tasks, lines_of(folder).items(), strict=True):
        assert found == json.loads(json.dumps([*samples(output, task, prompts()["prompts"][task.kind])]))
        assert about["tasks"][shown]["config"] == {"temperature": 0, "max_tokens": task.max_new_tokens}
        assert about["tasks"][shown]["metadata"]["version"].endswith(about["fingerprint"][:16])


# The real package


@pytest.fixture(scope="session")
def inspect(tmp_path_factory):
    """An environment for inspect-ai, with caches of its own.

    Its model `mockllm` fetches a tokenizer from the network at its first request, so the models here are a loopback
    endpoint's, which counts tokens itself.
    """
    needed = "import inspect_ai, openai, pyarrow, av, PIL"
    done = subprocess.run([PYTHON, "-c", needed], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(
            f"no inspect-ai ({done.stderr.strip().splitlines()[-1]}): see CONTRIBUTING.md, STRESSREEL_INSPECT_PYTHON"
        )
    cache = tmp_path_factory.mktemp("cache")
    places = {name: str(cache) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}
    return {**os.environ, **places, "INSPECT_DISPLAY": "none", "LOOPBACK_API_KEY": "none"}


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_inspect_ai_runs_and_scores_correct_answers(name, exported, outputs, inspect, tmp_path):
    folder = Path(shutil.copytree(exported("inspect", name), tmp_path / "moved"))
    asked = iter([one for task in lines_of(folder).values() for one in task])

    def answer(request, before):
        one = next(asked)
        first, *images, last = request["messages"][0]["content"]
        assert first["text"] == prompts()["frames"]
        assert [image["image_url"]["url"][:23] for image in images] == ["data:image/jpeg;base64,"] * 2
        assert (request["temperature"], request["max_tokens"]) in ((0, 16), (0, 96))
        return (one["target"] or "yes") if last["text"] == one["input"] else "asked in another order"

    command = [*(PYTHON, "-m", "inspect_ai", "eval", "tasks.py", "--model", "openai-api/loopback/m")]
    command += ["--no-log-images", "--log-dir", str(tmp_path / "logs"), "-T", "frames=2"]
    command += ["--max-tasks", "1", "--max-samples", "1", "--max-connections", "1"]  # in turn
    with running(answer) as endpoint:
        environment = {**inspect, "LOOPBACK_BASE_URL": endpoint.url}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list(asked)
    for table in ("ud", "un", "causal_confusion") if name == "causal" else (None,):
        found = score_json(outputs[name], tmp_path / "logs", *(("--config", table) if table else ()))
        assert found["headline"][{"causal": "A", "perturbed": "accuracy clean"}.get(name, "accuracy")]["value"] == 1.0
        assert found["answers"]["unreadable"] == 0
