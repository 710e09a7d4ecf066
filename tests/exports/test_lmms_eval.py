"""Tasks of lmms-eval: what is written, what `utils.py` makes of a document, and the real harness."""

import hashlib
import importlib.util
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
import yaml
from commands import score_json
from stressreel.builders.parts import open_rows
from stressreel.core.output import FinishedOutput
from stressreel.evaluation.metrics.open_ended import read_generated, read_references

# lmms-eval wants other versions than stressreel, so it may live in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_LMMS_PYTHON", sys.executable)
NAMES = ("clavi", "causal", "perturbed")
ODD = [
    *("A", "(b)", "B.", "A or B", "A and C", "Answer: C", "I cannot tell.", "None of the above", "no idea", "", "E"),
    *("Z", "yes", "No, it was before.", "yes and no", "1", "2.0", "The answer is (A) because B is wrong", "a"),
    "unreadable: a",
]


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


class Tasks:
    """The tasks of a folder, as lmms-eval reads them: `utils.py` by its path, with no module of that name."""

    def __init__(self, folder: Path):
        spec = importlib.util.spec_from_file_location("utils", folder / "utils.py")
        assert spec is not None
        assert spec.loader is not None
        self.utils: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.utils)
        self.folder = folder
        (group,) = (yaml.load(path.read_text(), Loader) for path in folder.glob("*.yaml") if "_" not in path.stem[12:])
        self.names = [name.removeprefix(f"{group['group']}_") for name in group["task"]]
        self.about = {
            short: yaml.load((folder / f"{name}.yaml").read_text(), Loader)
            for short, name in zip(self.names, group["task"], strict=True)
        }

    def docs(self, name: str) -> list[dict[str, Any]]:
        about = self.about[name]
        assert about["dataset_kwargs"] == {"data_files": {about["test_split"]: f"{about['task']}.jsonl"}}
        return [json.loads(line) for line in (self.folder / f"{about['task']}.jsonl").read_text().splitlines()]

    def call(self, name: str, function: str, *arguments: Any) -> Any:
        return getattr(self.utils, self.about[name][function].removeprefix("utils."))(*arguments)

    def log(self, folder: Path, said: Callable[[str, int, dict[str, Any]], str]) -> dict[str, list[dict[str, Any]]]:
        """Answer every document, and write what lmms-eval logs of it, as far as it is read."""
        folder.mkdir()
        found = {}
        for name in self.names:
            docs = enumerate(self.docs(name))
            found[name] = [self.call(name, "process_results", doc, [said(name, n, doc)]) for n, doc in docs]
            lines = [json.dumps({"doc_id": number, **one}) for number, one in enumerate(found[name])]
            (folder / f"1_samples_{name}.jsonl").write_text("\n".join(lines))
        return found


@pytest.fixture
def tasks(
    exported: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Tasks]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda name: Tasks(exported("lmms-eval", name))


@pytest.mark.parametrize("name", NAMES)
def test_every_table_has_its_tasks(name: str, tasks: Callable[[str], Tasks], opened: dict[str, FinishedOutput]) -> None:
    names = {
        "clavi": ["questions"],
        "causal": [
            f"{table}_{asked}"
            for table in ("ud", "un", "causal_confusion", "open_ended")
            for asked in ("answer", "explanation")
        ],
        "perturbed": ["clean", "jpeg", "random_noun", "pairs"],
    }
    found, info = tasks(name), opened[name].info
    assert found.names == names[name]
    for each in found.about.values():
        assert each["metadata"]["version"] == f"{info['dataset_version']}+{info['fingerprint'][:16]}"
        assert each["test_split"] == "test"
    doc = found.docs(found.names[0])[0]
    text = found.call(found.names[0], "doc_to_text", doc, {"pre_prompt": "Q: ", "post_prompt": "?"})
    assert text.startswith("Q: ")
    assert text.endswith("?")


def test_videos_match_rows_and_damage_is_refused(
    tasks: Callable[[str], Tasks], opened: dict[str, FinishedOutput], monkeypatch: pytest.MonkeyPatch
) -> None:
    clavi = tasks("clavi")
    sha = {row["video_id"]: row["sha256"] for row in opened["clavi"].rows("videos", ["video_id", "sha256"])}
    for doc in clavi.docs("questions"):
        (path,) = clavi.call("questions", "doc_to_visual", doc)
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == sha[doc["metadata"]["video"]["key"]["video_id"]]
    harness = clavi.utils.harness()
    shutil.rmtree(harness.cache_folder())
    monkeypatch.setattr(harness.hashlib, "sha256", lambda content: hashlib.md5(content))
    with pytest.raises(ValueError, match="differs from the one that was built"):
        harness.copy_videos(str(opened["clavi"].shards("videos")[0]), 0)
    assert not list(harness.cache_folder().glob("*.mp4"))


def test_settings_share_captions_and_show_perturbed_clips(tasks: Callable[[str], Tasks]) -> None:
    suite = tasks("perturbed")
    docs = {name: suite.docs(name) for name in suite.names}
    assert [len(found) for found in docs.values()] == [12, 24, 12, 12]
    clean = {clip_of(doc): doc["metadata"] for doc in docs["clean"]}
    for doc in (doc for found in docs.values() for doc in found):
        asked = doc["metadata"]
        assert sorted(asked["option_ids"]) == sorted(clean[clip_of(doc)]["option_ids"])  # in another order
        assert asked["option_ids"][asked["right"]] == f"{clip_of(doc)}#0"
    assert any(doc["metadata"]["options"] != clean[clip_of(doc)]["options"] for doc in docs["random_noun"])
    shown = {name: [suite.call(name, "doc_to_visual", doc)[0] for doc in found] for name, found in docs.items()}
    assert len({*shown["jpeg"], *shown["clean"]}) == 36
    assert set(shown["pairs"]) < set(shown["jpeg"])
    assert shown["random_noun"] == shown["clean"]
    offered = {name: [doc["metadata"]["options"] for doc in docs[name]] for name in docs}
    assert [sorted(texts) for texts in offered["pairs"]] == [sorted(texts) for texts in offered["random_noun"]]
    assert {doc["metadata"]["about"]["setting"] for doc in docs["pairs"]} == {"jpeg-3+random_noun"}
    doc = docs["clean"][0]
    other = next(text for texts in offered["clean"] for text in texts if text not in offered["clean"][0])
    for response in (other, "", "A or B", f"{clip_of(doc)}#0"):  # not offered, so unreadable to score, too
        found = suite.call("clean", "process_results", doc, [response])
        assert (found["accuracy"], found["unreadable"]) == (0.0, 1.0)
        assert found["stressreel"]["answer"] == f"unreadable: {response}"


def clip_of(doc: dict[str, Any]) -> str:
    return str(doc["metadata"]["about"]["id"])


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_judged_as_by_score(
    name: str, tasks: Callable[[str], Tasks], outputs: dict[str, Path], tmp_path: Path
) -> None:
    found, out, more = tasks(name), outputs[name], ("--config", "ud") if name == "causal" else ()
    main = {"clavi": "questions", "causal": "ud_answer", "perturbed": "clean"}[name]
    headline = {"clavi": "accuracy", "causal": "A", "perturbed": "accuracy clean"}[name]
    right = found.log(tmp_path / "right", lambda task, number, doc: found.call(task, "doc_to_target", doc))
    assert {one.get("accuracy", one.get("exact")) for results in right.values() for one in results} == {1.0}
    assert score_json(out, tmp_path / "right", *more)["headline"][headline]["value"] == 1.0

    def odd(task: str, number: int, doc: dict[str, Any]) -> str:
        options = doc["metadata"]["options"] or ["no", "yes"]
        texts = [options[0], options[-1].upper() + ".", f"A. {options[1]}", f"{options[0]} {options[-1]}", *ODD]
        return texts[(7 * number + len(task)) % len(texts)]

    judged = found.log(tmp_path / "odd", odd)
    score = score_json(out, tmp_path / "odd", *more)
    for task, key in ((main, headline), *([("ud_explanation", "E")] if name == "causal" else ())):
        assert np.mean([one["accuracy"] for one in judged[task]]) == pytest.approx(score["headline"][key]["value"])
    counted = judged if name == "perturbed" else {main: judged[main]}
    unreadable = sum(one["unreadable"] for results in counted.values() for one in results)
    assert 0 < unreadable == score["answers"]["unreadable"] < sum(map(len, judged.values()))


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "response", "score"),
    [("clavi", "Yes.", "accuracy"), ("causal", "B", "A+E"), ("perturbed", "(A)", "accuracy clean")],
)
def test_lmms_eval_runs_and_logs_are_scored(
    name: str, response: str, score: str, tasks: Callable[[str], Tasks], outputs: dict[str, Path], tmp_path: Path
) -> None:
    """The real package, with caches of its own and no network."""
    done = subprocess.run([PYTHON, "-c", "import lmms_eval.tasks, pytablewriter"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(
            f"no lmms-eval ({done.stderr.strip().splitlines()[-1]}): see CONTRIBUTING.md, STRESSREEL_LMMS_PYTHON"
        )
    found, logs, cache = tasks(name), tmp_path / "logs", tmp_path / "cache"
    shutil.copytree(found.folder, tmp_path / "moved", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path / "moved").iterdir():
        assert str(found.folder) not in path.read_text()
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
    right = [[doc["metadata"]["right"] for doc in found.docs(each)] for each in asked]
    said = 0 if name == "perturbed" else 1
    expected = np.mean([set(numbers) == {said} for numbers in zip(*right, strict=True)])
    assert result["headline"][score]["value"] == pytest.approx(expected)
    if name == "causal":
        generated = read_generated(logs, read_references(outputs[name], open_rows))
        assert generated.texts == {letter: [response] * len(right[0]) for letter in "AE"}
