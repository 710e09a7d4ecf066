from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import succeed

pytest.importorskip("sklearn")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Forty questions whose longest option is right, half of them balanced, from ten videos."""
    rows = [
        {
            "id": f"q{number}",
            "question": f"why did cat {number} run?",
            "options": ["it hid", "it was chased by a very large dog", f"it saw mouse {number}"],
            "answer_index": 1,
            "source": f"v{number % 10}",
            "split": "test" if number % 2 else "train",
            "blind_guessable": number % 4 == 1,
        }
        for number in range(40)
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def audited(*arguments: object) -> dict:
    done = succeed("stressreel", "audit", *arguments, "--no-sbert", "--json", "--resamples", 100)
    return json.loads(done.out)


@pytest.mark.usefixtures("paint")
def test_a_file_is_audited_and_written(items: Path, tmp_path: Path) -> None:
    done = succeed("stressreel", "audit", "--items", items, "--no-sbert", "--resamples", 100, "--to", tmp_path / "to")
    assert "longest" in done.out
    (left,) = [line for line in done.out.splitlines() if line.startswith("left out: ") and "near_question" in line]
    assert left.count("near_question") == 1
    (found,) = json.loads((tmp_path / "to/audit.json").read_text())["audits"]
    assert (found["split"], found["questions"], found["learnt_from_train"], found["sources"]) == ("test", 20, 20, 5)
    assert found["highest"]["value"] == 1.0
    assert found["balanced"]["questions"] == 10
    assert found["chance"] == pytest.approx(1 / 3)
    right = {each["guesser"]: each["right"]["value"] for each in found["guessers"]}
    assert right["longest"] == 1.0
    assert set(found["choices"]) == {f"q{number}" for number in range(1, 40, 2)}
    taken = {each["guesser"]: each["choice"] for each in found["choices"]["q1"]}
    assert taken["longest"] == 1
    assert set(taken) == set(right)
    text = (tmp_path / "to/audit.md").read_text()
    assert "| longest |" in text
    assert "audit.png" in text
    assert (tmp_path / "to/audit.png").read_bytes().startswith(b"\x89PNG")


def test_splits_and_train(items: Path) -> None:
    every = audited("--items", items, "--split", "all")["audits"]
    assert [(one["split"], one["learnt_from_train"]) for one in every] == [("train", 0), ("test", 20)]
    assert audited("--items", items, "--train", items)["audits"][0]["learnt_from_train"] == 40


FULL = pytest.mark.full
YES_NO = {"yes/no", "yes/no, video complement pairs", "yes/no, text complement pairs"}


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (("build-clavi", "--charades", "sample", "--no-render"), YES_NO),
        (("build-perturbed", "--msrvtt", "sample", "--perturbations", "jumble", "--no-render"), {"caption"}),
        pytest.param(("build-decomp", "--charades", "sample"), {"yes/no", "choice"}, marks=FULL),
        pytest.param(None, {"answer", "explanation", "both"}, marks=FULL),
    ],
)
def test_outputs_are_audited_by_their_own_questions(
    build: tuple[str, ...] | None, parts: set[str], request: pytest.FixtureRequest, build_once: Callable[..., Path]
) -> None:
    out = build_once(*build) if build else request.getfixturevalue("built_causal")
    assert {one["part"] for one in audited(out)["audits"]} == parts
