"""`simulate_quag`: what it returns is what the command prints, and writes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
import stressreel
from commands import refuses, run
from extras import needs

pytestmark = needs("torch")


@pytest.mark.full
def test_losses_are_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In small: two tokens of each modality, and one layer."""
    simulation = importlib.import_module("stressreel.evaluation.probes.simulation")
    monkeypatch.setattr(simulation, "TOKENS", 2)
    monkeypatch.setattr(simulation, "LAYERS", 1)
    out = tmp_path / "figures" / "s.png"
    found = stressreel.simulate_quag(out=out, alphas=[0.2], steps=1, workers=1, progress=False)
    done = run("stressreel", "simulate-quag", "--out", out, "--alphas", "0.2", "--steps", 1, "--no-progress")
    assert done.out == "\n".join([str(found), *found.written, ""])
    assert "not learnt" in done.out
    assert out.read_bytes().startswith(b"\x89PNG")
    assert found.as_json() == json.loads(out.with_suffix(".json").read_text())
    assert found.to_pandas()[["alpha", "seed", "learnt"]].to_numpy().tolist() == [[0.2, 0, False]]


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    for option, value in (("--alphas", "0.5"), ("--alphas", "a"), ("--out", "s.jpg")):
        refuses(run("stressreel", "simulate-quag", option, value, cwd=tmp_path), code=2)
