"""`stressreel agreement`, and what other commands make of the answers of people."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Ran, refuses, rows, run, run_json, succeed
from stressreel.api.agreement import as_answer
from stressreel.builders import benchmark_of
from stressreel.core.output import open_output
from stressreel.evaluation.metrics.agreement import OUTVOTED
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.people import Item, plan

ERRORS = {"ann": 0.05, "bob": 0.1, "cy": 0.3}
BOTH = "video+text"


@pytest.fixture(scope="module")
def clavi(build_once: Callable[..., Path]) -> Path:
    """CLAVI on the built-in sample, without the videos; read only."""
    return build_once("build-clavi", "--charades", "sample", "--no-render")


def answers(
    out: Path,
    path: Path,
    *,
    condition: str = BOTH,
    error: float = 0,
    said: Callable[[Item], str] | None = None,
    **changes: Any,
) -> Path:
    """The file of a person who errs in every n-th question, or who says an option, and who repeats repeated answers."""
    output = open_output(out)
    drawn = plan(output, benchmark_of(output), items=changes.get("items", 100), seed=1, condition=condition)
    if said is None:
        truth = {row["question_id"]: row["answer"] for row in rows(out, "questions")}
        names = sorted(item.question_id for item in drawn.items if not item.repeat)
        wrong = {name for number, name in enumerate(names) if int((number + 1) * error) > int(number * error)}
        said = lambda item: YES_NO[truth[item.question_id] ^ (item.question_id in wrong)]  # noqa: E731
    choices = [(item.key, item.options.index(said(item)) if item.options else said(item)) for item in drawn.items]
    content = {
        "format": "stressreel answers",
        "version": 1,
        "output": drawn.output,
        "fingerprint": drawn.fingerprint,
        "seed": 1,
        "items": drawn.count,
        "condition": condition,
        "annotator": path.stem.partition(".")[0],
        "answers": [
            {"key": key, "choice": choice, "mark": "", "reason": "", "seconds": 5.0} for key, choice in choices
        ],
    }
    path.write_text(json.dumps(content | changes))
    return path


@pytest.fixture
def files(clavi: Path, tmp_path: Path) -> list[Path]:
    return [answers(clavi, tmp_path / f"{name}.json", error=error) for name, error in ERRORS.items()]


@pytest.fixture
def people(clavi: Path, files: list[Path], tmp_path: Path) -> Path:
    succeed("stressreel", "agreement", clavi, *files, "--to", tmp_path / "people")
    return tmp_path / "people"


def model(clavi: Path, path: Path, error: int = 0) -> Path:
    """Predictions that are wrong about every `error`-th question, by type as a model would be."""
    lines = [
        {"id": row["question_id"], "answer": ("no", "yes")[row["answer"] ^ bool(error and number % error == 0)]}
        for number, row in enumerate(rows(clavi, "questions", "test"))
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_planted_errors_come_out(clavi: Path, people: Path) -> None:
    content = json.loads((people / "agreement.json").read_text("utf-8"))
    persons = {row["person"]: row for row in content["tables"]["people"]}
    assert {name: row["accuracy [95% interval]"]["value"] for name, row in persons.items()} == pytest.approx(
        {name: 1 - error for name, error in ERRORS.items()}
    )
    assert [row["same on repeats"] for row in persons.values()] == [1, 1, 1]
    assert content["headline"]["accuracy"]["value"] == pytest.approx(0.85)
    by_type = {row["type"]: row for row in content["tables"]["accuracy"]}
    assert by_type["all"]["answers"] == 300 == sum(row["answers"] for name, row in by_type.items() if name != "all")
    assert (len(content["people"]), len(content["questions"])) == (3, 100)
    disputed = json.loads((people / "disputed.json").read_text("utf-8"))
    assert (disputed["format"], disputed["fingerprint"]) == ("stressreel disputed", content["output"]["fingerprint"])
    assert {item["why"] for item in disputed["items"]} == {OUTVOTED}
    assert [item["question_id"] for item in disputed["items"]] == [row["id"] for row in content["tables"]["disputed"]]
    assert all(sum(item["votes"].values()) == 3 for item in disputed["items"])


def test_disputed_pairs_are_dropped_from_the_next_version(people: Path, tmp_path: Path) -> None:
    disputed = people / "disputed.json"
    build = ["build-clavi", "--charades", "sample", "--no-render", "--drop", disputed, "--out", tmp_path / "next"]
    version = json.loads(disputed.read_text("utf-8"))["dataset_version"]
    refuses(run(*build, "--version", version), version, code=2)
    succeed(*build, "--version", "9.0.0")
    kept = {row["question_id"] for row in rows(tmp_path / "next", "questions")}
    assert kept
    assert kept.isdisjoint(item["question_id"] for item in json.loads(disputed.read_text("utf-8"))["items"])
    succeed("stressreel", "verify", tmp_path / "next")


def test_marks_count_as_incorrect_and_are_disputed(clavi: Path, tmp_path: Path) -> None:
    file = answers(clavi, tmp_path / "ann.json", items=20)
    output = open_output(clavi)
    by_key = plan(output, benchmark_of(output), items=20, seed=1, condition=BOTH).by_key
    content = json.loads(file.read_text("utf-8"))
    marked = next(each for each in content["answers"] if not by_key[each["key"]].repeat)
    marked |= {"choice": None, "mark": "wrong", "reason": "[it](x) is <b>dark</b>"}
    file.write_text(json.dumps(content))
    found = run_json("stressreel", "agreement", clavi, file, "--to", tmp_path / "to")
    assert (found["answers"]["scored"], found["answers"]["unreadable"]) == (20, 1)
    assert found["headline"]["accuracy"]["value"] == pytest.approx(19 / 20)
    assert found["alpha"] is None
    (row,) = found["tables"]["disputed"]
    assert (row["id"], row["why"]) == (by_key[marked["key"]].question_id, "marked wrong")
    assert "\\[it\\](x) is &lt;b>dark" in (tmp_path / "to" / "agreement.md").read_text("utf-8")


def test_unfinished_files_count_what_was_answered(clavi: Path, tmp_path: Path) -> None:
    output = open_output(clavi)
    by_key = plan(output, benchmark_of(output), items=20, seed=1, condition=BOTH).by_key
    file = answers(clavi, tmp_path / "ann.json", items=20)
    content = json.loads(file.read_text("utf-8"))
    repeated = {item.question_id for item in by_key.values() if item.repeat}
    options = ("agreement", clavi, file, "--to", tmp_path / "to")
    content["answers"] = [
        each
        for each in content["answers"]
        if by_key[each["key"]].repeat or by_key[each["key"]].question_id not in repeated
    ]
    file.write_text(json.dumps(content))
    found = run_json("stressreel", *options)
    assert len(found["questions"]) == found["answers"]["scored"] == 20 - len(repeated)
    assert repeated.isdisjoint(found["questions"])
    content["answers"] = [each for each in content["answers"] if by_key[each["key"]].repeat]
    file.write_text(json.dumps(content))
    refuses(run("stressreel", *options), "ann.json", "repeats")


def test_other_files_are_refused_by_name(clavi: Path, files: list[Path], tmp_path: Path) -> None:
    def agreement(*given: Path) -> Ran:
        return run("stressreel", "agreement", clavi, *given, "--to", tmp_path / "to")

    twice = answers(clavi, tmp_path / "Ann.2.json")
    refuses(agreement(*files, twice), "ann.json", "Ann.2.json", "both of")
    for change in ({"fingerprint": "0" * 64}, {"seed": 2}, {"items": 99}, {"output": "clavi", "answers": []}):
        other = answers(clavi, tmp_path / "other.json", **change)
        refuses(agreement(*files, other), "other.json")
    refuses(agreement(*files, answers(clavi, tmp_path / "dan.json", condition="text")), "video+text, text")
    refuses(agreement(tmp_path / "none.json"), "none.json", code=2)
    assert not (tmp_path / "to").exists()
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "mine").touch()
    refuses(agreement(*files), "--to")


def test_people_stand_beside_models(clavi: Path, people: Path, tmp_path: Path) -> None:
    predictions = model(clavi, tmp_path / "m.jsonl")
    succeed("stressreel", "score", clavi, "--predictions", predictions)
    refuses(run("stressreel", "compare", tmp_path / "m.scores", people), "different questions", "--people")
    scored = run_json("stressreel", "score", clavi, "--predictions", predictions, "--people", people)
    assert (scored["answers"]["scored"], scored["answers"]["missing"]) == (100, 0)
    row = next(row for row in scored["tables"]["people"] if row["score"] == "accuracy")
    assert (row["model"]["value"], row["people (3)"]["value"]) == (1, pytest.approx(0.85))
    compared = run_json("stressreel", "compare", tmp_path / "m.people.scores", people / "agreement.json")
    by_score = {row["score"]: row for row in compared["differences"]}
    assert {row["model"] for row in compared["rows"]} == {"m.people", "people (3)"}
    assert by_score["accuracy"]["difference"]["value"] == pytest.approx(-0.15)
    lines = predictions.read_text("utf-8").splitlines()
    answered = json.loads((people / "agreement.json").read_text("utf-8"))["questions"][7]
    predictions.write_text("\n".join(line for line in lines if answered not in line))
    refuses(run("stressreel", "score", clavi, "--predictions", predictions, "--people", people), answered)
    refuses(run("stressreel", "gallery", clavi, "--to", tmp_path / "g", "--scores", people), "scores of people")
    wrong = run("stressreel", "score", clavi, "--predictions", predictions, "--people", tmp_path / "m.scores")
    refuses(wrong, "stressreel agreement")


def test_disputed_questions_are_linked_to_their_pages(clavi: Path, files: list[Path], tmp_path: Path) -> None:
    succeed("stressreel", "gallery", clavi, "--to", tmp_path / "gallery", "--embed", "none")
    options = ("--to", tmp_path / "to", "--gallery", tmp_path / "gallery")
    found = run_json("stressreel", "agreement", clavi, *files, *options)
    pair = {row["question_id"]: row["pair_id"] for row in rows(clavi, "questions")}
    links = {row["id"]: row["gallery"] for row in found["tables"]["disputed"]}
    assert links
    assert links == {name: f"[open](../gallery/index.html#item={pair[name]})" for name in links}
    assert next(iter(links.values())) in (tmp_path / "to" / "agreement.md").read_text("utf-8")


def test_card_keeps_people_beside_notes(clavi: Path, people: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(clavi, copy)
    readme = (copy / "README.md").read_text("utf-8")
    (copy / "README.md").write_text(readme.replace("-->\n\n<!-- end", "-->\n\nMine.\n\n<!-- end"))
    for _ in range(2):
        succeed("stressreel", "card", copy, "--people", people)
    text = (copy / "README.md").read_text("utf-8")
    assert (text.count("Mine."), text.count("| accuracy | 85.0% |"), text.count("3 people answered 100")) == (1, 1, 1)
    succeed("stressreel", "card", copy)
    assert (copy / "README.md").read_text("utf-8") == text
    succeed("stressreel", "verify", copy, "--no-decode")
    content = json.loads((people / "agreement.json").read_text("utf-8"))
    content["output"]["fingerprint"] = "0" * 64
    (people / "agreement.json").write_text(json.dumps(content))
    refuses(run("stressreel", "card", copy, "--people", people), "another output")


def test_modality_importance_by_people(clavi: Path, tmp_path: Path) -> None:
    """Two people answer as the model does, which makes their scores equal; with one other person, they correlate."""
    given, files = [], []
    for condition, error in (("video", 3), ("text", 2), (BOTH, 0)):
        given.append(f"{condition}={model(clavi, tmp_path / f'{condition}.jsonl', error)}")
        said = {
            row["id"]: row["answer"]
            for row in map(json.loads, (tmp_path / f"{condition}.jsonl").read_text("utf-8").splitlines())
        }
        for person in ("ann", "bob"):
            path = tmp_path / f"{person}.{condition}.json"
            files.append(answers(clavi, path, condition=condition, said=lambda item, said=said: said[item.question_id]))

    def table(people: list[Path]) -> dict[str, dict[str, Any]]:
        options = [word for file in people for word in ("--people", file)]
        return {
            row["score"]: row
            for row in run_json("stressreel", "score", "modalities", clavi, *given, *options)["people"]
        }

    same = table(files)
    assert set(same) == {"MIS video", "MIS text"}
    for row in same.values():
        assert row["people"] == pytest.approx(row["model"])
        assert (row["Pearson"], row["Spearman"], row["questions"]) == (pytest.approx(1), pytest.approx(1), 100)
    often = {"video": 0.5, "text": 0.3, BOTH: 0.1}
    others = [
        answers(clavi, tmp_path / f"cy.{name}.json", condition=name, error=error) for name, error in often.items()
    ]
    assert all(0 < row["Pearson"] < 0.99 for row in table([*files, *others]).values())
    missing = run("stressreel", "score", "modalities", clavi, *given, "--people", files[0])
    refuses(missing, "people answered under video", code=2)


def test_alpha_names_the_missing_package(
    clavi: Path, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nltk.metrics.agreement", None)
    found = run_json("stressreel", "agreement", clavi, *files, "--to", tmp_path / "to")
    assert found["alpha"] is None
    assert "stressreel[text]" in (tmp_path / "to" / "agreement.md").read_text("utf-8")


def test_options_are_answered_as_each_benchmark_reads_them(build_once: Callable[..., Path], tmp_path: Path) -> None:
    """Questions of graphs are answered by words, and options that are numbers by letters."""
    out = build_once("build-decomp", "--charades", "sample")
    drawn = plan(open_output(out), benchmark_of(open_output(out)), items=200, seed=1)
    truth = {row["key"]: row["answer"] for row in rows(out, "questions")}
    file = answers(out, tmp_path / "ann.json", items=200, said=lambda item: truth[item.question_id])
    found = run_json("stressreel", "agreement", out, file, "--to", tmp_path / "to")
    assert any(item.options for item in drawn.items)
    headline = {name: each["value"] for name, each in found["headline"].items() if "accuracy of" in name}
    assert "accuracy of Choose" in headline
    assert set(headline.values()) == {1}
    assert [as_answer(("2", "1", "a dog"), choice) for choice in (0, 2, None)] == ["A", "a dog", "cannot tell"]
