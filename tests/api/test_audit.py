"""`stressreel.audit`: its figures as tables and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError

pytest.importorskip("sklearn")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    rows = [
        {
            "id": n,
            "question": f"why {n}?",
            "options": ["no", f"it was chased by dog {n}", "a"],
            "answer": 1,
            "vid": n % 7,
        }
        for n in range(28)
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_an_audit_is_what_the_command_prints(items: Path, tmp_path: Path) -> None:
    found = stressreel.audit(items=items, columns={"source": "vid"}, sbert=False, resamples=100, to=tmp_path / "to")
    options = ("--items", items, "--columns", "source=vid", "--no-sbert", "--resamples", 100)
    assert run("stressreel", "audit", *options).out == f"{found}\n"
    assert found.as_json() == json.loads((tmp_path / "to/audit.json").read_text())
    assert (tmp_path / "to/audit.md").read_text() == found.as_markdown()
    assert found.written == (f"Wrote {tmp_path / 'to'}",)
    frame = found.to_pandas()
    assert frame["right"].max() == frame["right"][0] == found.audits[0].audit.best.share.value == 1.0
    assert "longest" in set(frame["guesser"])
    assert {"cue", "alone", "lost without"} <= {*found.to_pandas("worth")}


@pytest.mark.parametrize("wrong", [{"first_index": 2}, {"columns": "vid"}, {"to": __file__}, {"out": "out/clavi"}])
def test_a_wrong_value_is_refused(items: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        stressreel.audit(items=items, **wrong)
