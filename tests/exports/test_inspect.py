"""Tasks of inspect-ai: what is written, what is shown, and the real package."""

import ast
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from commands import refuses, run
from endpoint import running
from inspect_logs import eval_file, sample
from PIL import Image
from stressreel.builders import benchmark_of
from stressreel.builders.parts import tasks_of
from stressreel.core.output import FinishedOutput, open_output
from stressreel.evaluation.models.clips import Sampling, StoredClips
from stressreel.evaluation.models.questions import Clip, questions_of_output
from stressreel.evaluation.tasks import prompts
from stressreel.exports import frames, harness
from stressreel.video.pyav import MAJOR

# inspect-ai brings 89 packages, so it lives in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_INSPECT_PYTHON", sys.executable)
RUN_TIME = {"tasks.py", "frames.py", "harness.py", "answers.py", "output.json"}
NAMES = ("clavi", "causal", "perturbed", "decomp")


@pytest.fixture(scope="session")
def built_outputs(outputs: dict[str, Path], build_once: Callable[..., Path]) -> dict[str, Path]:
    return {**outputs, "decomp": build_once("build-decomp", "--charades", "sample")}


@pytest.fixture(scope="session")
def exported(built_outputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    for name, out in built_outputs.items():
        done = run("stressreel", "export", "inspect", out, "--to", folder / name)
        assert done.code == 0, done.err
        assert f"stressreel score {out} --predictions logs" in done.out
    return {name: folder / name for name in built_outputs}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def samples(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The samples of every task, in the order in which they are asked."""
    named = json.loads((folder / "output.json").read_text())["tasks"]
    return {name: lines(folder / f"{name}.jsonl") for name in named}


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_a_function_with_its_samples(name: str, exported: dict[str, Path]) -> None:
    folder = exported[name]
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
def test_the_questions_are_those_of_ask(name: str, exported: dict[str, Path], built_outputs: dict[str, Path]) -> None:
    output = open_output(built_outputs[name])
    asked = list(questions_of_output(output, tasks_of(benchmark_of(output), output, None)))
    found = [one for task in samples(exported[name]).values() for one in task]
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
    for task in samples(exported[name]).values():
        assert len({one["id"] for one in task}) == len(task)


def test_right_answers_are_those_of_the_tables(exported: dict[str, Path], opened: dict[str, FinishedOutput]) -> None:
    rows = {row["question_id"]: row for row in opened["clavi"].rows("questions", None, "test")}
    for one in samples(exported["clavi"])["stressreel_clavi_questions"]:
        assert one["metadata"]["right"] == rows[one["id"]]["answer"]
        assert one["target"] == ("no", "yes")[rows[one["id"]]["answer"]]
    rows = {row["qid"]: row for row in opened["causal"].rows("ud", None, "test")}
    for one in samples(exported["causal"])["stressreel_causal_ud_explanation"]:
        assert one["metadata"]["right"] == rows[one["id"]]["explanation_index"]
        assert one["metadata"]["options"] == rows[one["id"]]["explanation_options"]
    for task in samples(exported["perturbed"]).values():
        for one in task:
            asked = one["metadata"]
            assert asked["option_ids"][asked["right"]] == f"{asked['about']['id']}#0"


@pytest.mark.parametrize(("count", "size"), [(16, 448), (3, 32), (200, 0)])
def test_the_frames_are_those_of_ask(count: int, size: int, opened: dict[str, FinishedOutput], tmp_path: Path) -> None:
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


def test_a_file_without_frames_is_refused(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=48000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 48000
        container.mux([*stream.encode(sound), *stream.encode()])
    with pytest.raises(ValueError, match="has no frames"):
        frames.sampled_frames(tmp_path / "a.mp4", 4, 0)


ODD = (
    "A",
    "(b)",
    "Answer: C",
    "A or B",
    "yes",
    "No, it was before.",
    "yes and no",
    "",
    "none of the above",
    "D.",
    "so",
)


@pytest.mark.parametrize(
    ("name", "more", "score"),
    [
        ("clavi", (), "accuracy"),
        ("causal", ("--config", "ud"), "A"),
        ("perturbed", (), "accuracy clean"),
        ("decomp", (), None),
    ],
)
def test_odd_answers_are_judged_as_score_judges_them(
    name: str,
    more: tuple[str, ...],
    score: str | None,
    exported: dict[str, Path],
    built_outputs: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a task logs of odd answers, as it stands in the log, is scored to the accuracy that the task shows."""
    monkeypatch.setattr(harness, "HERE", exported[name])
    harness.output.cache_clear()
    harness.rules.cache_clear()
    try:
        judged: dict[str, list[dict[str, Any]]] = {}
        for task, asked in samples(exported[name]).items():
            for number, one in enumerate(asked):
                about, said = one["metadata"], ODD[number % len(ODD)]
                given = {"column": about["column"], **about["about"]}
                if about["options"]:
                    found = harness.judged(
                        said, about["options"], about["right"], option_ids=about["option_ids"], **given
                    )
                else:
                    found = harness.compared(said, one["target"], about["metrics"], **given)
                judged.setdefault(task, []).append(found)
    finally:
        harness.output.cache_clear()
        harness.rules.cache_clear()
    for task, results in judged.items():
        logged = [sample(number, one["stressreel"]) for number, one in enumerate(results)]
        eval_file(tmp_path / f"{task}.eval", logged)
    done = run(
        "stressreel", "score", built_outputs[name], "--predictions", tmp_path, *more, "--json", "--resamples", 100
    )
    assert done.code == 0, done.err
    if score:
        task = {"clavi": "questions", "causal": "ud_answer", "perturbed": "clean"}[name]
        shown = np.mean([one["accuracy"] for one in judged[f"stressreel_{name}_{task}"]])
        assert json.loads(done.out)["headline"][score]["value"] == pytest.approx(shown)


def test_what_cannot_be_exported_is_said(outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path) -> None:
    questions = tmp_path / "questions"
    assert run("build-clavi", "--charades", "sample", "--out", questions, "--no-render", "--no-progress").code == 0
    for code, arguments, said in (
        (1, (questions, "--to", tmp_path / "a"), "holds no videos"),
        (1, (outputs["clavi"], "--to", exported["clavi"]), "holds something already"),
        (2, (outputs["clavi"], "--to", outputs["clavi"] / "tasks"), "lies in the output itself"),
        (2, (outputs["clavi"], "--to", tmp_path / "a", "--split", "dev"), "no split 'dev'"),
        (2, (outputs["clavi"], "--to", tmp_path / "a", "--name", "a-b"), "letters, digits and _ only"),
        (1, (outputs["clavi"], "--to", tmp_path / "a", "--name", "1a"), "cannot be the name of a task"),
    ):
        refuses(run("stressreel", "export", "inspect", *arguments), said, code=code)
    assert not (tmp_path / "a").exists()


def test_an_export_takes_the_place_of_an_earlier_one(outputs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    assert run("stressreel", "export", "lmms-eval", outputs["clavi"], "--to", folder).code == 0
    (folder / "notes.txt").write_text("theirs")
    done = run("stressreel", "export", "inspect", outputs["clavi"], "--to", folder, "--force", "--split", "train")
    assert done.code == 0, done.err
    assert {path.name for path in folder.iterdir()} == {*RUN_TIME, "stressreel_clavi_questions.jsonl", "notes.txt"}
    evaluate, score = map(shlex.split, done.out.strip().splitlines()[-2:])
    # inspect-ai 0.3.285 refuses an absolute path to a file without a task's name
    assert not Path(evaluate[2]).is_absolute()
    assert (Path.cwd() / evaluate[2]).resolve() == (folder / "tasks.py").resolve()
    assert score[score.index("--split") + 1] == "train"


def test_questions_whose_clips_were_skipped_are_left_out(outputs: dict[str, Path], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    shutil.copytree(outputs["causal"], out)
    row = next(open_output(out).rows("ud", ["qid", "clip_id"], "test"))
    (shard,) = (out / "clips").glob("*.parquet")
    clips = pq.read_table(shard)
    pq.write_table(clips.filter([name != row["clip_id"] for name in clips.column("clip_id").to_pylist()]), shard)
    info = json.loads((out / "build.json").read_text())
    info["counts"]["clips"]["clips"] -= 1
    (out / "build.json").write_text(json.dumps(info))
    done = run("stressreel", "export", "inspect", out, "--to", tmp_path / "tasks")
    assert done.code == 0, done.err
    assert f"Left out of ud, split test: 1 ({row['qid']}); their clips were skipped" in done.out
    assert "--config ud --split test --partial" in done.out
    asked = [one["id"] for one in lines(tmp_path / "tasks" / "stressreel_causal_ud_answer.jsonl")]
    everything = [each["qid"] for each in open_output(out).rows("ud", ["qid"], "test")]
    assert asked == [name for name in everything if name != row["qid"]]


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


def scores(out: Path, logs: Path, *more: str) -> dict[str, Any]:
    done = run("stressreel", "score", out, "--predictions", logs, *more, "--json", "--resamples", 100)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


CONSTANT = {"clavi": "Yes.", "causal": "B", "perturbed": "(A)", "decomp": "yes"}
SCORED = {"clavi": "accuracy", "causal": "A", "perturbed": "accuracy clean", "decomp": "accuracy"}


@pytest.mark.parametrize("name", NAMES)
def test_inspect_runs_and_constant_answers_have_the_accuracy_they_must(
    name: str, exported: dict[str, Path], built_outputs: dict[str, Path], inspect: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "moved"
    shutil.copytree(exported[name], folder)
    asked = samples(folder)
    requests = evaluate(inspect, folder, tmp_path / "logs", lambda request, before: CONSTANT[name], "-T", "frames=4")
    assert len(requests) == sum(map(len, asked.values()))
    for request in requests:
        assert (request["temperature"], request["max_tokens"]) in ((0, 16), (0, 96))
        first, *images, last = request["messages"][0]["content"]
        assert first["text"] == prompts()["frames"]
        assert last["type"] == "text"
        assert len(images) == 4
        assert all(image["image_url"]["url"].startswith("data:image/jpeg;base64,") for image in images)
    assert len(list((tmp_path / "logs").glob("*.eval"))) == len(asked)
    found = scores(built_outputs[name], tmp_path / "logs")
    if name == "decomp":  # the mean over right answers of yes and of no, so one answer to all has half
        assert found["answers"]["read"] == len(requests)
        assert found["headline"]["accuracy of Object Exists"]["value"] == 0.5
        return
    task = {"clavi": "questions", "causal": "ud_answer", "perturbed": "clean"}[name]
    right = [one["metadata"]["right"] for one in asked[f"stressreel_{name}_{task}"]]
    expected = np.mean(np.array(right) == {"clavi": 1, "causal": 1, "perturbed": 0}[name])
    assert found["headline"][SCORED[name]]["value"] == pytest.approx(expected)
    assert found["answers"]["unreadable"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_inspect_runs_and_right_answers_are_right(
    name: str, exported: dict[str, Path], built_outputs: dict[str, Path], inspect: dict[str, str], tmp_path: Path
) -> None:
    asked = iter([one for task in samples(exported[name]).values() for one in task])

    def answer(request: dict[str, Any], before: int) -> str:
        one = next(asked)
        same = request["messages"][0]["content"][-1]["text"] == one["input"]
        return (one["target"] or "yes") if same else "asked in another order"

    in_turn = ("--max-tasks", "1", "--max-samples", "1", "--max-connections", "1", "-T", "frames=1")
    evaluate(inspect, exported[name], tmp_path / "logs", answer, *in_turn)
    assert not list(asked)
    tables = ("ud", "ps", "un", "causal_confusion") if name == "causal" else (None,)
    for table in tables:
        found = scores(built_outputs[name], tmp_path / "logs", *(("--config", table) if table else ()))
        assert found["headline"][SCORED[name]]["value"] == 1.0
        assert found["answers"]["unreadable"] == 0


def test_repeats_are_refused_and_converted_logs_say_the_same(
    exported: dict[str, Path], outputs: dict[str, Path], inspect: dict[str, str], tmp_path: Path
) -> None:
    logs, converted = tmp_path / "logs", tmp_path / "converted"
    evaluate(inspect, exported["clavi"], logs, lambda request, before: "no", "--epochs", "2", "-T", "frames=1")
    done = run("stressreel", "score", outputs["clavi"], "--predictions", logs, "--json")
    refuses(done, "114 ids are given more than once")
    partial = scores(outputs["clavi"], logs, "--partial")
    assert partial["answers"]["doubled"] == 114
    for more in ("convert", "--to", "json"), ("convert-chunked",):
        shutil.rmtree(converted, ignore_errors=True)
        done = subprocess.run(
            [PYTHON, "-m", "inspect_ai", "log", *more, str(logs), "--output-dir", str(converted)],
            env=inspect,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert scores(outputs["clavi"], converted, "--partial")["headline"] == partial["headline"]
