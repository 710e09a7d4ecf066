"""Tasks of inspect-ai: what is written, what is shown, and the real package."""

import ast
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import score_json
from endpoint import running
from inspect_logs import eval_file, sample
from PIL import Image
from stressreel.builders import benchmark_of
from stressreel.core.output import FinishedOutput
from stressreel.evaluation.models.clip_sources import Sampling, StoredClips
from stressreel.evaluation.models.question_set import Clip, questions_of_output
from stressreel.evaluation.tasks import prompts
from stressreel.exports import frames, harness
from stressreel.video.pyav import MAJOR

# inspect-ai brings 89 packages, so it lives in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_INSPECT_PYTHON", sys.executable)
RUN_TIME = {"tasks.py", "frames.py", "harness.py", "answers.py", "output.json"}
NAMES = ("clavi", "causal", "perturbed", "decomp")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def samples(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The samples of every task, in the order in which they are asked."""
    named = json.loads((folder / "output.json").read_text())["tasks"]
    return {name: lines(folder / f"{name}.jsonl") for name in named}


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_function_with_samples(name: str, exported: Callable[..., Path]) -> None:
    folder = exported("inspect", name)
    about = json.loads((folder / "output.json").read_text())
    assert {path.name for path in folder.iterdir()} == RUN_TIME | {f"{task}.jsonl" for task in about["tasks"]}
    functions = [
        node.name
        for node in ast.parse((folder / "tasks.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and [ast.unparse(each) for each in node.decorator_list] == ["task"]
    ]
    assert functions == list(about["tasks"])
    for task in about["tasks"].values():
        assert task["config"]["temperature"] == 0
        assert task["config"]["max_tokens"] in prompts()["max_new_tokens"].values()
        assert task["metadata"]["fingerprint"] == about["fingerprint"]
        assert task["metadata"]["version"].endswith(about["fingerprint"][:16])


@pytest.mark.parametrize("name", NAMES)
def test_questions_equal_those_of_ask(
    name: str, exported: Callable[..., Path], opened: dict[str, FinishedOutput]
) -> None:
    output = opened[name]
    asked = list(questions_of_output(output, benchmark_of(output).tasks(output, None)))
    found = [one for task in samples(exported("inspect", name)).values() for one in task]
    assert len(found) == len(asked) > 10
    for one, question in zip(found, asked, strict=True):
        about = one["metadata"]
        assert one["input"] == question.text
        assert about["about"] == question.about
        assert (tuple(about["options"]), tuple(about["option_ids"])) == (question.options, question.option_ids)
        assert about["column"] == question.column
        assert question.clip is not None
        assert (about["video"]["table"], tuple(about["video"]["key"].items())) == (
            question.clip.table,
            question.clip.key,
        )
        if question.options and one["target"]:
            assert question.predicted(one["target"]) == question.predicted(question.options[about["right"]]) | (
                {"raw": one["target"]} if question.option_ids else {question.column: one["target"]}
            )
        else:
            assert about["right"] == -1


def test_frames_equal_those_of_ask(opened: dict[str, FinishedOutput], tmp_path: Path) -> None:
    count, size = 3, 32
    row = next(opened["clavi"].rows("videos", ["video_id", "video"], "test"))
    (tmp_path / "a.mp4").write_bytes(row["video"]["bytes"])
    found = frames.sampled_frames(tmp_path / "a.mp4", count, size)
    clip = Clip("videos", (("video_id", row["video_id"]),))
    view = StoredClips(opened["clavi"]).view(clip, Sampling(count, size), whole=False)
    assert len(found) == len(view.pictures) == count
    if MAJOR >= 17:
        assert found == view.jpegs
    for content, other in zip(found, view.jpegs, strict=True):  # colours are converted otherwise before
        shown, expected = (np.asarray(Image.open(io.BytesIO(file)), np.int16) for file in (content, other))
        assert np.abs(shown - expected).mean() < 2


ODD = ("A", "(b)", "Answer: C", "A or B", "yes", "No, it was before.", "yes and no", "", "none of these", "D.", "so")
TASKS = {"clavi": "questions", "causal": "ud_answer", "perturbed": "clean"}
SCORES = {"clavi": "accuracy", "causal": "A", "perturbed": "accuracy clean", "decomp": "accuracy"}


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_judged_as_by_score(
    name: str,
    exported: Callable[..., Path],
    outputs: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a task logs of odd answers, as it stands in the log, is scored to the accuracy that the task shows."""
    monkeypatch.setattr(harness, "HERE", exported("inspect", name))
    for cached in (harness.output, harness.rules):
        monkeypatch.setattr(harness, cached.__name__, cached.__wrapped__)
    accuracy = {}
    for task, asked in samples(exported("inspect", name)).items():
        judged: list[dict[str, Any]] = []
        for number, one in enumerate(asked):
            about, said = one["metadata"], one["target"] if number % 4 == 0 else ODD[number % len(ODD)]
            given = {"column": about["column"], **about["about"]}
            if about["options"]:
                found = harness.judged(said, about["options"], about["right"], option_ids=about["option_ids"], **given)
            else:
                found = harness.compared(said, one["target"], about["metrics"], **given)
            judged.append(found)
        eval_file(tmp_path / f"{task}.eval", [sample(number, one["stressreel"]) for number, one in enumerate(judged)])
        accuracy[task] = np.mean([one.get("accuracy", 0) for one in judged])
    found = score_json(outputs[name], tmp_path, *(("--config", "ud") if name == "causal" else ()))
    if name in TASKS:
        shown = accuracy[f"stressreel_{name}_{TASKS[name]}"]
        assert found["headline"][SCORES[name]]["value"] == pytest.approx(shown)
        assert 0 < shown < 1


# The real package


@pytest.fixture(scope="session")
def inspect(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
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


def evaluate(
    environment: dict[str, str], folder: Path, logs: Path, answer: Callable[[dict[str, Any], int], Any], *more: str
) -> list[dict[str, Any]]:
    """Run all tasks of a folder; return the requests that came."""
    with running(answer) as endpoint:
        done = subprocess.run(
            [
                *(PYTHON, "-m", "inspect_ai", "eval", "tasks.py", "--model", "openai-api/loopback/m"),
                *("--no-log-images", "--log-dir", str(logs), *more),
            ],
            env={**environment, "LOOPBACK_BASE_URL": endpoint.url},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return endpoint.requests


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_inspect_ai_runs_and_scores_correct_answers(
    name: str, exported: Callable[..., Path], outputs: dict[str, Path], inspect: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(exported("inspect", name), tmp_path / "moved"))
    asked = iter([one for task in samples(folder).values() for one in task])

    def answer(request: dict[str, Any], before: int) -> str:
        one = next(asked)
        first, *images, last = request["messages"][0]["content"]
        assert first["text"] == prompts()["frames"]
        assert [image["image_url"]["url"][:23] for image in images] == ["data:image/jpeg;base64,"] * 2
        assert (request["temperature"], request["max_tokens"]) in ((0, 16), (0, 96))
        return (one["target"] or "yes") if last["text"] == one["input"] else "asked in another order"

    in_turn = ("--max-tasks", "1", "--max-samples", "1", "--max-connections", "1", "-T", "frames=2")
    evaluate(inspect, folder, tmp_path / "logs", answer, *in_turn)
    assert not list(asked)
    for table in ("ud", "un", "causal_confusion") if name == "causal" else (None,):
        found = score_json(outputs[name], tmp_path / "logs", *(("--config", table) if table else ()))
        assert found["headline"][SCORES[name]]["value"] == 1.0
        assert found["answers"]["unreadable"] == 0
