"""Files for leaderboards on the Hub: tasks in a dataset repository, scores in a model repository."""

import shutil
from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest
import stressreel
import yaml
from commands import info, refuses, rows, run, succeed
from hub import Hub
from stressreel.core.errors import UsageError
from stressreel.core.files import EVAL

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def clavi(build_once: Callable[..., Path], tmp_path: Path) -> Path:
    """A CLAVI output of text only, which a test may change."""
    out = build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 4)
    return Path(shutil.copytree(out, tmp_path / "clavi"))


def answers(out: Path, split: str, folder: Path) -> Path:
    """Write the answer "no" to every question of a split."""
    lines = [f'{{"id": "{row["question_id"]}", "answer": "no"}}\n' for row in rows(out, "questions", split)]
    file = folder / "no.jsonl"
    file.write_text("".join(lines))
    return file


def test_push_declares_tasks_and_verify_holds_them(clavi: Path, hub: Hub) -> None:
    splits = info(clavi)["counts"]["questions"]
    dry = succeed("stressreel", "push", clavi, "org/clavi", "--dry-run", "--eval-framework", "inspect-ai")
    assert "eval.yaml is written first and pushed too" in dry.out
    assert not (clavi / EVAL).exists()
    succeed("stressreel", "push", clavi, "org/clavi", "--eval-framework", "inspect-ai")
    pushed = yaml.safe_load(hub.repositories["datasets/org/clavi"].files()[EVAL])
    assert pushed["evaluation_framework"] == "inspect-ai"
    assert pushed["tasks"] == [{"id": f"questions_{s}", "config": "questions", "split": s} for s in splits]
    assert "\nok    eval\n" in succeed("stressreel", "verify", clavi).out
    (clavi / EVAL).write_text((clavi / EVAL).read_text().replace("questions_test", "questions_dev"))
    assert "FAIL  eval" in run("stressreel", "verify", clavi).out


@pytest.mark.parametrize("text", ["", "[]", "a: &a [*a]", "evaluation_framework: Inspect AI"])
def test_invalid_eval_file_fails_verification(clavi: Path, text: str) -> None:
    (clavi / EVAL).write_text(text)
    assert "FAIL  eval: \n" in run("stressreel", "verify", clavi).out.replace("eval\n", "eval: \n")


def test_damaged_card_is_refused(clavi: Path, hub: Hub) -> None:
    (clavi / "README.md").write_text("---\n: [\n---\n")
    refuses(run("stressreel", "push", clavi, "org/clavi", "--dry-run", "--eval-framework", "inspect-ai"), "README.md")


def test_framework_must_be_an_identifier(clavi: Path, hub: Hub) -> None:
    refuses(run("stressreel", "push", clavi, "org/clavi", "--eval-framework", "Inspect AI"), "'Inspect AI'", code=2)
    assert not hub.repositories


def test_scores_for_a_model_repository(clavi: Path, tmp_path: Path) -> None:
    predictions = answers(clavi, "test", tmp_path)
    options = ("--split", "test", "--eval-results", "org/clavi", "--out", tmp_path / "scores")
    succeed("stressreel", "score", clavi, "--predictions", predictions, *options)
    file = tmp_path / "scores/.eval_results/clavi-questions_test.yaml"
    (entry,) = huggingface_hub.parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/clavi", "questions_test", 0.5)
    assert info(clavi)["fingerprint"][:16] in str(entry.notes)
    assert "balanced accuracy 0.5000" in str(entry.notes)


def test_scores_of_several_splits_or_nowhere_are_refused(clavi: Path, tmp_path: Path) -> None:
    predictions = answers(clavi, "test", tmp_path)
    for named, *options in (
        (["'clavi'"], "--eval-results", "clavi"),
        (["train, test"], "--eval-results", "org/clavi", "--split", "all", "--partial"),
    ):
        refuses(run("stressreel", "score", clavi, "--predictions", predictions, *options), *named, code=2)
    with pytest.raises(UsageError, match="eval_results"):
        stressreel.score(clavi, predictions, split="test", eval_results="org/clavi")
