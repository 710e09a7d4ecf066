import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.core.numerics import rng_for

torch = pytest.importorskip("torch", reason="the simulation needs torch: pip install 'stressreel[probes]'")


@pytest.fixture(scope="module")
def simulation() -> Iterator[Any]:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
        yield import_module("quag_simulation")


def test_samples_can_be_unmixed(simulation: Any) -> None:
    """m₁ = ((1 − α) t + α v) / (1 − 2α), and its weighted mean is what is to be told."""
    alpha = 0.3
    inputs, outputs = simulation.draw(rng_for(0, "test"), 5, alpha)
    assert (inputs.shape, outputs.shape) == ((5, 30, 100), (5, 30))
    t, v = inputs[:, :15], inputs[:, 15:]
    first, second = (((1 - alpha) * a + alpha * b) / (1 - 2 * alpha) for a, b in ((t, v), (v, t)))
    weights = [10 * math.sin(j * math.pi / 202) / 100 for j in range(1, 101)]
    assert np.concatenate([first, second], axis=1) @ weights == pytest.approx(outputs, abs=1e-4)


def test_the_linear_loss_is_what_regression_leaves(simulation: Any) -> None:
    inputs, outputs = simulation.draw(rng_for(1, "test"), 2000, 0.3)
    numbers = inputs.astype(np.float64) @ simulation.WEIGHTS  # all else of a token is independent of what is told
    t, v = numbers[:, :15], numbers[:, 15:]
    seen = np.stack([t[:, 4], t.mean(axis=1), v.mean(axis=1)], axis=1)
    _, left, *_ = np.linalg.lstsq(seen, outputs[:, 4], rcond=None)
    assert left[0] / len(seen) == pytest.approx(simulation.linear_loss(0.3), rel=0.08)


@pytest.mark.full
def test_the_increase_grows_with_the_coupling(simulation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In small: 5 tokens of each modality and 2 layers learn in 500 steps."""
    monkeypatch.setattr(simulation, "TOKENS", 5)
    monkeypatch.setattr(simulation, "LAYERS", 2)
    before = torch.random.get_rng_state()
    low, middle, high = (simulation.simulate(alpha, 0, steps=500, tested=128) for alpha in (0.05, 0.2, 0.4))
    assert torch.equal(before, torch.random.get_rng_state())
    assert -5 < low.increase < 50 < middle.increase < high.increase
    assert [one.learnt for one in (low, middle, high)] == [False, True, True]


def test_outcomes_say_what_was_learnt(simulation: Any) -> None:
    assert simulation.Outcome(0.4, 0, 0.01, 0.03).increase == pytest.approx(200)
    for share, learnt in ((1 / 3, True), (1, False)):
        assert simulation.Outcome(0.4, 0, simulation.linear_loss(0.4) * share, 1).learnt is learnt
