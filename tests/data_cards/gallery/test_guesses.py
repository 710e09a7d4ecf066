"""What an audit says that models choose which see no video."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.data_cards.gallery.guesses import read_guesses
from stressreel.errors import InputError, UsageError


def write(folder: Path, content: Any) -> Path:
    (folder / "audit.json").write_text(json.dumps(content), encoding="utf-8")
    return folder / "audit.json"


def test_choices_are_read_by_table_and_id(tmp_path: Path) -> None:
    choices = [
        {"config": "ud", "id": "1", "choices": [{"guesser": "longest", "choice": 2}]},
        {"config": "ud", "id": "1", "asked": "explanation", "choices": [{"guesser": "longest", "choice": 0}]},
        {"id": 2, "choices": []},
    ]
    file = write(tmp_path, {"fingerprint": "abc", "choices": choices, "figures": []})
    found = read_guesses(tmp_path, fingerprint="abc")
    assert found == read_guesses(file)
    assert [(each["asked"], each["choice"]) for each in found["ud/1"]] == [("answer", 2), ("explanation", 0)]
    assert found["2"] == []


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"choices": 3},
        {"choices": [{"id": "1"}]},
        {"choices": [{"id": "1", "choices": [{"guesser": "a", "choice": -1}]}]},
        {"choices": [{"id": "1", "choices": [{"guesser": "a", "choice": True}]}]},
    ],
)
def test_what_is_no_list_of_choices_is_refused(content: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no list of choices"):
        read_guesses(write(tmp_path, content))


def test_an_audit_of_another_output_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of another output"):
        read_guesses(write(tmp_path, {"output": {"fingerprint": "abc"}, "choices": []}), fingerprint="def")
    with pytest.raises(UsageError, match="there is no audit"):
        read_guesses(tmp_path / "not" / "there")
