"""Tasks of lmms-eval: what is written, what `utils.py` makes of a document, and the real harness."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import yaml
from commands import run
from stressreel.errors import InputError
from stressreel.exports.lmms_eval import NUM_CAPTIONS, caption_choices
from stressreel.metrics.inputs import Captions
from stressreel.records.output import FinishedOutput

# lmms-eval wants other versions than stressreel, so it may live in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_LMMS_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def exported(outputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    for name, out in outputs.items():
        done = run("stressreel", "export", "lmms-eval", out, "--to", folder / name)
        assert done.code == 0, done.err
        assert f"stressreel score {out} --predictions logs" in done.out
    return {name: folder / name for name in outputs}


@pytest.fixture
def utils(exported: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load `utils.py` as lmms-eval does: by its path, with no module of that name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location("utils", exported[name] / "utils.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def caption_docs(folder: Path, task: str) -> list[dict[str, Any]]:
    lines = (folder / f"stressreel_perturbed_{task}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(), Loader)


def test_every_table_has_its_tasks(exported: dict[str, Path], opened: dict[str, FinishedOutput]) -> None:
    names = {
        "clavi": ["questions"],
        "causal": [
            f"{table}_{asked}"
            for table in ("ud", "ps", "un", "causal_confusion")
            for asked in ("answer", "explanation")
        ],
        "perturbed": ["clean", "jpeg", "random_noun", "pairs"],
    }
    for builder, tasks in names.items():
        group = read(exported[builder] / f"stressreel_{builder}.yaml")
        assert group["task"] == [f"stressreel_{builder}_{task}" for task in tasks]
        info = opened[builder].info
        for name in group["task"]:
            task = read(exported[builder] / f"{name}.yaml")
            assert task["task"] == name
            assert task["metadata"]["version"] == f"{info['dataset_version']}+{info['fingerprint'][:16]}"
            assert task["test_split"] == "test"


def test_the_functions_that_tasks_name_are_there(exported: dict[str, Path], utils: Any) -> None:
    for name, folder in exported.items():
        module = utils(name)
        for path in folder.glob("*.yaml"):
            for value in read(path).values():
                if isinstance(value, str) and value.startswith("utils."):
                    assert callable(getattr(module, value.removeprefix("utils.")))


def test_clavi_documents(opened: dict[str, FinishedOutput], utils: Any) -> None:
    module = utils("clavi")
    rows = list(opened["clavi"].rows("questions", None, "test"))
    sha = {row["video_id"]: row["sha256"] for row in opened["clavi"].rows("videos", ["video_id", "sha256"])}
    for row in rows:
        (path,) = module.clavi_visual(row)
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == sha[row["video_id"]]
    assert module.clavi_text(rows[0], {"pre_prompt": "Q: ", "post_prompt": "?"}) == f"Q: {rows[0]['question']}?"
    right = module.clavi_target(rows[0])
    assert right == ("no", "yes")[rows[0]["answer"]]
    found = module.clavi_results(rows[0], [f"{right.title()}."])
    assert (found["accuracy"], found["unreadable"]) == (1.0, 0.0)
    assert found["stressreel"]["id"] == rows[0]["question_id"]
    assert module.clavi_results(rows[0], ["perhaps"])["unreadable"] == 1.0


def test_a_damaged_video_is_refused(opened: dict[str, FinishedOutput], utils: Any, monkeypatch: Any) -> None:
    module = utils("clavi")
    shard = str(opened["clavi"].shards("videos")[0])
    monkeypatch.setattr(module.hashlib, "sha256", lambda content: hashlib.md5(content))
    with pytest.raises(ValueError, match="not the one that was built"):
        module.copy_videos(shard, 0)
    assert not list(module.cache_folder().glob("*.mp4"))


def test_causal_documents(opened: dict[str, FinishedOutput], utils: Any) -> None:
    module = utils("causal")
    row = next(opened["causal"].rows("un", None, "test"))
    assert Path(module.causal_visual(row)[0]).read_bytes()[4:8] == b"ftyp"
    text = module.explanation_text(row, {"pre_prompt": "", "post_prompt": ""})
    assert text.split("\n") == [
        row["question"],
        *(f"{a}. {b}" for a, b in zip("ABCDE", row["explanation_options"], strict=True)),
    ]
    right = module.explanation_target(row)
    found = module.un_explanation_results(row, [f"({right})"])
    assert found["accuracy"] == 1.0
    assert found["stressreel"] | {"fingerprint": ""} == {
        "id": row["qid"],
        "config": "un",
        "explanation": f"({right})",
        "fingerprint": "",
    }


def test_captions_are_the_same_in_every_setting_and_shown_as_perturbed(exported: dict[str, Path], utils: Any) -> None:
    docs = {name: caption_docs(exported["perturbed"], name) for name in ("clean", "jpeg", "random_noun", "pairs")}
    assert [len(found) for found in docs.values()] == [5, 10, 5, 5]
    clean = {doc["clip_id"]: doc for doc in docs["clean"]}
    for doc in (doc for found in docs.values() for doc in found):
        assert doc["option_ids"] == clean[doc["clip_id"]]["option_ids"]
        assert doc["option_ids"][doc["answer_index"]] == f"{doc['clip_id']}#0"
        assert len(doc["options"]) == NUM_CAPTIONS
    assert any(doc["options"] != clean[doc["clip_id"]]["options"] for doc in docs["random_noun"])
    module = utils("perturbed")
    paths = {module.caption_visual(doc)[0] for doc in docs["jpeg"] + docs["clean"]}
    assert len(paths) == 15
    assert {module.caption_visual(doc)[0] for doc in docs["pairs"]} < paths
    assert [doc["options"] for doc in docs["pairs"]] == [doc["options"] for doc in docs["random_noun"]]
    assert {doc["setting"] for doc in docs["pairs"]} == {"jpeg-3+random_noun"}
    assert module.caption_visual(docs["random_noun"][0]) == module.caption_visual(docs["clean"][0])
    wrong = "ABCD"[docs["jpeg"][0]["answer_index"] - 1]
    found = module.caption_results(docs["jpeg"][0], [wrong])
    assert found["accuracy"] == 0.0
    assert found["stressreel"]["answer"] == docs["jpeg"][0]["option_ids"]["ABCD".index(wrong)]


def test_captions_to_choose_from_are_different() -> None:
    texts = ["a dog", "A dog.", "a cat", "a dog", "a bird"]
    names = list("vwxyz")
    captions = Captions(names, names, [f"{name}#0" for name in names], texts, np.arange(5))
    for clip, (place, numbers) in enumerate(caption_choices(captions)):
        assert numbers[place] == clip
        assert len(numbers) == 3
        assert len({texts[number].strip(".").lower() for number in numbers}) == 3
    same = Captions(names, names, [f"{name}#0" for name in names], ["a dog"] * 5, np.arange(5))
    with pytest.raises(InputError, match="all captions are the same"):
        caption_choices(same)


def test_what_cannot_be_exported_is_said(outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path) -> None:
    questions = tmp_path / "questions"
    assert run("build-clavi", "--charades", "sample", "--out", questions, "--no-render", "--no-progress").code == 0
    for arguments, said in (
        ((questions, "--to", tmp_path / "a"), "holds no videos"),
        ((outputs["clavi"], "--to", outputs["clavi"] / "tasks"), "lies in the output itself"),
        ((outputs["clavi"], "--to", exported["clavi"]), "holds something already"),
        ((outputs["clavi"], "--to", tmp_path / "a", "--split", "dev"), "no split 'dev'"),
        ((outputs["clavi"], "--to", tmp_path / "a", "--split", "all"), "asks one split"),
        ((outputs["clavi"], "--to", tmp_path / "a", "--name", "a-b"), "letters, digits and _ only"),
        ((tmp_path, "--to", tmp_path / "a"), "is not the output of a build"),
    ):
        done = run("stressreel", "export", "lmms-eval", *arguments)
        assert (done.code, said in done.err) == (1, True), done.err
    assert not (tmp_path / "a").exists()


def test_an_earlier_export_is_written_over_when_asked(outputs: dict[str, Path], tmp_path: Path) -> None:
    for arguments in ((), ("--force", "--name", "mine", "--split", "train")):
        done = run("stressreel", "export", "lmms-eval", outputs["clavi"], "--to", tmp_path / "tasks", *arguments)
        assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "tasks").glob("*.yaml")} == {"mine.yaml", "mine_questions.yaml"}
    assert read(tmp_path / "tasks" / "mine_questions.yaml")["test_split"] == "train"


# The real package

LOAD = """
import json, sys
from lmms_eval.tasks import TaskManager, get_task_dict
folder, group = sys.argv[1:]
manager = TaskManager(include_path=folder, include_defaults=False)
(tasks,) = get_task_dict([group], manager).values()
found = {}
for name, task in tasks.items():
    docs = task.test_docs()
    doc = docs[0]
    seen = task.doc_to_text(doc), task.doc_to_visual(doc), task.doc_to_target(doc)
    found[name] = [len(docs), *seen, str(task.VERSION)]
print("FOUND " + json.dumps(found))
"""


@pytest.fixture(scope="session")
def lmms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment for lmms-eval, with caches of its own and no network."""
    done = subprocess.run(
        [PYTHON, "-c", "import lmms_eval.tasks, pytablewriter"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(
            f"no lmms-eval ({done.stderr.strip().splitlines()[-1]}): see CONTRIBUTING.md, STRESSREEL_LMMS_PYTHON"
        )
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "HF_HOME": str(cache / "hf"), "HF_HUB_OFFLINE": "1"}


@pytest.mark.parametrize(("name", "count"), [("clavi", 1), ("causal", 8), ("perturbed", 4)])
def test_lmms_eval_loads_the_tasks(
    name: str, count: int, exported: dict[str, Path], opened: dict[str, FinishedOutput], lmms: dict[str, str]
) -> None:
    done = subprocess.run(
        [PYTHON, "-c", LOAD, exported[name], f"stressreel_{name}"],
        env=lmms,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.split("FOUND ")[1])
    assert len(found) == count
    for questions, text, (video,), target, version in found.values():
        assert questions >= 5
        assert text.strip().endswith(("no.", "option.", "caption."))
        assert Path(video).read_bytes()[4:8] == b"ftyp"
        assert target in ("yes", "no", *"ABCDE")
        assert version.endswith(opened[name].info["fingerprint"][:16])


@pytest.mark.parametrize(
    ("name", "response", "score"),
    [("clavi", "Yes.", "accuracy"), ("causal", "B", "A+E"), ("perturbed", "(A)", "accuracy clean")],
)
def test_lmms_eval_runs_and_its_logs_are_scored(
    name: str,
    response: str,
    score: str,
    exported: dict[str, Path],
    outputs: dict[str, Path],
    opened: dict[str, FinishedOutput],
    lmms: dict[str, str],
    tmp_path: Path,
) -> None:
    logs = tmp_path / "logs"
    arguments = {
        "--model": "dummy",
        "--model_args": f"response={response},read_bytes=64",
        "--include_path": exported[name],
        "--tasks": f"stressreel_{name}",
        "--batch_size": 1,
        "--output_path": logs,
    }
    done = subprocess.run(
        [PYTHON, "-m", "lmms_eval", "--log_samples", *(str(part) for pair in arguments.items() for part in pair)],
        env=lmms,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scored = run("stressreel", "score", outputs[name], "--predictions", logs, "--json")
    assert scored.code == 0, scored.err
    found = json.loads(scored.out)
    assert found["answers"]["unreadable"] == 0
    rows = (
        list(opened[name].rows("questions" if name == "clavi" else "ud", None, "test")) if name != "perturbed" else []
    )
    expected = {
        "clavi": lambda: np.mean([row["answer"] for row in rows]),
        "causal": lambda: np.mean([row["answer_index"] == row["explanation_index"] == 1 for row in rows]),
        "perturbed": lambda: np.mean([doc["answer_index"] == 0 for doc in caption_docs(exported[name], "clean")]),
    }[name]()
    assert found["headline"][score]["value"] == pytest.approx(expected)
