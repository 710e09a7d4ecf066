import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, rows, run, run_json, score_json, succeed


def asked(out: Path, split: str = "*") -> list[dict[str, Any]]:
    return [row for row in rows(out, "questions", split) if not row["banned"]]


def write(path: Path, answers: Mapping[str, str]) -> Path:
    lines = [json.dumps({"key": key, "answer": answer}) for key, answer in answers.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def headline(out: Path, file: Path, *options: str) -> dict[str, float | None]:
    found = score_json(out, file, "--force", *options)["headline"]
    return {name: estimate["value"] for name, estimate in found.items()}


@pytest.mark.parametrize("released", [False, True])
def test_oracle_scores_one(built_graphs: Path, tmp_path: Path, released: bool) -> None:
    file = write(tmp_path / "oracle.jsonl", {row["key"]: row["answer"] or "yes" for row in asked(built_graphs)})
    found = headline(built_graphs, file, "--split", "all", *["--released"] * released)
    values = {name: value for name, value in found.items() if value is not None and "RWR" not in name}
    assert {"accuracy", "CA", "IC (defined)", "c-F1"} <= values.keys()
    assert {name: value for name, value in values.items() if value != 1.0} == {}
    assert found["RWR"] is None


def test_prediction_files_complete_and_incomplete(built_graphs: Path, tmp_path: Path) -> None:
    answers = {row["key"]: "Yes." for row in asked(built_graphs, "test")}
    found = headline(built_graphs, write(tmp_path / "a.jsonl", answers))
    for group in ("Object Exists", "Relation Exists", "Interaction", "Conjunction", "Equals"):
        assert found[f"accuracy of {group}"] == 0.5
    assert found["accuracy of Choose"] == 0
    lines = ["csv_q_id,prediction", *(f"{key},{answer}" for key, answer in answers.items())]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    assert headline(built_graphs, tmp_path / "b.csv") == found
    more = answers | {row["key"]: "yes" for row in rows(built_graphs, "questions")}  # of other splits, too
    told = score_json(built_graphs, write(tmp_path / "all.jsonl", more), "--force")["answers"]
    assert (told["scored"], told["unknown"]) == (len(answers), 0)
    assert told["banned"] == sum(row["banned"] for row in rows(built_graphs, "questions", "test")) > 0
    assert told["of_other_splits"] == len(list(rows(built_graphs, "questions", "train")))
    gone = answers.popitem()[0]
    file_of_some = write(tmp_path / "some.jsonl", answers)
    refuses(run("stressreel", "score", built_graphs, "--predictions", file_of_some), gone, "--partial")
    assert score_json(built_graphs, file_of_some, "--force", "--partial")["answers"]["missing"] == 1


def test_explanation_as_json(built_graphs: Path, tmp_path: Path) -> None:
    graph = next(row for row in rows(built_graphs, "graphs", "test") if row["template"] == "objLastChoose")
    answers = {row["key"]: "yes" for row in asked(built_graphs, "test")}
    unanswered = next(key for key in graph["nodes"] if answers.pop(key, None))
    given = ("--predictions", write(tmp_path / "a.jsonl", answers), "--question")
    found = run_json("stressreel", "score", "explain", built_graphs, *given, graph["root"])
    assert (found["root"], [node["key"] for node in found["nodes"]]) == (graph["root"], graph["nodes"])
    edges = [{name: edge[name] for name in ("parent", "rule", "children")} for edge in found["edges"]]
    assert edges == graph["edges"]
    verdicts = {node["key"]: node["verdict"] for node in found["nodes"]}
    assert verdicts[unanswered] == "not answered"
    assert {*verdicts.values()} <= {"right", "wrong", "not scored", "correct answer unknown", "not answered"}
    assert found["goes_wrong_at"]
    refuses(run("stressreel", "score", "explain", built_graphs, *given, "nobody"), "nobody")


def test_exported_tasks_score_correct_answers(built_graphs: Path, tmp_path: Path) -> None:
    succeed("stressreel", "export", "lmms-eval", built_graphs, "--to", tmp_path / "tasks")
    judge = runpy.run_path(str(tmp_path / "tasks" / "utils.py"))["results"]
    logs, answered = tmp_path / "logs", set[str]()
    logs.mkdir()
    for name in ("yes_no", "words"):
        lines = (tmp_path / "tasks" / f"stressreel_decomp_{name}.jsonl").read_text().splitlines()
        samples = [json.loads(line) for line in lines]
        answered |= {sample["id"] for sample in samples}
        results = [judge(sample, [f"{sample['target'] or 'yes'}."]) for sample in samples]
        known = [found["accuracy"] for found, sample in zip(results, samples, strict=True) if sample["target"]]
        assert len(known) > 10
        assert {*known} == {1.0}
        assert {judge(sample, [""])["accuracy"] for sample in samples} == {0.0}
        lines = [json.dumps({"doc_id": number, **found}) + "\n" for number, found in enumerate(results)]
        (logs / f"0_samples_{name}.jsonl").write_text("".join(lines))
    assert answered == {row["key"] for row in rows(built_graphs, "questions", "test") if not row["banned"]}
    found = score_json(built_graphs, logs)
    assert found["headline"]["accuracy"]["value"] == 1.0
    assert found["answers"]["unreadable"] == 0
