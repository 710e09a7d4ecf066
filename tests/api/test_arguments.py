"""Arguments of functions are checked as the options of their commands are, and outputs before they are used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import stressreel
from commands import refuses, run
from stressreel.api.ask import find_clips, read_questions
from stressreel.core.errors import InputError, UsageError


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("verify", (b"x",), {}),
        ("verify", ("x",), {"decode": "yes"}),
        ("verify", ("x",), {"workers": 0}),
        ("permute", ("x",), {"sets": 5.0}),
        ("score", (None, "x"), {}),
        ("score", ("x", "y"), {"first_index": 2}),
        ("gallery", ("x",), {"to": "y", "embed": "nothing"}),
        ("gallery", ("x",), {"to": "y", "limit": 0}),
        ("export_files", ("x",), {"to": "y", "force": "yes"}),
        ("list_", ("sound",), {}),
        ("list_", ("left-out",), {}),
        ("list_", ("visual", "x"), {}),
        ("decompose", ("x",), {"question": 3}),
        ("audit", (), {"items": "x", "columns": "vid"}),
        ("score_modalities", ("x", ["video=v"]), {}),
        ("compare", (), {}),
        ("mine", ("sample",), {"out": "a.txt"}),
        ("mine", ("sample",), {"colour": 1}),
        ("ask", ("x",), {"dry_run": True, "prices": 1}),
        ("ask", ("x",), {"dry_run": True, "send": "sound"}),
    ],
)
def test_what_is_not_allowed_is_said(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^(?!.*does not exist)"):
        getattr(stressreel, name)(*arguments, **options)


def test_explaining_takes_no_options_of_scores(built: Path, tmp_path: Path) -> None:
    refuses(run("stressreel", "score", "explain", built, "--question", "x"), "PREDICTIONS is missing", code=2)
    given = ("--predictions", tmp_path / "p.jsonl", "--question", "x")
    refuses(run("stressreel", "score", "explain", built, *given, "--partial"), "--partial", code=2)


def test_an_output_that_changed_after_its_questions_were_read(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    asked = read_questions(out, (), None, (), 1)
    info = json.loads((out / "build.json").read_text())
    (out / "build.json").write_text(json.dumps({**info, "settings": True}))
    with pytest.raises(InputError, match="is inconsistent"):
        find_clips(asked, None)


def test_an_output_without_its_fingerprint(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    info = json.loads((out / "build.json").read_text())
    del info["fingerprint"]
    (out / "build.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match="is damaged"):
        stressreel.read(out).items()


@pytest.mark.parametrize(("arguments", "options"), [(("sample", "mined.jsonl"), {}), (("sample",), {"questions": "x"})])
def test_only_the_questions_of_mine_are_positional(arguments: tuple[str, ...], options: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="questions"):
        stressreel.mine(*arguments, **options)


@pytest.mark.parametrize("options", [{"charades": ""}, {"out": ""}, {"rules": None}, {"ray_address": ""}])
def test_empty_values_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"not allowed\. Leave it out"):
        stressreel.build_clavi(**{"charades": "sample", "dry_run": True} | options)
