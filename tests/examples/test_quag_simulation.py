import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.core.seeds import rng_for

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


def outcomes(simulation: Any, alphas: tuple[float, ...], tokens: int, layers: int, steps: int) -> list[Any]:
    before = torch.random.get_rng_state()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "TOKENS", tokens)
        patch.setattr(simulation, "LAYERS", layers)
        found = [simulation.simulate(alpha, 0, steps=steps, tested=128) for alpha in alphas]
    assert torch.equal(before, torch.random.get_rng_state())
    return found


def test_a_model_that_has_learnt_nothing_says_so(simulation: Any) -> None:
    one, again = outcomes(simulation, (0.4, 0.4), 2, 1, 3)
    assert one == again
    assert one.loss != one.impaired
    assert not one.learnt
    assert simulation.Outcome(0.4, 0, 0.01, 0.03).increase == pytest.approx(200)
    assert simulation.Outcome(0.4, 0, simulation.linear_loss(0.4) / 3, 1).learnt


@pytest.mark.full
def test_the_increase_grows_with_the_coupling(simulation: Any) -> None:
    """In small: 5 tokens of each modality and 2 layers learn in 500 steps."""
    low, middle, high = outcomes(simulation, (0.05, 0.2, 0.4), 5, 2, 500)
    assert -5 < low.increase < 50 < middle.increase < high.increase
    assert [one.learnt for one in (low, middle, high)] == [False, True, True]


@pytest.mark.parametrize("alpha", ["0", "0.5", "a"])
def test_a_coupling_is_between_0_and_a_half(simulation: Any, alpha: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- argparse says what is wrong
        simulation.coupling(alpha)
