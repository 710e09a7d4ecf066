import csv
import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, rows, run


def asked(out: Path, split: str = "*") -> list[dict[str, Any]]:
    return [row for row in rows(out, "questions", split) if not row["banned"]]


def write(path: Path, answers: Mapping[str, str]) -> Path:
    lines = [json.dumps({"key": key, "answer": answer}) for key, answer in answers.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def score(out: Path, file: Path, *arguments: object) -> dict[str, Any]:
    done = run("stressreel", "score", out, "--predictions", file, "--json", "--force", "--resamples", 100, *arguments)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def headline(found: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: estimate["value"] for name, estimate in found["headline"].items()}


@pytest.mark.parametrize("released", [False, True])
def test_oracle_scores_one(drawn: Path, tmp_path: Path, released: bool) -> None:
    file = write(tmp_path / "oracle.jsonl", {row["key"]: row["answer"] or "yes" for row in asked(drawn)})
    found = headline(score(drawn, file, "--split", "all", *["--released"] * released))
    values = {name: value for name, value in found.items() if value is not None and "RWR" not in name}
    assert {"accuracy", "CA", "IC (defined)", "c-F1"} <= values.keys()
    assert {name: value for name, value in values.items() if value != 1.0} == {}
    assert found["RWR"] is None


def test_prediction_files_complete_and_incomplete(drawn: Path, tmp_path: Path) -> None:
    answers = {row["key"]: "Yes." for row in asked(drawn, "test")}
    found = headline(score(drawn, write(tmp_path / "a.jsonl", answers)))
    for group in ("Object Exists", "Relation Exists", "Interaction", "Conjunction", "Equals"):
        assert found[f"accuracy of {group}"] == 0.5
    assert found["accuracy of Choose"] == 0
    with (tmp_path / "b.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["csv_q_id", "prediction"])
        table.writerows(answers.items())
    assert headline(score(drawn, tmp_path / "b.csv")) == found
    more = answers | {row["key"]: "yes" for row in rows(drawn, "questions")}  # of banned kinds and other splits, too
    told = score(drawn, write(tmp_path / "all.jsonl", more))["answers"]
    assert (told["scored"], told["unknown"]) == (len(answers), 0)
    assert told["banned"] == sum(row["banned"] for row in rows(drawn, "questions", "test")) > 0
    assert told["of_other_splits"] == len(list(rows(drawn, "questions", "train")))
    gone = answers.popitem()[0]
    file_of_some = write(tmp_path / "some.jsonl", answers)
    refuses(run("stressreel", "score", drawn, "--predictions", file_of_some), gone, "--partial")
    assert score(drawn, file_of_some, "--partial")["answers"]["missing"] == 1


def test_explanation_as_json(drawn: Path, tmp_path: Path) -> None:
    answers = {row["key"]: "yes" for row in asked(drawn, "test")}
    graph = next(row for row in rows(drawn, "graphs", "test") if row["template"] == "objLastChoose")
    unanswered = next(key for key in graph["nodes"] if key in answers and key != graph["root"])
    del answers[unanswered]
    file = write(tmp_path / "a.jsonl", answers)
    given = ("--predictions", file, "--question", graph["root"], "--json")
    done = run("stressreel", "score", "explain", drawn, *given)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["root"] == graph["root"]
    edges = [{name: edge[name] for name in ("parent", "rule", "children")} for edge in found["edges"]]
    assert edges == graph["edges"]
    by_key = {row["key"]: row for row in rows(drawn, "questions")}
    for node in found["nodes"]:
        row = by_key[node["key"]]
        right = {True: "right", False: "wrong"}[row["answer"] == "yes"]
        wanted = "not scored" if row["banned"] else "correct answer unknown" if row["answer"] is None else right
        assert node["verdict"] == ("not answered" if node["key"] == unanswered else wanted)
    assert found["goes_wrong_at"]
    refuses(run("stressreel", "score", "explain", drawn, *given[:2], "--question", "nobody"), "nobody")


def test_exported_tasks_score_correct_answers(drawn: Path, tmp_path: Path) -> None:
    done = run("stressreel", "export", "lmms-eval", drawn, "--to", tmp_path / "tasks")
    assert done.code == 0, done.err
    judge = runpy.run_path(str(tmp_path / "tasks" / "utils.py"))["results"]
    logs, answered = tmp_path / "logs", set[str]()
    logs.mkdir()
    for name in ("yes_no", "words"):
        lines = (tmp_path / "tasks" / f"stressreel_decomp_{name}.jsonl").read_text().splitlines()
        samples = [json.loads(line) for line in lines]
        answered |= {sample["id"] for sample in samples}
        results = [judge(sample, [f"{sample['target'] or 'yes'}."]) for sample in samples]
        known = [found for found, sample in zip(results, samples, strict=True) if sample["target"]]
        assert len(known) > 10
        assert all(found["accuracy"] == 1.0 for found in known)
        assert all(judge(sample, [""])["accuracy"] == 0.0 for sample in samples)
        lines = [json.dumps({"doc_id": number, **found}) + "\n" for number, found in enumerate(results)]
        (logs / f"0_samples_{name}.jsonl").write_text("".join(lines))
    assert answered == {row["key"] for row in rows(drawn, "questions", "test") if not row["banned"]}
    found = run("stressreel", "score", drawn, "--predictions", logs, "--json", "--resamples", 100)
    assert found.code == 0, found.err
    assert json.loads(found.out)["headline"]["accuracy"]["value"] == 1.0
    assert json.loads(found.out)["answers"]["unreadable"] == 0
