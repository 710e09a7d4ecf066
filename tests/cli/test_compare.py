"""`stressreel compare` on what `stressreel score` wrote."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path

import pytest
import stressreel
from commands import refuses, run, run_json, succeed
from stressreel.core.output import open_output

SHARES = {"a1": 10, "a2": 4, "b1": 2}  # of so many answers one is wrong


@pytest.fixture(scope="module")
def scores(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of scores, by name."""
    folder = tmp_path_factory.mktemp("scores")
    for name, each in SHARES.items():
        rows = open_output(built).rows("questions", None, "test")
        lines = [
            json.dumps({"id": row["question_id"], "answer": ("no", "yes")[row["answer"] ^ (number % each == 0)]})
            for number, row in enumerate(rows)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
        assert run("stressreel", "score", built, "--predictions", folder / f"{name}.jsonl").code == 0
    return {name: folder / f"{name}.scores" for name in SHARES}


def accuracy(folder: Path) -> float:
    value: float = json.loads((folder / "scores.json").read_text())["headline"]["accuracy"]["value"]
    return value


def test_json_lists_means_and_runs(scores: dict[str, Path]) -> None:
    found = run_json("stressreel", "compare", f"A={scores['a1']}", f"A={scores['a2']}", scores["b1"])
    rows = {(row["model"], row["score"]): row for row in found["rows"]}
    runs = [accuracy(scores[name]) for name in ("a1", "a2")]
    assert rows["A", "accuracy"]["mean"] == pytest.approx(statistics.mean(runs))
    assert (rows["A", "accuracy"]["std"], rows["A", "accuracy"]["runs"]) == (pytest.approx(statistics.stdev(runs)), 2)
    alone = {"mean": accuracy(scores["b1"]), "std": None, "runs": 1}
    assert rows["b1", "accuracy"] == {"model": "b1", "score": "accuracy", **alone}
    assert (found["differences"], found["interval"]) == ([], None)
    assert stressreel.compare({"A": [scores["a1"], scores["a2"]], "b1": scores["b1"]}).as_json() == found


def test_two_models_show_their_difference(scores: dict[str, Path]) -> None:
    done = succeed("stressreel", "compare", scores["a1"], scores["b1"])
    assert "b1 - a1 [95% interval]" in done.out
    (row,) = [row for row in stressreel.compare(scores["a1"], scores["b1"]).differences if row.score == "accuracy"]
    assert (row.a, row.b) == (accuracy(scores["a1"]), accuracy(scores["b1"]))
    assert row.difference.value == pytest.approx(row.b - row.a)


def test_names_of_models_without_names(scores: dict[str, Path], tmp_path: Path) -> None:
    """Folders with equal names are two models; only runs with a given name are averaged."""
    copy = shutil.copytree(scores["a1"], tmp_path / "a1.scores")
    for given, names in (
        ((scores["a1"], scores["b1"]), ("a1", "b1")),
        ((scores["a1"], copy), (str(scores["a1"]), str(copy))),
        ((f"a1={scores['b1']}", copy), ("a1", str(copy))),
    ):
        assert stressreel.compare(*given).models == names


def test_markdown_and_a_figure(scores: dict[str, Path], tmp_path: Path) -> None:
    picture = tmp_path / "models.png"
    given = (f"A={scores['a1']}", f"A={scores['a2']}", f"B|b={scores['b1']}", "--of", "by_type", "--figure", picture)
    done = succeed("stressreel", "compare", *given, "--markdown", "--transpose")
    assert "| model | E | E-NC | BE | BA | BA-NC |" in done.out
    assert "| B\\|b |" in done.out
    assert picture.is_file()


def test_differences_between_tables(built_causal: Path, tmp_path: Path) -> None:
    """The same questions in two tables are paired by their ids; other questions are not."""
    folders = {}
    for config, wrong in {"ud": 3, "causal_confusion": 2, "un": 3}.items():
        rows = open_output(built_causal).rows(config, None, "test")
        lines = [
            json.dumps({"id": row["qid"], "answer": row["options"][(row["answer_index"] + (number % wrong == 0)) % 5]})
            for number, row in enumerate(rows)
        ]
        file = tmp_path / f"{config}.jsonl"
        file.write_text("\n".join(lines))
        succeed("stressreel", "score", built_causal, "--predictions", file, "--config", config)
        folders[config] = tmp_path / f"{config}.{config}.scores"
    found = run_json("stressreel", "compare", folders["ud"], folders["causal_confusion"])
    (row,) = [row for row in found["differences"] if row["score"] == "A"]
    assert row["difference"]["value"] == pytest.approx(4 / 9 - 6 / 9)  # 9 questions: 3 wrong, then 5
    assert "of table ud, " in found["notes"][-1]
    assert found["notes"][-1].endswith("of causal_confusion: the same questions, paired by id.")
    for other, says in (("un", "answer different questions (tables ud and un)"), ("", "is not a score folder")):
        refuses(run("stressreel", "compare", folders["ud"], folders.get(other, tmp_path)), says)
