"""Arguments of functions are checked as the options of their commands are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stressreel
from commands import refuses, run
from stressreel.core.errors import UsageError


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("verify", (5,), {}),
        ("verify", (b"x",), {}),
        ("verify", ("x",), {"decode": "yes"}),
        ("verify", ("x",), {"workers": 0}),
        ("permute", ("x",), {"sets": 5.0}),
        ("permute", ("x",), {"seed": False}),
        ("score", (None, "x"), {}),
        ("score", ("x", "y"), {"first_index": 2}),
        ("explain", ("x", None), {"question": "q"}),
        ("gallery", ("x",), {"to": "y", "embed": "nothing"}),
        ("export_files", ("x",), {"to": 7}),
        ("score_modalities", ("x", ["video=v"]), {}),
        ("table", ([],), {}),
        ("mine", ("sample",), {"out": 3}),
    ],
)
def test_what_is_not_allowed_is_said(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        getattr(stressreel, name)(*arguments, **options)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(
        "".join(json.dumps({"id": n, "video_id": f"v{n}", "source_id": n, "question": "q"}) + "\n" for n in range(2))
    )
    found = stressreel.permute(tmp_path / "q.jsonl", to=tmp_path / "p.csv", sets=np.int64(1))
    assert len(found.to_pandas()) == 4


def test_explaining_takes_no_options_of_scores_and_replaces_nothing(built: Path, tmp_path: Path) -> None:
    refuses(run("stressreel", "score", "explain", built, "--question", "x"), "Missing option '--predictions'", code=2)
    given = ("--predictions", tmp_path / "p.jsonl", "--question", "x")
    refuses(run("stressreel", "score", "explain", built, *given, "--partial"), "--partial", code=2)
    for name in ("p.jsonl", "p.png"):
        (tmp_path / name).write_text("{}")
        given = ("--predictions", tmp_path / name, "--question", "x", "--picture", tmp_path / name)
        assert run("stressreel", "score", "explain", built, *given).code == 2
        assert (tmp_path / name).read_text() == "{}"
