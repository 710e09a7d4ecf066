"""Datasets of VLMEvalKit: what is asked, how results are read, and the real package."""

import csv
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pandas as pd
import pytest
import stressreel
from commands import refuses, run, score_json
from stressreel.exports.vlmevalkit import video_name

# ms-vlmeval brings 100 packages, so it is installed in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_VLMEVALKIT_PYTHON", "")
NAMES = ("clavi", "causal", "perturbed", "decomp")


def rows_of(folder):
    """The rows of each task, in the order in which they are asked."""
    found = {}
    for task in json.loads((folder / "output.json").read_text())["tasks"]:
        with (folder / f"{task}.tsv").open(newline="", encoding="utf-8") as file:
            found[task] = list(csv.DictReader(file, delimiter="\t"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_samples_with_names_of_videos(name, exported, asked):
    videos, tables = {}, rows_of(exported("vlmevalkit", name))
    assert [*tables] == [*asked(name)]
    for task, samples in asked(name).items():
        for row, one in zip(tables[task], samples, strict=True):
            sample, about = json.loads(row["sample"]), one["metadata"]
            assert (row["question"], row["answer"], sample["target"]) == (one["input"], one["target"], one["target"])
            assert about.items() <= sample.items()
            assert [row[letter] for letter in "ABCDE"][: len(about["options"])] == about["options"][:5]
            assert videos.setdefault(row["video"], sample["video"]) == about["video"], "two videos with one file name"


def test_video_names_are_valid_and_distinct():
    for key in ("../x", "a/b", "ü", "x" * 300, "a b", ".."):
        name, other = (video_name({"table": "videos", "key": {"video_id": each}}) for each in (key, f"{key}_"))
        assert Path(name).name == name != other
        assert len(name) < 120


@pytest.mark.parametrize(("name", "form"), [("clavi", "xlsx"), ("perturbed", "tsv")])
def test_results_are_scored(name, form, exported, outputs, tmp_path, monkeypatch):
    """What VLMEvalKit writes of a model that answers every second question rightly."""
    tasks, folder = rows_of(exported("vlmevalkit", name)), tmp_path / "logs"
    folder.mkdir()
    for task, rows in tasks.items():
        path = folder / f"model_{task}.{form}"
        said = [row["answer"] if number % 2 else "I cannot tell." for number, row in enumerate(rows)]
        table = pd.DataFrame(rows).assign(prediction=said)
        table.to_excel(path, index=False) if form == "xlsx" else table.to_csv(path, sep="\t", index=False)
    (folder / "status.json").write_text('{"version": 1, "datasets": {}}')
    scores = score_json(outputs[name], folder)
    assert scores["answers"]["unreadable"] >= len(next(iter(tasks.values()))) // 2
    assert scores["answers"]["missing"] == 0
    if form == "tsv":  # the same numbers as the exported file adds to VLMEvalKit's
        for module in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.video_base", "vlmeval.smp"):
            monkeypatch.setitem(sys.modules, module, MagicMock(VideoBaseDataset=object))
        tasks_file = runpy.run_path(str(exported("vlmevalkit", name) / "run.py"))
        values = {key: cell["value"] for key, cell in scores["headline"].items() if cell["value"] is not None}
        assert tasks_file["_scores"](next(folder.glob("model_*"))) == pytest.approx(values)


def test_invalid_results_are_refused(built, exported, tmp_path):
    for name, content, part in (
        ("a.xlsx", b"PK\x03\x04 no workbook", "cannot be read as a workbook"),
        ("a.tsv", b'sample\tprediction\n{"about": 3}\tyes\n', "export vlmevalkit"),
    ):
        (tmp_path / name).write_bytes(content)
        refuses(run("stressreel", "score", built, "--predictions", tmp_path / name), part)
        refuses(run("stressreel", "score", built, "--predictions", tmp_path), part)  # a damaged result is not skipped
        (tmp_path / name).unlink()


MODEL = """
import sys
sys.path.insert(0, {folder!r})
import run
from vlmeval import config
class Model:
    is_api, VIDEO_LLM, nframe, fps = False, {whole}, None, None
    def generate(self, message, dataset=None):
        assert message[0]["type"] == ("video" if {whole} else "text"), message
        assert {whole} or sum(part["type"] == "image" for part in message) == 4
        return "yes" if len(message[-1]["value"]) % 2 else "B"
config.supported_VLM["tiny"] = Model
run.main()
"""


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.skipif(not PYTHON, reason="STRESSREEL_VLMEVALKIT_PYTHON is not set: a Python with ms-vlmeval")
@pytest.mark.parametrize(("name", "whole"), [(name, name != "clavi") for name in NAMES])
def test_vlmevalkit_reports_the_scores_of_score(name, whole, exported, outputs, tmp_path):
    script = MODEL.format(folder=str(exported("vlmevalkit", name)), whole=whole)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "stressreel").symlink_to(stressreel.__path__[0])  # for the metrics that `evaluate` adds
    place = {name: str(tmp_path / each) for name, each in (("PYTHONPATH", "lib"), ("LMUData", "lmu"))}
    place |= {"PRED_FORMAT": "xlsx", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [PYTHON, "-c", script, "--model", "tiny", "--work-dir", tmp_path / "logs", "--judge", "exact_matching"]
    command = [*map(str, command), "--frames", "4"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **place})
    assert done.returncode == 0, done.stderr[-3000:]
    said = done.stdout + done.stderr
    shown = re.findall(r"Evaluation Results:.*?^(\{.*?^\})", said, re.DOTALL | re.MULTILINE)
    assert shown, said[-3000:]
    more = ("--config", "ud") if name == "causal" else ()
    scores = score_json(outputs[name], tmp_path / "logs" / "tiny", *more)["headline"]
    found = {key: value for block in shown for key, value in json.loads(block).items()}
    prefix = "ud." if name == "causal" else ""
    for key, cell in scores.items():
        assert found.get(prefix + key) == (cell["value"] and pytest.approx(cell["value"])), key
