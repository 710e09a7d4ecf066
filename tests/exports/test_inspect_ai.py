"""Tasks of inspect-ai: what is written, what is shown, and the real package."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import score_json
from endpoint import running
from stressreel.evaluation.tasks import prompts

# inspect-ai brings 89 packages, so it lives in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_INSPECT_PYTHON", sys.executable)
RUN_TIME = {"tasks.py", "frames.py", "harness.py", "answers.py", "output.json"}
NAMES = ("clavi", "causal", "perturbed", "decomp")


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_function_with_samples(name, exported, asked):
    folder = exported("inspect", name)
    about = json.loads((folder / "output.json").read_text())
    assert {path.name for path in folder.iterdir()} == RUN_TIME | {f"{task}.jsonl" for task in about["tasks"]}
    functions = re.findall(r"^@task\ndef (\w+)\(", (folder / "tasks.py").read_text(), re.MULTILINE)
    assert functions == list(about["tasks"]) == list(asked(name))
    for task in about["tasks"].values():
        assert task["config"]["temperature"] == 0
        assert task["config"]["max_tokens"] in prompts()["max_new_tokens"].values()
        assert task["metadata"]["version"].endswith(about["fingerprint"][:16])


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
def test_inspect_ai_runs_and_scores_correct_answers(name, exported, asked, outputs, inspect, tmp_path):
    folder = Path(shutil.copytree(exported("inspect", name), tmp_path / "moved"))
    coming = iter([one for task in asked(name).values() for one in task])

    def answer(request, before):
        one = next(coming)
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
    assert not list(coming)
    for table in ("ud", "un", "causal_confusion") if name == "causal" else (None,):
        found = score_json(outputs[name], tmp_path / "logs", *(("--config", table) if table else ()))
        assert found["headline"][{"causal": "A", "perturbed": "accuracy clean"}.get(name, "accuracy")]["value"] == 1.0
        assert found["answers"]["unreadable"] == 0
