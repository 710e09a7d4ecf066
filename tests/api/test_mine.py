"""`stressreel.mine`: the questions that its command writes."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
import stressreel
from commands import run
from extras import needs
from stressreel.core.errors import UsageError
from stressreel.core.options import options_of
from stressreel.negatives.settings import MineSettings

pytestmark = needs("sentence_transformers")


def test_questions_are_those_that_the_command_writes(tmp_path: Path) -> None:
    out, review = tmp_path / "a.jsonl", tmp_path / "review.csv"
    found = stressreel.mine("sample", balance="none", progress=False, max_lend=0, ties="id")
    assert str(found).startswith("60 questions with 5 options")
    assert any("occurs least often" in note for note in found.notes)
    arguments = ("--questions", "sample", "--balance", "none", "--max-lend", 0, "--ties", "id", "--no-progress")
    done = run("stressreel", "mine", *arguments, "--out", out, "--review", review)
    assert done.out.startswith(f"wrote {out}: {found}\nwrote {review}: ")
    assert found.as_json() == [json.loads(line) for line in out.read_text().splitlines()]
    frame = found.to_pandas()
    assert [*frame] == ["id", "split", "kind", "question", "right", *(f"wrong_{n}" for n in range(1, 5))]
    assert frame["kind"].tolist() == ["answer", "explanation"] * 60


def test_its_keywords_are_the_options_of_the_command() -> None:
    parameters = inspect.signature(stressreel.mine).parameters
    assert {*parameters} == {each.keyword for each in options_of(MineSettings)}
    assert all(f"\n    {name}: " in str(stressreel.mine.__doc__) for name in parameters)


@pytest.mark.parametrize("wrong", [{"num_options": 1}, {"pool": "none"}, {"colour": 1}, {"out": "a.txt"}])
def test_a_wrong_value_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        stressreel.mine("sample", **wrong)
