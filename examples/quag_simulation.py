"""Simulate how the cost of crossmodal short-circuiting increases with the coupling of two modalities.

    python examples/quag_simulation.py
    python examples/quag_simulation.py --alphas 0.3 0.4 --seeds 1 2

Rawal et al. 2024, §3, §A.5, Figure 2. Two modalities of 15 tokens with 100 numbers each are mixed by a coupling α. A
small transformer predicts one number for each unmixed token, which requires the token at the same position in the other
modality.

Differences from the paper: every step samples new data (the paper has 24,000 samples and 2,000 epochs), so there is no
overfitting and no dropout, whose rate the paper does not report; batches of 8 instead of 1,024; Adam's learning rate
rises to .003 and decays to 0 along a cosine; pre-norm instead of post-norm layers; positions restart in each modality.
The paper does not report the number of heads; this study uses 1, which learns fastest. Needs `pip install
'stressreel[probes]'`.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from frames import run
from numpy.typing import NDArray
from stressreel.core.numerics import rng_for
from stressreel.core.workers import worker_pool
from stressreel.evaluation.probes import TEXT, VIDEO, quag

Singles = NDArray[np.float32]
TOKENS, WIDTH, LAYERS, HIDDEN, HEADS = 15, 100, 4, 400, 1
STEPS, BATCH, RATE = 4000, 8, 0.003
ALPHAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
RISING = 40  # the learning rate rises during this fraction of the steps
WEIGHTS = (10 * np.sin(np.arange(1, WIDTH + 1) * math.pi / 202) / WIDTH).astype(np.float32)
"""Weights with which the numbers of a token are summed to its target."""


class Samples(NamedTuple):
    """Inputs t and v, concatenated to shape (samples, 30, 100), and outputs of shape (samples, 30)."""

    inputs: Singles
    outputs: Singles


@dataclass(frozen=True)
class Outcome:
    """The losses of one trained model.

    Attributes:
        loss: Mean squared error on new samples.
        impaired: Mean squared error under crossmodal short-circuiting.
    """

    alpha: float
    seed: int
    loss: float
    impaired: float

    @property
    def increase(self) -> float:
        """Increase of the loss under short-circuiting, in percent."""
        return 100 * (self.impaired / self.loss - 1)

    @property
    def learnt(self) -> bool:
        """Whether the loss is below half of `linear_loss`, which requires single tokens of the other modality."""
        return self.loss < linear_loss(self.alpha) / 2


def linear_loss(alpha: float) -> float:
    """Return the mean squared error of the best linear predictor of m₁ᵢ's number from tᵢ and the means of t and v.

    These are the inputs that remain under crossmodal short-circuiting. All variables are jointly Gaussian: the means
    determine the mean of m₁, and only tᵢ is informative about the deviation from it. With σ² the variance of the number
    and n tokens, the error is σ² (n − 1) / n · α² / ((1 − α)² + α²). It is a reference rather than a bound, since a
    network may transmit single tokens through means of features that depend on position.
    """
    variance = float((WEIGHTS.astype(np.float64) ** 2).sum())
    return variance * (TOKENS - 1) / TOKENS * alpha**2 / ((1 - alpha) ** 2 + alpha**2)


def draw(rng: np.random.Generator, count: int, alpha: float) -> Samples:
    """Generate random samples (§3, steps 1 to 3).

    m₁ and m₂ are standard normal, (15, 100) each. The target of each of their 30 tokens is the weighted mean of its
    numbers, with weights 10 sin(jπ / 202), j = 1 … 100. The inputs are t = (1 − α) m₁ − α m₂ and v = (1 − α) m₂ − α m₁.
    """
    unmixed = rng.standard_normal((count, 2, TOKENS, WIDTH), dtype=np.float32)
    mixed = (1 - alpha) * unmixed - alpha * unmixed[:, ::-1]
    outputs = unmixed.reshape(count, 2 * TOKENS, WIDTH) @ WEIGHTS
    return Samples(mixed.reshape(count, 2 * TOKENS, WIDTH).astype(np.float32), outputs)


class SimulationAttention(torch.nn.Module):
    """Self-attention over the tokens of both modalities."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Apply attention to tokens of shape (samples, tokens, 100)."""
        parts = self.inner(tokens).unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
        mixed: torch.Tensor = self.outer(
            torch.nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2]).transpose(1, 2).flatten(2)
        )
        return mixed


class Block(torch.nn.Module):
    """Transformer block with pre-norm attention, a feed-forward layer and residual connections."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = SimulationAttention()
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.inner, self.outer = torch.nn.Linear(WIDTH, HIDDEN), torch.nn.Linear(HIDDEN, WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Apply the block to tokens of shape (samples, tokens, 100)."""
        tokens = tokens + self.attention(self.before(tokens))
        changed: torch.Tensor = tokens + self.outer(torch.relu(self.inner(self.between(tokens))))
        return changed


class Model(torch.nn.Module):
    """The transformer that learns the task of the simulation."""

    positions: torch.Tensor

    def __init__(self, rng: np.random.Generator):
        """Initialize weights uniformly in ±√(1 / inputs), and biases to 0."""
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the layers draw random weights too
            self.embedding = torch.nn.Linear(WIDTH, WIDTH)
            self.modality = torch.nn.Embedding(2, WIDTH)
            self.blocks = torch.nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.last = torch.nn.LayerNorm(WIDTH)
            self.head = torch.nn.Linear(WIDTH, 1)
        angles = np.arange(TOKENS)[:, None] / 10_000 ** (np.arange(0, WIDTH, 2) / WIDTH)
        positions = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(TOKENS, WIDTH)
        self.register_buffer("positions", torch.from_numpy(np.tile(positions, (2, 1)).astype(np.float32)))
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
                elif parameter.ndim > 1:
                    bound = math.sqrt(1 / parameter.shape[-1])
                    drawn = rng.uniform(-bound, bound, tuple(parameter.shape)).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Predict a number for each token, shape (samples, 30)."""
        kinds = torch.arange(2, device=inputs.device).repeat_interleave(TOKENS)
        tokens = self.embedding(inputs) + self.positions + self.modality(kinds)
        predicted: torch.Tensor = self.head(self.last(self.blocks(tokens))).squeeze(-1)
        return predicted


def simulate(alpha: float, seed: int, *, steps: int = STEPS, tested: int = 1024) -> Outcome:
    """Train a model at one coupling (0 to .5), and measure its loss without and with crossmodal short-circuiting.

    Training uses one thread, so that results do not depend on the number of threads. Each step of Adam uses 8 new
    samples.
    """
    with _one_thread():
        model = Model(rng_for(seed, "quag simulation", "weights"))
        rng = rng_for(seed, "quag simulation", "train")
        optimiser = torch.optim.Adam(model.parameters())
        for step in range(steps):
            rising = min(1, RISING * (step + 1) / steps)
            optimiser.param_groups[0]["lr"] = RATE * rising * (1 + math.cos(math.pi * step / steps)) / 2
            inputs, outputs = map(torch.from_numpy, draw(rng, BATCH, alpha))
            loss = torch.nn.functional.mse_loss(model(inputs), outputs)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        model.eval()
        test = draw(rng_for(seed, "quag simulation", "test"), tested, alpha)
        plain = _loss(model, test)
        labels = [TEXT] * TOKENS + [VIDEO] * TOKENS
        with quag(model, "crossmodal", modality=labels, measure=False):
            impaired = _loss(model, test)
    return Outcome(alpha, seed, plain, impaired)


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _loss(model: Model, samples: Samples) -> float:
    total = 0.0
    with torch.no_grad():
        for begin in range(0, len(samples.inputs), 256):
            inputs, outputs = (torch.from_numpy(part[begin : begin + 256]) for part in samples)
            total += float(((model(inputs) - outputs) ** 2).sum())
    return total / samples.outputs.size


def coupling(text: str) -> float:
    """Parse a coupling, or raise ValueError."""
    if not 0 < float(text) < 0.5:
        raise ValueError
    return float(text)


def main() -> None:
    """Train a model for each coupling and seed, in parallel, and print their losses as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alphas", type=coupling, nargs="+", default=ALPHAS, help="couplings between 0 and 0.5")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="seeds of the models of each coupling")
    parser.add_argument("--steps", type=int, default=STEPS, help="training steps, each of 8 samples")
    given = parser.parse_args()
    models = [*zip(*product(given.alphas, given.seeds), strict=True)]
    print("alpha  seed  test loss  crossmodal    increase  linear loss")
    with worker_pool(min(os.cpu_count() or 1, len(models[0]))) as pool:
        for one in pool.map(partial(simulate, steps=given.steps), *models):
            remark = "" if one.learnt else "  not learnt: increase --steps"
            print(
                f"{one.alpha:5g}  {one.seed:4}  {one.loss:9.6f}  {one.impaired:10.5f}  {one.increase:+9,.0f}%  "
                f"{linear_loss(one.alpha):11.5f}{remark}",
                flush=True,
            )


if __name__ == "__main__":
    run(main)
