"""The simulation study: samples as §3 has them, and the trend of Figure 2."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from commands import run
from stressreel.core.seeds import rng_for

torch = pytest.importorskip("torch", reason="the simulation needs torch: pip install 'stressreel[probes]'")
simulation = importlib.import_module("stressreel.evaluation.probes.simulation")


def test_samples_can_be_unmixed() -> None:
    """m₁ = ((1 − α) t + α v) / (1 − 2α), and its weighted mean is what is to be told."""
    alpha = 0.3
    inputs, outputs = simulation.draw(rng_for(0, "test"), 5, alpha)
    assert inputs.shape == (5, 30, 100)
    assert outputs.shape == (5, 30)
    t, v = inputs[:, :15], inputs[:, 15:]
    first, second = (((1 - alpha) * a + alpha * b) / (1 - 2 * alpha) for a, b in ((t, v), (v, t)))
    weights = [10 * math.sin(j * math.pi / 202) / 100 for j in range(1, 101)]
    assert np.concatenate([first, second], axis=1) @ weights == pytest.approx(outputs, abs=1e-4)


def test_the_linear_loss_is_what_regression_leaves() -> None:
    alpha = 0.3
    inputs, outputs = simulation.draw(rng_for(1, "test"), 4000, alpha)
    numbers = inputs.astype(np.float64) @ simulation.WEIGHTS  # all else of a token is independent of what is told
    t, v = numbers[:, :15], numbers[:, 15:]
    seen = np.stack([t[:, 4], t.mean(axis=1), v.mean(axis=1)], axis=1)
    _, left, *_ = np.linalg.lstsq(seen, outputs[:, 4], rcond=None)
    assert left[0] / len(seen) == pytest.approx(simulation.linear_loss(alpha), rel=0.05)


def test_the_increase_grows_with_the_coupling(monkeypatch: pytest.MonkeyPatch) -> None:
    """In small: 5 tokens of each modality and 2 layers learn in 500 steps."""
    monkeypatch.setattr(simulation, "TOKENS", 5)
    monkeypatch.setattr(simulation, "LAYERS", 2)
    before = torch.random.get_rng_state()
    low, middle, high = (simulation.simulate(alpha, 0, steps=500, tested=128) for alpha in (0.05, 0.2, 0.4))
    assert -5 < low.increase < 50 < middle.increase < high.increase
    assert not low.learnt
    assert middle.learnt
    assert high.learnt
    assert torch.equal(before, torch.random.get_rng_state())


def test_workers_change_nothing() -> None:
    told = simulation.sweep([0.1, 0.2], [0], steps=2, workers=2)
    assert told == [simulation.simulate(alpha, 0, steps=2) for alpha in (0.1, 0.2)]


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "figures" / "s.png"
    done = run("stressreel", "simulate-quag", "--alphas", "0.2", "--steps", 2, "--out", out, "--no-progress")
    assert done.code == 0, done.err
    assert out.read_bytes().startswith(b"\x89PNG")
    found = json.loads(out.with_suffix(".json").read_text("utf-8"))
    assert [(row["alpha"], row["seed"], row["learnt"]) for row in found["outcomes"]] == [(0.2, 0, False)]
    assert "not learnt" in done.out
    for wrong in (["--alphas", "0.5"], ["--alphas", "a"], ["--out", tmp_path / "s.jpg"]):
        assert run("stressreel", "simulate-quag", *wrong).code == 2
