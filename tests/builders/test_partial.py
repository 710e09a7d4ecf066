"""`stressreel score --partial` leaves out what has no answer: in every score of every benchmark."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import rows, run
from stressreel.builders.perturbed.scores import suite_settings
from stressreel.core.output import open_output

Answers = list[dict[str, Any]]


def clavi(out: Path) -> Answers:
    return [{"id": row["question_id"], "answer": row["answer"]} for row in rows(out, "questions", "test")]


def perturbed(out: Path) -> Answers:
    info = open_output(out).info
    clips = [row["clip_id"] for row in rows(out, "clean", "*")]
    return [{"setting": each.name, "id": clip, "correct": True} for clip in clips for each in suite_settings(info)]


def causal(out: Path) -> Answers:
    return [
        {
            "id": row["qid"],
            "answer": row["options"][row["answer_index"]],
            "explanation": row["explanation_options"][row["explanation_index"]],
        }
        for row in rows(out, "ud", "test")
    ]


def decomp(out: Path) -> Answers:
    asked = [row for row in rows(out, "questions", "test") if not row["banned"]]
    return [{"key": row["key"], "answer": row["answer"] or "yes"} for row in asked]


RIGHT: dict[str, tuple[Callable[[Path], Answers], tuple[str, ...]]] = {
    "clavi": (clavi, ("--charades", "sample", "--no-render")),
    "perturbed": (perturbed, ("--msrvtt", "sample", "--severity", "3", "--perturbations", "noise,jpeg", "--no-render")),
    "causal": (causal, ("--annotations", "sample", "--no-render", "--tagger", "pattern")),
    "decomp": (decomp, ("--charades", "sample")),
}


@pytest.mark.parametrize("name", ["decomp", *(pytest.param(n, marks=pytest.mark.full) for n in RIGHT if n != "decomp")])
def test_who_is_right_about_all_that_he_answers_is_right(
    build_once: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    oracle, arguments = RIGHT[name]
    if name == "causal":
        pytest.importorskip("sentence_transformers")
    out = build_once(f"build-{name}", *arguments)
    answers = oracle(out)
    kept = [row for number, row in enumerate(answers) if number % 4 or number > len(answers) / 2]
    file = tmp_path / "right.jsonl"
    file.write_text("\n".join(map(json.dumps, kept)))
    done = run("stressreel", "score", out, "--predictions", file, "--partial", "--json", "--resamples", 100)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["answers"]["missing"] == len(answers) - len(kept)
    values = {score: each["value"] for score, each in found["headline"].items() if each["value"] is not None}
    assert len(values) >= 2
    assert {score: value for score, value in values.items() if value != pytest.approx(1)} == {}
