"""`table`: models by name, or folders alone; what it returns is what the command prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


def test_models_by_name_and_folders_alone(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2, "--version", "1.2.0")
    for name, answer in (("a", "yes"), ("b", "no")):
        rows = stressreel.read(out).rows("questions")
        lines = [json.dumps({"id": row["question_id"], "answer": answer}) for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        assert run("stressreel", "score", out, "--predictions", tmp_path / f"{name}.jsonl").code == 0
    one, other = tmp_path / "a.scores", tmp_path / "b.scores"
    found = stressreel.table({"A": [one, other], "b": other}, only="accuracy")
    words = (f"A={one}", f"A={other}", other, "--only", "accuracy")
    assert f"{found}\n" == run("stressreel", "table", *words).out
    assert found.as_json() == json.loads(run("stressreel", "table", *words, "--json").out)
    assert found.to_pandas().columns.tolist() == ["score", "A", "A std", "b", "b std"]
    alone = stressreel.table([one, other], transpose=True, figure=tmp_path / "x.png")
    assert (alone.models, alone.as_tables()[0].headings[0]) == (("a", "b"), "model")
    assert alone.written == (f"Wrote {tmp_path / 'x.png'}",)
    for given, more, says in (
        ({"A": [one, one]}, {}, "given twice as a run of A"),
        ([one], {"against": "accuracy"}, "needs a figure"),
        ([one], {"of": 3}, "must be a string"),
    ):
        with pytest.raises(UsageError, match=says):
            stressreel.table(given, **more)  # type: ignore[arg-type]
