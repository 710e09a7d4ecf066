"""`stressreel.simulate_quag`: its losses as a table and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError

pytest.importorskip("torch", reason="the simulation needs torch: pip install 'stressreel[probes]'")


def test_losses_are_what_the_command_prints(tmp_path: Path) -> None:
    out = tmp_path / "s.png"
    found = stressreel.simulate_quag(out=out, alphas=[0.2], steps=2, workers=1, progress=False)
    done = run("stressreel", "simulate-quag", "--out", out, "--alphas", "0.2", "--steps", 2, "--no-progress")
    assert done.out == "\n".join([str(found), *found.written, ""])
    assert found.as_json() == json.loads(out.with_suffix(".json").read_text())
    assert found.to_pandas()[["alpha", "seed", "learnt"]].to_numpy().tolist() == [[0.2, 0, False]]


@pytest.mark.parametrize("wrong", [{"alphas": 0.5}, {"alphas": ()}, {"steps": 0}, {"out": "s.jpg"}])
def test_a_wrong_value_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        stressreel.simulate_quag(**wrong)
